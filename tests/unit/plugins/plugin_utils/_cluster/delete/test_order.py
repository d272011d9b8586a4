# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of deletions, reads and waits, without an API."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.order import (
    QUIET_ATTEMPTS,
    Deletion,
    Steps,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.delete.test_retain import (
    DELETE,
    claim,
    stateful_set,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, stored

Manifest = dict[str, Any]

FINALIZER = "deletepvc.finalizers.druid.apache.org"
READ, PODS, USERS, PAUSE, RECORD = "ReadClaims", "ReadPods", "ReadUsers", "Pause", "update Druid"
RUNNING = druid.cluster()
NAMED = Cluster.from_resource({**druid.resource(), "spec": {}})


def terminating(*finalizers: str, **spec: Any) -> Manifest:
    resource = druid.resource(**spec)
    resource["metadata"] |= {
        "finalizers": list(finalizers),
        "resourceVersion": "7",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
    }
    return resource


def pod() -> Manifest:
    """Return a pod of the group of brokers that is not terminating."""
    [workload] = converged(render(RUNNING)).of_kind("StatefulSet")
    template, owner = workload["spec"]["template"], {"kind": "StatefulSet", "name": "druid-c-brokers", "uid": "u"}
    metadata = {**template["metadata"], "name": "druid-c-brokers-0", "ownerReferences": [{**owner, "controller": True}]}
    return {"kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def run_through(deletion: Steps, found: Observed) -> list[str]:
    """Return the steps and needs in order; each need returns the same objects."""
    events: list[str] = []
    result: Any = None
    while True:
        try:
            item = deletion.send(result)
        except StopIteration:
            return events
        result = None if isinstance(item, Step) else found
        events.append(f"{item.verb} {item.key.kind}" if isinstance(item, Step) else type(item).__name__)


def pvc(*owners: str) -> Manifest:
    return stored({"apiVersion": "v1", **claim("data-druid-c-brokers-0", *owners)})


CLAIMS = Observed().with_objects([pvc()])
DELETED = ["delete PersistentVolumeClaim"]
# What remains when the workloads are deleted.
LAST = [READ, *DELETED, PODS, READ, *DELETED, READ, "update Druid"]
# (finalizers, spec, order for a settled cluster)
ORDERS: list[tuple[tuple[str, ...], dict[str, Any], list[str]]] = [
    ((FINALIZER,), {}, [RECORD, "delete StatefulSet", *LAST]),
    ((FINALIZER,), {"disablePVCDeletionFinalizer": True}, [READ, "update Druid"]),
    ((), {}, []),
    ((), {"disablePVCDeletionFinalizer": True}, [READ]),
    ((FINALIZER, "orphan"), {}, [READ, "update Druid"]),
]


@pytest.mark.parametrize(("finalizers", "spec", "expected"), ORDERS)
def test_terminating_resource(finalizers: tuple[str, ...], spec: dict[str, Any], expected: list[str]) -> None:
    deletion = Deletion(NAMED, waits=True).of_resource(terminating(*finalizers, **spec), converged(render(RUNNING)))
    assert run_through(deletion, CLAIMS) == expected


def test_plan_does_not_wait() -> None:
    deletion = Deletion(NAMED, is_plan=True).of_resource(terminating(FINALIZER), converged(render(RUNNING)))
    assert run_through(deletion, CLAIMS) == [RECORD, "delete StatefulSet", READ, *DELETED, READ, "update Druid"]


def test_wait_for_remaining_pods_is_limited() -> None:
    """Then the resource stays: a controller may still create a PVC, which the deletion would leave behind."""
    deletion = Deletion(NAMED, waits=True)
    events = run_through(
        deletion.of_resource(terminating(FINALIZER), converged(render(RUNNING))), Observed().with_objects([pod()])
    )
    assert events == [RECORD, "delete StatefulSet", READ, *[PODS, USERS, PAUSE] * QUIET_ATTEMPTS]
    assert deletion.running == ["druid-c-brokers-0"]


def test_the_operator_does_not_wait() -> None:
    """The reconcile ends after the deletion of the workloads, and the next one continues when the pods terminate."""
    resource = terminating(FINALIZER)
    deletion = Deletion(NAMED).of_resource(resource, converged(render(RUNNING)))
    assert run_through(deletion, CLAIMS) == [RECORD, "delete StatefulSet", READ, *DELETED]
    resource["metadata"]["annotations"] = {"druid.apache.org/deletes-pvcs": resource["metadata"]["uid"]}
    running = CLAIMS.with_objects([pod()])
    assert run_through(Deletion(NAMED).of_resource(resource, Observed()), running) == [READ, *DELETED, PODS, USERS]
    assert run_through(Deletion(NAMED).of_resource(resource, Observed()), CLAIMS) == LAST


def test_pvcs_that_would_be_deleted_with_their_stateful_set_are_retained_first() -> None:
    owned = pvc("uid-of-druid-c-brokers")
    observed = converged(render(RUNNING)).with_objects([stateful_set(DELETE), owned])
    deletion = Deletion(NAMED).of_variables(observed, delete_claims=False)
    assert run_through(deletion, Observed().with_objects([owned])) == [
        READ,
        "update StatefulSet",
        READ,
        "update PersistentVolumeClaim",
        "delete StatefulSet",
        READ,
        *["delete ConfigMap"] * 2,
    ]


# (finalizers, specification, what happens when no object is left, are the PVCs named)
LOST: list[tuple[tuple[str, ...], dict[str, Any], list[str], bool]] = [
    ((FINALIZER,), {}, [READ, READ, "update Druid"], True),
    ((FINALIZER,), {"disablePVCDeletionFinalizer": True}, [READ, "update Druid"], False),
    ((), {}, [], False),
    (
        (FINALIZER, "foregroundDeletion"),
        {},
        [RECORD, *LAST],
        False,
    ),
]


@pytest.mark.parametrize(("finalizers", "spec", "expected", "warns"), LOST)
def test_pvcs_stay_when_all_objects_are_deleted(
    finalizers: tuple[str, ...], spec: dict[str, Any], expected: list[str], warns: bool
) -> None:
    deletion = Deletion(NAMED)
    assert run_through(deletion.of_resource(terminating(*finalizers, **spec), Observed()), CLAIMS) == expected
    text = (
        "These PVCs are retained, since the resource owns no object any more, as when they are deleted after a "
        "deletion with --cascade=orphan: data-druid-c-brokers-0. To delete their data, delete them manually."
    )
    assert deletion.warnings == ([text] if warns else [])


def test_a_recorded_deletion_continues_without_objects() -> None:
    resource = terminating(FINALIZER)
    resource["metadata"]["annotations"] = {"druid.apache.org/deletes-pvcs": resource["metadata"]["uid"]}
    assert run_through(Deletion(NAMED).of_resource(resource, Observed()), CLAIMS) == LAST


def test_objects_of_an_earlier_resource_of_the_name_are_not_its_own() -> None:
    earlier = converged(render(Cluster.from_resource(_with_uid("u-0"))))
    deletion = Deletion(NAMED)
    assert run_through(deletion.of_resource(terminating(FINALIZER), earlier), CLAIMS) == [READ, READ, "update Druid"]
    assert "data-druid-c-brokers-0" in deletion.warnings[0]


def _with_uid(uid: str) -> Manifest:
    resource = druid.resource()
    resource["metadata"]["uid"] = uid
    return resource


def test_objects_without_an_owner_and_their_pvcs_are_retained() -> None:
    observed = converged(render(RUNNING))
    [live] = (deepcopy(each) for each in observed.of_kind("StatefulSet"))
    del live["metadata"]["ownerReferences"]
    deletion = Deletion(NAMED)
    steps = deletion.of_resource(terminating(FINALIZER), observed.with_objects([live]))
    assert run_through(steps, CLAIMS) == [READ, READ, "update Druid"]
    [warning] = deletion.warnings
    assert warning.startswith("These PVCs are retained, since StatefulSet druid-c-brokers has no owner")
    assert "data-druid-c-brokers-0" in warning
