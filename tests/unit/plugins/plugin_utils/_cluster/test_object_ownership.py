# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cluster to which an object belongs."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    controller,
    describe_owner,
    foreign_workloads,
    is_claim_of,
    is_ours,
    is_pod_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import entry

Manifest = dict[str, Any]

API = "druid.apache.org/v1alpha1"


def cluster(name: str = "c", uid: str | None = "u-1") -> Cluster:
    metadata = {"name": name, "namespace": "ns", **({"uid": uid} if uid else {})}
    return Cluster.from_resource({"metadata": metadata, "spec": {}})


def owner(name: str = "c", uid: str = "u-1", kind: str = "Druid", version: str = API, **more: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True, **more}


OURS = [entry("druidops", {"f:data": {"f:a": {}}})]
THEIRS = [entry("kubectl", {"f:data": {"f:a": {}}}, "Update")]
LABEL = {"druid_cr": "c"}
HASH = {"druidOpResourceHash": "x"}


def live(kind: str = "ConfigMap", name: str = "n", **metadata: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "managedFields": THEIRS, **metadata}}


# (id, object, belongs to a resource, belongs to a cluster without resource)
TABLE: list[tuple[str, Manifest, bool, bool]] = [
    ("owned", live(ownerReferences=[owner()]), True, False),
    ("owned by an earlier one", live(ownerReferences=[owner(uid="u-0")]), True, False),
    ("owned in another version", live(ownerReferences=[owner(version="druid.apache.org/v1")]), True, False),
    ("owned by another", live(labels=LABEL, managedFields=OURS, ownerReferences=[owner("other")]), False, False),
    ("owned by another kind", live(labels=LABEL, ownerReferences=[owner(kind="DruidIngestion")]), False, False),
    ("owned by another group", live(labels=LABEL, ownerReferences=[owner(version="example.com/v1")]), False, False),
    (
        "owned by a group with a similar name",
        live(labels=LABEL, ownerReferences=[owner(version="druid.apache.organic/v1")]),
        False,
        False,
    ),
    ("created by us, without owner", live(labels=LABEL, managedFields=OURS), True, True),
    ("created by the Go operator, without owner", live(labels=LABEL, annotations=HASH), True, True),
    ("only labelled", live(labels=LABEL), False, False),
    ("labelled for another", live(labels={"druid_cr": "d"}, managedFields=OURS), False, False),
    ("created by us, without label", live(managedFields=OURS), False, False),
    (
        "owner that is not the controller",
        live(ownerReferences=[owner(controller=False)]),
        False,
        False,
    ),
    ("no metadata", live(), False, False),
    ("null metadata", live(labels=None, annotations=None, ownerReferences=None), False, False),
    (
        "only our other manager",
        live(labels=LABEL, managedFields=[entry("druidops-replicas", {"f:spec": {"f:replicas": {}}})]),
        False,
        False,
    ),
    (
        "only its status is ours",
        live(labels=LABEL, managedFields=[entry("druidops", {"f:status": {}}, "Update", "status")]),
        False,
        False,
    ),
]


@pytest.mark.parametrize(
    ("found", "by_resource", "without_resource"), [r[1:] for r in TABLE], ids=[r[0] for r in TABLE]
)
def test_is_ours(found: Manifest, by_resource: bool, without_resource: bool) -> None:
    assert is_ours(found, cluster()) is by_resource
    assert is_ours(found, cluster(uid=None)) is without_resource


def test_controller() -> None:
    first, second = owner("a", controller=False), owner("b")
    assert controller(live(ownerReferences=[first, second])) == second
    assert controller(live(ownerReferences=[first])) is None


OWNERS = [
    (live(ownerReferences=[owner("other", kind="Deployment")]), "it belongs to Deployment other"),
    (live(labels={"druid_cr": "d"}, managedFields=OURS), "it has the label druid_cr=d"),
    (live(labels=LABEL), "it has no owner and was not created by us, although it has the label druid_cr=c"),
    (live(managedFields=OURS), "it has no owner and no label of a cluster"),
    (live(), "it has no owner and was not created by us"),
]


@pytest.mark.parametrize(("found", "message"), OWNERS)
def test_description_of_the_owner(found: Manifest, message: str) -> None:
    assert describe_owner(found) == message


def claim(cr: str, group: str, name: str | None = None, app: str = "druid", **metadata: Any) -> Manifest:
    labels = {"app": app, "druid_cr": cr, "nodeSpecUniqueStr": group}
    return live("PersistentVolumeClaim", name or f"data-{group}-0", labels=labels, **metadata)


