# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The finalizer is kept as the Go operator keeps it, and only this cluster's claims go with the cluster."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.finalizer import (
    claims,
    deletes_claims,
    is_orphaned,
    is_set,
    keep_finalizer,
    let_go,
    workloads,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

Manifest = dict[str, Any]

FINALIZER = "deletepvc.finalizers.druid.apache.org"
FOREIGN = "example.com/keep"


def resource(finalizers: list[str] | None, **spec: Any) -> Manifest:
    made = druid.resource(**spec)
    made["metadata"] |= {"finalizers": finalizers, "resourceVersion": "7"}
    return made


# (disablePVCDeletionFinalizer, finalizers, what becomes of them; None: they stay as they are)
KEPT: list[tuple[bool | None, list[str] | None, list[str] | None]] = [
    (None, None, [FINALIZER]),
    (None, [], [FINALIZER]),
    (None, [FOREIGN], [FOREIGN, FINALIZER]),
    (None, [FINALIZER], None),
    (None, [FOREIGN, FINALIZER], None),
    (False, [], [FINALIZER]),
    (False, [FINALIZER], None),
    (True, None, None),
    (True, [FOREIGN], None),
    (True, [FINALIZER], []),
    (True, [FINALIZER, FOREIGN], [FOREIGN]),
]


@pytest.mark.parametrize(("disabled", "finalizers", "after"), KEPT)
def test_keeps_the_finalizer(disabled: bool | None, finalizers: list[str] | None, after: list[str] | None) -> None:
    spec = {} if disabled is None else {"disablePVCDeletionFinalizer": disabled}
    steps = keep_finalizer(resource(finalizers, **spec))
    assert [step.patch for step in steps] == ([] if after is None else [patch(after)])
    assert [(step.operation, step.group) for step in steps] == [("patch", None)] * len(steps)


def patch(finalizers: list[str]) -> list[Manifest]:
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
    ]


def test_lets_go() -> None:
    assert let_go(resource([FOREIGN, FINALIZER])).patch == patch([FOREIGN])


@pytest.mark.parametrize(
    ("finalizers", "expected"), [(None, False), ([], False), ([FOREIGN], False), ([FOREIGN, FINALIZER], True)]
)
def test_knows_whether_it_is_set(finalizers: list[str] | None, expected: bool) -> None:
    assert is_set(resource(finalizers)) is expected


SPECS: list[tuple[Any, bool]] = [
    ({}, True),
    ({"disablePVCDeletionFinalizer": False}, True),
    ({"disablePVCDeletionFinalizer": None}, True),
    ({"disablePVCDeletionFinalizer": True}, False),
    (None, True),
    ("nonsense", True),
]


@pytest.mark.parametrize(("spec", "expected"), SPECS)
def test_claims_go_unless_told_otherwise(spec: Any, expected: bool) -> None:
    assert deletes_claims(spec) is expected


def observed() -> Observed:
    return converged(render(druid.cluster()))


def without_owner(live: Manifest) -> Manifest:
    return {**live, "metadata": {key: live["metadata"][key] for key in live["metadata"] if key != "ownerReferences"}}


def test_data_stay_when_the_resource_is_orphaned() -> None:
    cluster = druid.cluster()
    assert not is_orphaned(resource([FINALIZER]), cluster, observed())
    assert not is_orphaned(resource([FINALIZER]), cluster, Observed())
    assert is_orphaned(resource([FINALIZER, "orphan"]), cluster, observed())
    orphaned = Observed().with_objects([without_owner(live) for live in observed().of_kind("StatefulSet")])
    assert is_orphaned(resource([FINALIZER]), cluster, orphaned)


def test_the_workloads_of_the_cluster_go() -> None:
    going = workloads(druid.cluster(), observed())
    assert [(step.operation, str(step.key)) for step in going] == [("delete", "StatefulSet druid-c-brokers")]
    [live] = observed().of_kind("StatefulSet")
    live["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert workloads(druid.cluster(), Observed().with_objects([live])) == ()
    foreign = {**live, "metadata": {"name": "druid-c-brokers", "labels": live["metadata"]["labels"]}}
    foreign["metadata"]["managedFields"] = [{"manager": "x", "operation": "Update", "fieldsV1": {"f:a": {}}}]
    assert workloads(druid.cluster(), Observed().with_objects([foreign])) == ()


def claim(name: str, cr: str, group: str, **metadata: Any) -> Manifest:
    labels = {"app": "druid", "druid_cr": cr, "nodeSpecUniqueStr": group}
    entries = [{"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": {"f:spec": {}}}]
    shared = {"name": name, "namespace": "ns", "labels": labels, "managedFields": entries, **metadata}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": shared}


def test_only_claims_of_this_cluster_go() -> None:
    found = Observed().with_objects(
        [
            claim("data-druid-a-b-c-0", "a", "druid-a-b-c"),
            claim("more-druid-a-b-c-0", "a-b", "druid-a-b-c"),
            claim("data-druid-a-x-0", "a", "druid-a-x", deletionTimestamp="2026-01-01T00:00:00Z"),
            claim("data-druid-a-gone-3", "a", "druid-a-gone"),
            claim("mine", "a", "druid-a-x"),
        ]
    )
    went = {
        name: [step.key.name for step in claims(Cluster.from_resource(named(name)), found)]
        for name in ("a", "a-b", "b")
    }
    assert went == {"a": ["data-druid-a-b-c-0", "data-druid-a-gone-3"], "a-b": ["more-druid-a-b-c-0"], "b": []}


def named(name: str) -> Manifest:
    made = druid.resource()
    made["metadata"]["name"] = name
    return made
