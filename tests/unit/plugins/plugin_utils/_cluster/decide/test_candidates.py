# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is missing or differs is written, what is wanted no longer goes, and nothing of others is touched."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.belonging import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.candidates import (
    PRUNED_KINDS,
    candidates,
    collisions,
    prune,
    unseen,
    wanted,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    FEATURES,
    Case,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import (
    converged,
    entry,
    stored,
)
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]

TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "druid-c-brokers"}
AUTOSCALED = {"hpAutoscaler": {"maxReplicas": 4, "minReplicas": 2, "scaleTargetRef": TARGET}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
EVERYTHING: dict[str, Any] = {
    **AUTOSCALED,
    "services": [{}],
    "ingress": {"defaultBackend": {"service": {"name": "s", "port": {"number": 1}}}},
    "podDisruptionBudgetSpec": {"minAvailable": 1},
    "persistentVolumeClaim": [{"spec": CLAIM}],
}


def desire(node: dict[str, Any] | None = None, **spec: Any) -> tuple[Cluster, Desired]:
    cluster = druid.cluster(node, **spec)
    return cluster, render(cluster)


def workload(observed: Observed) -> Manifest:
    return observed.objects[ObjectKey("StatefulSet", "druid-c-brokers")]


def without(observed: Observed, *kinds: str) -> Observed:
    return observed.without(key for key in observed.objects if key.kind in kinds)


@pytest.mark.parametrize("case", FEATURES, ids=[case.name for case in FEATURES])
def test_a_settled_cluster_gives_nothing_to_do(case: Case) -> None:
    cluster = Cluster.from_resource(resource(case))
    first = render(cluster)
    observed = converged(first)
    desired = render(cluster, observed.inherited(cluster))
    assert desired.objects == first.objects
    assert candidates(cluster, desired, observed) == ()
    assert prune(cluster, desired, observed) == ()
    assert collisions(cluster, desired, observed) == ()
    assert unseen(desired, observed) == []


def test_makes_everything_in_the_order_of_the_rollout() -> None:
    nodes = {
        "routers": {**druid.NODE, "nodeType": "router"},
        "historicals": {**druid.NODE, "nodeType": "historical"},
    }
    cluster, desired = desire(EVERYTHING, nodes=nodes)
    steps = candidates(cluster, desired, Observed())
    assert {step.operation for step in steps} == {"create"}
    assert [step.group for step in steps] == [None, *["historicals"] * 2, *["routers"] * 2]
    assert [step.key for step in steps] == [key_of(manifest) for manifest in desired.objects]


def test_within_a_group_what_is_needed_comes_first() -> None:
    cluster, desired = desire(EVERYTHING)
    assert [step.key.kind for step in candidates(cluster, desired, Observed())] == [
        "ConfigMap",
        "ConfigMap",
        "Service",
        "PersistentVolumeClaim",
        "StatefulSet",
        "Ingress",
        "PodDisruptionBudget",
        "HorizontalPodAutoscaler",
    ]


def test_makes_again_what_is_missing_alone() -> None:
    cluster, desired = desire(EVERYTHING)
    steps = candidates(cluster, desired, without(converged(desired), "Service"))
    assert [(step.operation, step.key.kind, step.group) for step in steps] == [("create", "Service", "brokers")]


def test_changes_what_differs_alone() -> None:
    _cluster, before = desire(EVERYTHING)
    cluster, after = desire({**EVERYTHING, "image": "new"})
    [step] = candidates(cluster, after, converged(before))
    assert (step.operation, step.key.kind, step.group) == ("update", "StatefulSet", "brokers")
    assert step.restarts
    assert step.live == workload(converged(before))
    assert step.after is not None
    assert step.after["spec"]["template"] == step.manifest["spec"]["template"]


def test_a_workload_of_an_autoscaler_begins_with_its_least() -> None:
    cluster, desired = desire(EVERYTHING)
    [step] = [step for step in candidates(cluster, desired, Observed()) if step.key.kind == "StatefulSet"]
    assert "replicas" not in step.manifest["spec"]
    assert step.initial is not None
    assert step.initial["spec"] == {**step.manifest["spec"], "replicas": 2}
    assert all(step.initial is None for step in candidates(*desire(), Observed()))


def test_replicas_of_an_autoscaler_are_left_alone() -> None:
    cluster, desired = desire(EVERYTHING)
    assert candidates(cluster, desired, scaled(converged(desired), 4)) == ()


def test_replicas_are_handed_over_and_not_written() -> None:
    _cluster, before = desire({"replicas": 3})
    cluster, after = desire({"replicas": 3, **AUTOSCALED})
    steps = candidates(cluster, after, converged(before))
    assert [(step.operation, step.key.kind) for step in steps] == [
        ("update", "StatefulSet"),
        ("create", "HorizontalPodAutoscaler"),
    ]
    assert steps[0].after is not None
    assert steps[0].after["spec"]["replicas"] == 3
    assert steps[0].managed_fields is not None


def scaled(observed: Observed, replicas: int) -> Observed:
    """Return the same after the autoscaler has had its say."""
    live = deepcopy(workload(observed))
    live["spec"]["replicas"] = replicas
    live["metadata"]["managedFields"].append(entry("hpa", {"f:spec": {"f:replicas": {}}}, "Update", "scale"))
    return observed.with_objects([live])


def test_a_stopped_workload_of_an_autoscaler_comes_back() -> None:
    _cluster, stopped = desire({**AUTOSCALED, "stopped": True})
    cluster, desired = desire(AUTOSCALED)
    [step] = candidates(cluster, desired, converged(stopped))
    assert step.after is not None
    assert step.after["spec"]["replicas"] == 2


def test_a_workload_that_another_has_stopped_stays_so() -> None:
    cluster, desired = desire(AUTOSCALED)
    assert candidates(cluster, desired, scaled(converged(desired), 0)) == ()


def test_a_group_that_is_stopped_has_no_pods() -> None:
    _cluster, before = desire(AUTOSCALED)
    cluster, desired = desire({**AUTOSCALED, "stopped": True})
    observed = scaled(converged(before), 3)
    [step] = candidates(cluster, desired, observed)
    assert step.after is not None
    assert step.after["spec"]["replicas"] == 0
    assert not step.restarts
    assert prune(cluster, desired, observed) == ()


def test_data_of_a_claim_are_left_alone() -> None:
    _cluster, before = desire(EVERYTHING)
    grown = {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}}
    cluster, desired = desire({**EVERYTHING, "persistentVolumeClaim": [{"spec": grown}]})
    assert candidates(cluster, desired, converged(before)) == ()