# Names of two clusters can be ambiguous: the group c of a-b, and the group b-c of a.
AMBIGUOUS = "druid-a-b-c"
# (id, PVC, clusters that it belongs to)
CLAIMS: list[tuple[str, Manifest, list[str]]] = [
    ("of one cluster", claim("c", "druid-c-brokers"), ["c"]),
    ("of the longer name", claim("a-b", AMBIGUOUS), ["a-b"]),
    ("of the shorter name", claim("a", AMBIGUOUS), ["a"]),
    ("of a removed group", claim("c", "druid-c-removed", "data-druid-c-removed-17"), ["c"]),
    ("of another app", claim("c", "druid-c-brokers", app="mine"), []),
    ("of no group", claim("c", ""), []),
    ("of a group of another cluster", claim("c", "druid-d-brokers"), []),
    ("without an ordinal", claim("c", "druid-c-brokers", "data-druid-c-brokers"), []),
    ("with another suffix", claim("c", "druid-c-brokers", "data-druid-c-brokers-0-backup"), []),
    ("without the name of a template", claim("c", "druid-c-brokers", "druid-c-brokers-0"), []),
    ("with a dot as a wildcard", claim("c", "druid-c-b.x", "data-druid-c-bax-0"), []),
    ("not labelled", live("PersistentVolumeClaim", "data-druid-c-brokers-0"), []),
    ("of the resource", claim("c", "druid-c-brokers", "mine", ownerReferences=[owner()]), ["c"]),
    ("of another resource", claim("c", "druid-c-brokers", ownerReferences=[owner("d")]), ["d"]),
    (
        "of the group's StatefulSet",
        claim(
            "c", "druid-c-brokers", ownerReferences=[owner("druid-c-brokers", kind="StatefulSet", version="apps/v1")]
        ),
        ["c"],
    ),
    (
        "of another StatefulSet",
        claim("c", "druid-c-brokers", ownerReferences=[owner("mine", kind="StatefulSet", version="apps/v1")]),
        [],
    ),
]


@pytest.mark.parametrize(("found", "clusters"), [row[1:] for row in CLAIMS], ids=[row[0] for row in CLAIMS])
def test_cluster_of_a_pvc(found: Manifest, clusters: list[str]) -> None:
    assert [name for name in ("a", "a-b", "b", "c", "d") if is_claim_of(found, cluster(name))] == clusters


FOUR: Manifest = {**LABEL, "app": "druid", "nodeSpecUniqueStr": "druid-c-x", "component": "broker"}
SET = owner("druid-c-x", kind="StatefulSet", version="apps/v1")
REPLICA_SET = owner("druid-c-x-5d9f", kind="ReplicaSet", version="apps/v1")


def without(label: str) -> Manifest:
    return {name: text for name, text in FOUR.items() if name != label}


# (id, pod, whether it belongs to the cluster c)
PODS: list[tuple[str, Manifest, bool]] = [
    ("without an owner", live("Pod", "druid-c-x-0", labels=FOUR), True),
    ("of its StatefulSet", live("Pod", "druid-c-x-0", labels=FOUR, ownerReferences=[SET]), True),
    ("of its ReplicaSet", live("Pod", "druid-c-x-5d9f-abc", labels=FOUR, ownerReferences=[REPLICA_SET]), True),
    ("with more labels", live("Pod", "druid-c-x-0", labels={**FOUR, "team": "a"}), True),
    ("of another StatefulSet", live("Pod", "druid-c-x-0", labels=FOUR, ownerReferences=[owner("y")]), False),
    ("of a Job", live("Pod", "druid-c-x-0", labels=FOUR, ownerReferences=[owner("druid-c-x", kind="Job")]), False),
    ("with another name", live("Pod", "debug", labels=FOUR), False),
    *((f"without {label}", live("Pod", "druid-c-x-0", labels=without(label)), False) for label in FOUR),
    ("of another cluster", live("Pod", "druid-d-x-0", labels={**FOUR, "druid_cr": "d"}), False),
    (
        "of a group of another cluster",
        live("Pod", "druid-d-x-0", labels={**FOUR, "nodeSpecUniqueStr": "druid-d-x"}),
        False,
    ),
    ("without labels", live("Pod", "druid-c-x-0", labels=None), False),
]


@pytest.mark.parametrize(("found", "expected"), [row[1:] for row in PODS], ids=[row[0] for row in PODS])
def test_cluster_of_a_pod(found: Manifest, expected: bool) -> None:
    assert is_pod_of(found, cluster()) is expected


def test_foreign_workloads() -> None:
    ours = live("StatefulSet", "ours", ownerReferences=[owner()])
    theirs = live("StatefulSet", "theirs", labels=LABEL)
    assert foreign_workloads(cluster(), [ours, theirs]) == {"theirs": theirs}
    # objects of a resource do not belong to a cluster without resource
    assert set(foreign_workloads(cluster(uid=None), [ours, theirs])) == {"ours", "theirs"}
