# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The deletion of a cluster: its workloads, their orphans and its PVCs, and no objects of other owners."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.retain import disown
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.targets import (
    claims,
    kept_claims,
    orphans,
    remaining_claims,
    running_pods,
    runs_without_deployment,
    unadopted_orphans,
    workloads,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, entry

Manifest = dict[str, Any]

TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
THEIRS = [entry("kubectl", {"f:spec": {}}, "Update")]
OURS = [entry("druidops", {"f:spec": {}})]


def cluster(name: str = "a", uid: str | None = "u-1") -> Cluster:
    manifest = druid.resource()
    manifest["metadata"] = {"name": name, "namespace": "ns", **({"uid": uid} if uid else {})}
    return Cluster.from_resource(manifest)


def live(kind: str, name: str, group: str, cr: str = "a", **metadata: Any) -> Manifest:
    """Return an object with the labels of a group that another manager has written."""
    labels = {"app": "druid", "druid_cr": cr, "nodeSpecUniqueStr": group, "component": "broker"}
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": "ns", "labels": labels, "managedFields": THEIRS, **metadata},
        "spec": {},
    }


def controlled(kind: str, name: str, uid: str = "u") -> Manifest:
    return {
        "ownerReferences": [
            {"apiVersion": "druid.apache.org/v1alpha1", "kind": kind, "name": name, "uid": uid, "controller": True}
        ]
    }


def names(steps: tuple[Step, ...]) -> list[str]:
    assert {step.operation.verb for step in steps} <= {"delete"}
    return [step.key.name for step in steps]


def observed_state(*found: Manifest) -> Observed:
    return Observed().with_objects(found)


def test_workloads_of_the_cluster_are_deleted() -> None:
    observed = converged(render(druid.cluster()))
    steps = workloads(druid.cluster(), observed)
    assert [(step.operation.verb, str(step.key)) for step in steps] == [("delete", "StatefulSet druid-c-brokers")]
    [found] = observed.of_kind("StatefulSet")
    found["metadata"] |= TERMINATING
    assert workloads(druid.cluster(), observed_state(found)) == ()
    assert workloads(cluster(), observed_state(live("StatefulSet", "druid-a-x", "druid-a-x"))) == ()


def test_only_pvcs_of_the_cluster_are_deleted() -> None:
    found = observed_state(
        live("PersistentVolumeClaim", "data-druid-a-b-c-0", "druid-a-b-c"),
        live("PersistentVolumeClaim", "more-druid-a-b-c-0", "druid-a-b-c", "a-b"),
        live("PersistentVolumeClaim", "data-druid-a-x-0", "druid-a-x", **TERMINATING),
        live("PersistentVolumeClaim", "data-druid-a-removed-3", "druid-a-removed"),
        live("PersistentVolumeClaim", "mine", "druid-a-x"),
    )
    deleted = {name: names(claims(cluster(name), found)[0]) for name in ("a", "a-b", "b")}
    assert deleted == {"a": ["data-druid-a-b-c-0", "data-druid-a-removed-3"], "a-b": ["more-druid-a-b-c-0"], "b": []}
    assert [each["metadata"]["name"] for each in remaining_claims(cluster(), found)] == [
        "data-druid-a-b-c-0",
        "data-druid-a-x-0",
        "data-druid-a-removed-3",
    ]


CLAIM = "data-druid-a-x-0"
GROUP = "druid-a-x"
SET_OF_RESOURCE = live("StatefulSet", GROUP, GROUP, **controlled("Druid", "a", "u-1"))
# (id, other objects, whether the PVC of a resource's cluster is deleted, and that of a cluster without resource)
WITH: list[tuple[str, list[Manifest], bool, bool]] = [
    ("nothing", [], True, True),
    ("a StatefulSet without an owner", [live("StatefulSet", GROUP, GROUP)], False, False),
    ("a StatefulSet without labels", [live("StatefulSet", GROUP, "", labels={})], False, False),
    ("the StatefulSet of a resource", [SET_OF_RESOURCE], True, False),
    ("a StatefulSet that we created", [live("StatefulSet", GROUP, GROUP, managedFields=OURS)], True, True),
    ("a StatefulSet of another group", [live("StatefulSet", "druid-a-y", "druid-a-y")], True, True),
]


@pytest.mark.parametrize(
    ("more", "by_resource", "without_resource"), [row[1:] for row in WITH], ids=[row[0] for row in WITH]
)
def test_pvc_of_a_foreign_workload_is_retained(more: list[Manifest], by_resource: bool, without_resource: bool) -> None:
    found = observed_state(live("PersistentVolumeClaim", CLAIM, GROUP), *more)
    for owner, expected in ((cluster(), by_resource), (cluster(uid=None), without_resource)):
        steps, warnings = claims(owner, found)
        assert (names(steps) == [CLAIM], len(warnings)) == (expected, int(not expected))
        assert all(text.startswith(f"PVC {CLAIM} is retained: StatefulSet {GROUP} does not ") for text in warnings)
        assert bool(remaining_claims(owner, found)) is expected


