# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of deletions, reads and waits, without an API."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.deletion import DeletionReads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.order import (
    QUIET_ATTEMPTS,
    Deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.delete.test_retain import (
    DELETE,
    claim,
    stateful_set,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, stored

Manifest = dict[str, Any]

FINALIZER = "deletepvc.finalizers.druid.apache.org"
READ, PODS, USERS, PAUSE, RECORD = "claims", "pods", "users", "pause", "update Druid"
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


def pvc(*owners: str) -> Manifest:
    return stored({"apiVersion": "v1", **claim("data-druid-c-brokers-0", *owners)})


CLAIMS = Observed().with_objects([pvc()])


class Table(DeletionReads):
    """Each read of the namespace returns the same objects; `events` has the reads, and the steps in between."""

    def __init__(self, found: Observed = CLAIMS, live: Observed | None = None) -> None:
        self.found, self.live = found, live or Observed()
        self.events: list[str] = []

    def labelled(self) -> Observed:
        return self.live

    def with_all_claims(self, observed: Observed) -> Observed:
        return observed

    def claims(self, _owned: Collection[str]) -> Observed:
        return self._read(READ)

    def pods(self) -> Observed:
        return self._read(PODS)

    def users(self) -> Observed:
        return self._read(USERS)

    def forget(self) -> None:
        pass

    def pause(self, _seconds: float) -> None:
        self._read(PAUSE)

    def _read(self, name: str) -> Observed:
        self.events.append(name)
        return self.found


def run_through(deletion: Deletion, steps: Iterable[Step]) -> list[str]:
    """Return the steps and reads in order."""
    assert isinstance(deletion.reads, Table)
    for step in steps:
        deletion.reads.events.append(f"{step.operation.verb} {step.key.kind}")
    return deletion.reads.events


DELETED = ["delete PersistentVolumeClaim"]
# What remains when the workloads are deleted.
LAST = [READ, *DELETED, PODS, READ, *DELETED, READ, "update Druid"]
# (finalizers, spec, order for a settled cluster)
ORDERS: list[tuple[tuple[str, ...], dict[str, Any], list[str]]] = [
    ((FINALIZER,), {}, [RECORD, "delete StatefulSet", *LAST]),
    ((FINALIZER,), {"disablePVCDeletionFinalizer": True}, [READ, "update Druid"]),
    ((), {}, []),
    ((), {"disablePVCDeletionFinalizer": True}, []),
    ((FINALIZER, "orphan"), {}, [READ, "update Druid"]),
]


@pytest.mark.parametrize(("finalizers", "spec", "expected"), ORDERS)
def test_terminating_resource(finalizers: tuple[str, ...], spec: dict[str, Any], expected: list[str]) -> None:
    deletion = Deletion(NAMED, Table(), waits=True)
    steps = deletion.of_resource(terminating(*finalizers, **spec), converged(render(RUNNING)))
    assert run_through(deletion, steps) == expected


def test_plan_does_not_wait() -> None:
    deletion = Deletion(NAMED, Table(), is_plan=True)
    steps = deletion.of_resource(terminating(FINALIZER), converged(render(RUNNING)))
    assert run_through(deletion, steps) == [RECORD, "delete StatefulSet", READ, *DELETED, READ, "update Druid"]


def test_wait_for_remaining_pods_is_limited() -> None:
    """Then the resource stays: a controller may still create a PVC, which the deletion would leave behind."""
    deletion = Deletion(NAMED, Table(Observed().with_objects([pod()])), waits=True)
    events = run_through(deletion, deletion.of_resource(terminating(FINALIZER), converged(render(RUNNING))))
    assert events == [RECORD, "delete StatefulSet", READ, *[PODS, USERS, PAUSE] * QUIET_ATTEMPTS]
    assert deletion.running == ["druid-c-brokers-0"]


def test_the_operator_does_not_wait() -> None:
    """The reconcile ends after the deletion of the workloads, and the next one continues when the pods terminate."""
    resource = terminating(FINALIZER)
    assert continued(resource, converged(render(RUNNING))) == [RECORD, "delete StatefulSet", READ, *DELETED]
    resource["metadata"]["annotations"] = {"druid.apache.org/deletes-pvcs": resource["metadata"]["uid"]}
    running = CLAIMS.with_objects([pod()])
    assert continued(resource, Observed(), running) == [READ, *DELETED, PODS, USERS]
    assert continued(resource, Observed()) == LAST


class Unreadable(Table):
    """PVCs cannot be listed."""

    def claims(self, _owned: Collection[str]) -> Observed:
        raise ApiError("list", "persistentvolumeclaims", "PersistentVolumeClaim", "ns", None, FORBIDDEN, {})


def test_a_pvc_that_the_resource_has_owned_only_for_a_moment_is_retained() -> None:
    resource = terminating(FINALIZER, disablePVCDeletionFinalizer=True)
    owned = Observed().with_objects([pvc(resource["metadata"]["uid"])])
    deletion = Deletion(NAMED, Table(owned))
    events = run_through(deletion, deletion.of_resource(resource, converged(render(RUNNING))))
    assert events == [READ, "update PersistentVolumeClaim", "update Druid"]


def test_a_read_that_fails_keeps_the_results_of_the_steps_before() -> None:
    deletion = Deletion(NAMED, Unreadable())
    events = run_through(deletion, deletion.of_resource(terminating(FINALIZER), converged(render(RUNNING))))
    assert events == [RECORD, "delete StatefulSet"]
    assert [each.message.partition(":")[0] for each in deletion.problems] == [
        "Cannot list PersistentVolumeClaim in namespace ns"
    ]


def test_a_read_that_fails_keeps_the_resource() -> None:
    """Its PVCs may have to be retained, and Kubernetes deletes them with it."""
    observed = converged(render(RUNNING)).with_objects([stateful_set(DELETE)])
    deletion = Deletion(NAMED, Unreadable())
    steps = deletion.with_resource(terminating(disablePVCDeletionFinalizer=True), observed)
    assert run_through(deletion, steps) == []
    assert len(deletion.problems) == 1


def continued(resource: Manifest, observed: Observed, found: Observed = CLAIMS) -> list[str]:
    deletion = Deletion(NAMED, Table(found))
    return run_through(deletion, deletion.of_resource(resource, observed))


def test_pvcs_that_would_be_deleted_with_their_stateful_set_are_retained_first() -> None:
    owned = pvc("uid-of-druid-c-brokers")
    observed = converged(render(RUNNING)).with_objects([stateful_set(DELETE), owned])
    deletion = Deletion(NAMED, Table(Observed().with_objects([owned]), observed))
    assert run_through(deletion, deletion.of_variables(delete_claims=False)) == [
        READ,
        "update StatefulSet",
        READ,
        "update PersistentVolumeClaim",
        "delete StatefulSet",
        READ,
        *["delete ConfigMap"] * 2,
    ]


@pytest.mark.parametrize("finalizers", [(), (FINALIZER,)])
def test_pvcs_that_the_resource_owns_are_retained_first(finalizers: tuple[str, ...]) -> None:
    """The Go operator has created them: Kubernetes would delete them with the resource."""
    resource = terminating(*finalizers, disablePVCDeletionFinalizer=True)
    owned = pvc(resource["metadata"]["uid"])
    deletion = Deletion(NAMED, Table(Observed().with_objects([owned])))
    events = run_through(deletion, deletion.of_resource(resource, converged(render(RUNNING)).with_objects([owned])))
    # the table has the same answer after the write
    last = [READ, "update PersistentVolumeClaim", "update Druid"] if finalizers else []
    assert events == [READ, READ, "update PersistentVolumeClaim", *last]


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
    deletion = Deletion(NAMED, Table())
    assert run_through(deletion, deletion.of_resource(terminating(*finalizers, **spec), Observed())) == expected
    text = (
        "These PVCs are retained, since the resource owns no object any more, as when they are deleted after a "
        "deletion with --cascade=orphan: data-druid-c-brokers-0. To delete their data, delete them manually."
    )
    assert deletion.warnings == ([text] if warns else [])


def test_a_recorded_deletion_continues_without_objects() -> None:
    resource = terminating(FINALIZER)
    resource["metadata"]["annotations"] = {"druid.apache.org/deletes-pvcs": resource["metadata"]["uid"]}
    assert continued(resource, Observed()) == LAST


def test_objects_of_an_earlier_resource_of_the_name_are_not_its_own() -> None:
    earlier = converged(render(Cluster.from_resource(_with_uid("u-0"))))
    deletion = Deletion(NAMED, Table())
    steps = deletion.of_resource(terminating(FINALIZER), earlier)
    assert run_through(deletion, steps) == [READ, READ, "update Druid"]
    assert "data-druid-c-brokers-0" in deletion.warnings[0]


def _with_uid(uid: str) -> Manifest:
    resource = druid.resource()
    resource["metadata"]["uid"] = uid
    return resource


def test_objects_without_an_owner_and_their_pvcs_are_retained() -> None:
    observed = converged(render(RUNNING))
    [live] = (deepcopy(each) for each in observed.of_kind("StatefulSet"))
    del live["metadata"]["ownerReferences"]
    deletion = Deletion(NAMED, Table())
    steps = deletion.of_resource(terminating(FINALIZER), observed.with_objects([live]))
    assert run_through(deletion, steps) == [READ, READ, "update Druid"]
    [warning] = deletion.warnings
    assert warning.startswith("These PVCs are retained, since StatefulSet druid-c-brokers has no owner")
    assert "data-druid-c-brokers-0" in warning