REMADE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("pod management", {}, {"podManagementPolicy": "OrderedReady"}),
    ("claim templates", {}, {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM}]}),
]


@pytest.mark.parametrize(("before", "after"), [row[1:] for row in REMADE], ids=[row[0] for row in REMADE])
def test_makes_again_what_cannot_be_changed(before: dict[str, Any], after: dict[str, Any]) -> None:
    cluster, desired = desire(after)
    [step] = candidates(cluster, desired, converged(desire(before)[1]))
    assert (step.operation, step.key.kind) == ("recreate", "StatefulSet")


def test_finishes_a_recreation_that_was_cut_short() -> None:
    cluster, desired = desire()
    observed = converged(desired)
    going = deepcopy(workload(observed))
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    [step] = candidates(cluster, desired, observed.with_objects([going]))
    assert step.operation == "recreate"


def foreign(live: Manifest) -> Manifest:
    """Return an object of that name that somebody else has made."""
    head = {name: live[name] for name in ("apiVersion", "kind", "spec", "data") if name in live}
    metadata = {"name": live["metadata"]["name"], "namespace": "ns", "uid": "theirs", "managedFields": []}
    return {**head, "metadata": {**metadata, "creationTimestamp": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize("kind", ["StatefulSet", "Service", "Ingress", "HorizontalPodAutoscaler"])
def test_a_name_that_is_taken_is_named_and_holds_the_group(kind: str) -> None:
    cluster, desired = desire(EVERYTHING)
    taken = next(live for live in converged(desired).of_kind(kind))
    [finding] = collisions(cluster, desired, Observed().with_objects([foreign(taken)]))
    assert (finding.reason, finding.group, finding.is_problem) == (reasons.NAME_COLLISION, "brokers", True)
    assert finding.message.startswith(f"{kind} {taken['metadata']['name']} exists and is not this cluster's")


def test_the_name_of_a_cluster_that_a_resource_has_is_one_finding_for_all() -> None:
    _cluster, desired = desire(EVERYTHING)
    resource = druid.resource(EVERYTHING)
    del resource["metadata"]["uid"]
    observed = converged(desired)
    [finding] = collisions(Cluster.from_resource(resource), desired, observed)
    assert (finding.reason, finding.group, finding.is_problem) == (reasons.NAME_COLLISION, None, True)
    assert finding.message == (
        "The objects of that name belong to Druid c in namespace ns: that cluster was not made of variables, and "
        "nothing of it is changed. To reconcile it by its resource, leave out spec and by_variable; for another "
        "cluster, choose another name; if the resource was deleted, wait until they are gone."
    )


def test_the_shared_configuration_that_is_taken_holds_everything() -> None:
    cluster, desired = desire()
    taken = foreign(stored(desired.common[0]))
    [finding] = collisions(cluster, desired, Observed().with_objects([taken]))
    assert finding.group is None


def test_looks_up_what_no_list_shows() -> None:
    _cluster, desired = desire()
    assert unseen(desired, Observed()) == [key_of(manifest) for _group, manifest in wanted(desired)]
    assert unseen(desired, without(converged(desired), "StatefulSet")) == [ObjectKey("StatefulSet", "druid-c-brokers")]


def test_prunes_a_group_that_is_gone_and_keeps_its_claims() -> None:
    _cluster, before = desire(EVERYTHING)
    cluster, desired = desire(nodes={"others": druid.NODE})
    steps = prune(cluster, desired, converged(before))
    kinds = [step.key.kind for step in steps]
    assert kinds == [
        "StatefulSet",
        "HorizontalPodAutoscaler",
        "Ingress",
        "PodDisruptionBudget",
        "Service",
        "ConfigMap",
    ]
    assert {(step.operation, step.group) for step in steps} == {("delete", None)}


def test_prunes_an_optional_object_of_a_group_that_stays() -> None:
    _cluster, before = desire(EVERYTHING)
    cluster, desired = desire({**EVERYTHING, "ingress": None})
    [step] = prune(cluster, desired, converged(before))
    assert (step.key.kind, step.group, step.live) == ("Ingress", "brokers", step.manifest)


def test_leaves_what_is_going_already() -> None:
    _cluster, before = desire(EVERYTHING)
    cluster, desired = desire({**EVERYTHING, "ingress": None})
    observed = converged(before)
    going = deepcopy(next(observed.of_kind("Ingress")))
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert prune(cluster, desired, observed.with_objects([going])) == ()


LABELS = st.fixed_dictionaries(
    {},
    optional={
        "app": st.sampled_from(["druid", "other"]),
        "druid_cr": st.sampled_from(["c", "d"]),
        "nodeSpecUniqueStr": st.sampled_from(["druid-c-brokers", "druid-c-gone", "druid-d-brokers"]),
    },
)
OWNER = st.builds(
    lambda kind, name, uid, is_controller: {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": is_controller,
    },
    st.sampled_from(["Druid", "Deployment"]),
    st.sampled_from(["c", "d"]),
    st.sampled_from(["u-1", "u-2"]),
    st.booleans(),
)
ENTRY = st.sampled_from(["druidops", "kubectl"]).map(lambda manager: entry(manager, {"f:metadata": {"f:labels": {}}}))
OBJECTS = st.lists(
    st.builds(
        lambda kind, name, labels, owners, entries: {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {
                "name": name,
                "namespace": "ns",
                "labels": labels,
                "ownerReferences": owners,
                "managedFields": entries,
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
        },
        st.sampled_from([*PRUNED_KINDS, "PersistentVolumeClaim", "Pod", "Secret"]),
        st.sampled_from(["druid-c-brokers", "druid-c-gone", "c-druid-common-config", "mine"]),
        LABELS,
        st.lists(OWNER, max_size=2),
        st.lists(ENTRY, min_size=1, max_size=1),
    ),
    max_size=6,
)


@given(OBJECTS, st.booleans())
def test_never_prunes_what_is_not_ours(objects: list[Manifest], by_variable: bool) -> None:
    source = druid.resource()
    if by_variable:
        del source["metadata"]["uid"]
    cluster = Cluster.from_resource(source)
    desired = render(cluster)
    names = {key_of(manifest) for manifest in desired.objects}
    for step in prune(cluster, desired, Observed().with_objects(objects)):
        assert step.operation == "delete"
        assert step.key.kind in PRUNED_KINDS
        assert step.key not in names
        assert step.live is not None
        assert step.live["metadata"]["labels"]["druid_cr"] == "c"
        assert is_ours(step.live, cluster)
        assert has_our_mark(step.live, by_variable)


def has_our_mark(live: Manifest, by_variable: bool) -> bool:
    owners = [each for each in live["metadata"]["ownerReferences"] if each["controller"]]
    if owners:
        return not by_variable and (owners[0]["kind"], owners[0]["name"]) == ("Druid", "c")
    return any(each["manager"] == "druidops" for each in live["metadata"]["managedFields"])


@given(OBJECTS)
def test_never_deletes_a_claim(objects: list[Manifest]) -> None:
    cluster, desired = desire()
    observed = converged(desired).with_objects(objects)
    steps = (*candidates(cluster, desired, observed), *prune(cluster, desired, observed))
    assert not [step for step in steps if step.key.kind == "PersistentVolumeClaim"]