def pod(name: str = f"{GROUP}-0", group: str = GROUP, **metadata: Any) -> Manifest:
    volumes = [{"name": "logs"}, {"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}}]
    return {**live("Pod", name, group, **metadata), "spec": {"volumes": volumes}}


# (id, pod, whether the mounted PVC is deleted)
MOUNTING: list[tuple[str, Manifest, bool]] = [
    ("of the group", pod(**controlled("StatefulSet", GROUP)), True),
    ("of the group, orphaned", pod(), True),
    ("of a Job with our labels", pod(**controlled("Job", "backup")), False),
    ("a foreign pod with our labels", pod("debug"), False),
    ("without labels", pod(labels={}), False),
]


@pytest.mark.parametrize(("user", "expected"), [row[1:] for row in MOUNTING], ids=[row[0] for row in MOUNTING])
def test_pvc_of_a_foreign_pod_is_retained(user: Manifest, expected: bool) -> None:
    steps, warnings = claims(cluster(), observed_state(live("PersistentVolumeClaim", CLAIM, GROUP), user))
    assert names(steps) == [CLAIM] * expected
    name = user["metadata"]["name"]
    warning = f"PVC {CLAIM} is retained: pod {name} mounts it and does not belong to this cluster."
    assert warnings == (() if expected else (warning,))


HASHED = {"labels": {**pod()["metadata"]["labels"], "pod-template-hash": "5d9f"}}
REPLICA_SET = live("ReplicaSet", f"{GROUP}-5d9f", GROUP, **HASHED)


def test_orphans_are_deleted() -> None:
    found = observed_state(
        pod(),
        pod(f"{GROUP}-1", **controlled("StatefulSet", GROUP)),
        pod(f"{GROUP}-2", **TERMINATING),
        pod("debug"),
        REPLICA_SET,
        live("ReplicaSet", "druid-a-y-5d9f", "druid-a-y", **controlled("Deployment", "druid-a-y")),
    )
    assert names(orphans(cluster(), found)) == [f"{GROUP}-0", f"{GROUP}-5d9f"]
    assert orphans(cluster("b"), found) == ()
    # a foreign workload may adopt them
    assert orphans(cluster(), found.with_objects([live("StatefulSet", GROUP, GROUP)])) == ()


def group_x(kind: str | None) -> Cluster:
    """Return the cluster with a group x of that kind, or without it (None)."""
    manifest = druid.resource({"kind": kind} if kind else {})
    manifest["metadata"]["name"] = "a"
    manifest["spec"]["nodes"] = {"x" if kind else "y": manifest["spec"]["nodes"]["brokers"]}
    return Cluster.from_resource(manifest)


# (kind of the group x, or None if it was removed; objects that are kept for it)
GROUPS: list[tuple[str | None, list[str]]] = [
    ("StatefulSet", [f"{GROUP}-0"]),
    ("Deployment", [f"{GROUP}-5d9f"]),
    (None, []),
]


@pytest.mark.parametrize(("kind", "kept"), GROUPS)
def test_orphans_that_a_workload_will_adopt_are_kept(kind: str | None, kept: list[str]) -> None:
    unadopted = unadopted_orphans(group_x(kind), observed_state(pod(), REPLICA_SET))
    assert [each["metadata"]["name"] for each in unadopted] == [
        name for name in (f"{GROUP}-0", f"{GROUP}-5d9f") if name not in kept
    ]


# (kind of the group x, or None if it was removed; existing Deployments; whether pods run without one)
WITHOUT: list[tuple[str | None, list[str], bool]] = [
    ("Deployment", [GROUP], False),
    ("Deployment", [], False),
    ("StatefulSet", [], True),
    ("StatefulSet", [GROUP], False),
    (None, [], True),
    (None, [GROUP], False),
]


@pytest.mark.parametrize(("kind", "deployments", "expected"), WITHOUT)
def test_runs_without_deployment(kind: str | None, deployments: list[str], expected: bool) -> None:
    target = group_x(kind)
    found = observed_state(pod(**HASHED), *(live("Deployment", name, name) for name in deployments))
    assert runs_without_deployment(target, found) is expected
    assert not runs_without_deployment(target, observed_state(pod(**HASHED, **TERMINATING), pod()))


def test_running_pods() -> None:
    assert running_pods(cluster(), observed_state(pod())) == [pod()["metadata"]["name"]]
    others = [pod(**TERMINATING), pod("debug"), pod("druid-b-x-0", "druid-b-x"), pod(**HASHED)]
    for other in others:
        assert running_pods(cluster(), observed_state(other)) == []
    assert running_pods(cluster(), observed_state(pod(), live("StatefulSet", GROUP, GROUP))) == []


@pytest.mark.parametrize("retain_all", [True, False])
def test_retained_pvcs_are_released(retain_all: bool) -> None:
    """Only PVCs that the resource owns are released, and only from the resource."""
    druid_a = {"kind": "Druid", "metadata": {"name": "a", "namespace": "ns", "uid": "u-1"}}
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u-9"}
    owned = controlled("Druid", "a", "u-1")
    found = [
        live("PersistentVolumeClaim", "mine", "druid-a-b", resourceVersion="1", **owned),
        live(
            "PersistentVolumeClaim", "shared", "druid-a-b", resourceVersion="2",
            ownerReferences=[*owned["ownerReferences"], other],
        ),
        live("PersistentVolumeClaim", "former", "druid-a-b", resourceVersion="3", **controlled("Druid", "a", "u-0")),
        live("PersistentVolumeClaim", "terminating", "druid-a-b", resourceVersion="4", **owned, **TERMINATING),
        live("PersistentVolumeClaim", "data-druid-a-b-0", "druid-a-b", resourceVersion="5"),
        live("PersistentVolumeClaim", "theirs", "druid-c-b", "c", resourceVersion="6", **controlled("Druid", "c")),
    ]  # fmt: skip
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "mine"}}
    reader = {"kind": "Pod", "metadata": {"name": "reader", "namespace": "ns"}, "spec": {"volumes": [volume]}}
    kept = kept_claims(cluster(), Observed().with_objects([*found, reader]), retain_all)
    steps = disown(kept, [druid_a])
    assert [step.key.name for step in steps] == (["mine", "shared"] if retain_all else ["mine"])
    assert [step.patch and step.patch[1]["value"] for step in steps] == ([[], [other]] if retain_all else [[]])
    assert [step.patch and step.patch[0]["value"] for step in steps] == (["1", "2"] if retain_all else ["1"])
