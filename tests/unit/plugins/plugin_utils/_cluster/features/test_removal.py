# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removals: groups in order, none from a spec without groups; that of the last group of a role is destructive."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import changed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.targets import PRUNED_KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.removal import Removal, removed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import role_warnings, with_effects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.decide.test_changes import (
    EVERYTHING,
    Manifest,
    cluster_and_desired,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import draft
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, entry
from hypothesis import given
from hypothesis import strategies as st


def test_removed_group_is_pruned_except_its_pvcs() -> None:
    _cluster, before = cluster_and_desired(EVERYTHING)
    cluster, desired = cluster_and_desired(nodes={"others": druid.NODE})
    steps = removed_objects(cluster, desired, converged(before))
    kinds = [step.key.kind for step in steps]
    assert kinds == [
        "StatefulSet",
        "HorizontalPodAutoscaler",
        "Ingress",
        "PodDisruptionBudget",
        "Service",
        "ConfigMap",
    ]
    assert {(step.operation.verb, step.group) for step in steps} == {("delete", None)}


def test_removed_optional_object_is_pruned() -> None:
    _cluster, before = cluster_and_desired(EVERYTHING)
    cluster, desired = cluster_and_desired({**EVERYTHING, "ingress": None})
    [step] = removed_objects(cluster, desired, converged(before))
    assert (step.key.kind, step.group, step.operation.verb) == ("Ingress", "brokers", "delete")


def test_terminating_object_is_not_deleted_again() -> None:
    _cluster, before = cluster_and_desired(EVERYTHING)
    cluster, desired = cluster_and_desired({**EVERYTHING, "ingress": None})
    observed = converged(before)
    terminating = deepcopy(next(observed.of_kind("Ingress")))
    terminating["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert removed_objects(cluster, desired, observed.with_objects([terminating])) == ()


LABELS = st.fixed_dictionaries(
    {},
    optional={
        "app": st.sampled_from(["druid", "other"]),
        "druid_cr": st.sampled_from(["c", "d"]),
        "nodeSpecUniqueStr": st.sampled_from(["druid-c-brokers", "druid-c-removed", "druid-d-brokers"]),
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
            "spec": {},
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
        st.sampled_from(["druid-c-brokers", "druid-c-removed", "c-druid-common-config", "mine"]),
        LABELS,
        st.lists(OWNER, max_size=2),
        st.lists(ENTRY, min_size=1, max_size=1),
    ),
    max_size=6,
)


@given(OBJECTS, st.booleans())
def test_foreign_objects_are_never_pruned(objects: list[Manifest], without_resource: bool) -> None:
    source = druid.resource()
    if without_resource:
        del source["metadata"]["uid"]
    cluster = Cluster.from_resource(source)
    desired = render(cluster)
    names = {key_of(manifest) for manifest in desired.objects}
    for step in removed_objects(cluster, desired, Observed().with_objects(objects)):
        assert step.operation.verb == "delete"
        assert step.key.kind in PRUNED_KINDS
        assert step.key not in names
        assert step.live is not None
        assert step.live["metadata"]["labels"]["druid_cr"] == "c"
        assert is_ours(step.live, cluster)
        assert has_our_owner_or_manager(step.live, without_resource)


def has_our_owner_or_manager(live: Manifest, without_resource: bool) -> bool:
    owners = [each for each in live["metadata"]["ownerReferences"] if each["controller"]]
    if owners:
        return not without_resource and (owners[0]["kind"], owners[0]["name"]) == ("Druid", "c")
    return any(each["manager"] == "druidops" for each in live["metadata"]["managedFields"])


@given(OBJECTS)
def test_pvcs_are_never_pruned(objects: list[Manifest]) -> None:
    cluster, desired = cluster_and_desired()
    observed = converged(desired).with_objects(objects)
    steps = (*changed_objects(cluster, desired, observed), *removed_objects(cluster, desired, observed))
    assert not [step for step in steps if step.key.kind == "PersistentVolumeClaim"]


ALL = {
    "historicals": {"nodeType": "historical"},
    "middlemanagers": {"nodeType": "middleManager"},
    "brokers": {"nodeType": "broker"},
    "routers": {"nodeType": "router"},
    "overlords": {"nodeType": "overlord"},
    "coordinators": {"nodeType": "coordinator"},
}


def cluster(nodes: dict[str, Any], annotations: Any = None, **spec: Any) -> Cluster:
    groups = {key: {**druid.NODE, "replicas": 2, **fields} for key, fields in nodes.items()}
    resource = druid.resource(nodes=groups, **spec)
    resource["metadata"]["annotations"] = annotations or {}
    return Cluster.from_resource(resource)


def removals(before: Cluster, after: Cluster) -> tuple[tuple[Step, ...], Observed]:
    live = rolling.observed(before)
    return tuple(removed_objects(after, render(after), live)), live


@pytest.mark.parametrize("running", [ALL, {"brokers": {"nodeType": "broker", "replicas": 0}}], ids=["all", "no pods"])
def test_a_spec_without_groups_deletes_nothing(running: dict[str, Any]) -> None:
    emptied = cluster({})
    steps, live = removals(cluster(running), emptied)
    found = draft(emptied, live, steps)
    [finding] = Removal().judge(found)
    assert (finding.reason, finding.group, finding.is_problem) == (reasons.ALL_GROUPS_REMOVED, None, True)
    assert not found.with_findings([finding]).steps
    for part in ("StatefulSet druid-c-brokers", "spec.stopped: true", 'druid.apache.org/remove-all-groups to "true"'):
        assert part in finding.message


def test_a_spec_without_groups_deletes_them_if_that_is_confirmed() -> None:
    confirmed = cluster({}, {"druid.apache.org/remove-all-groups": "true"})
    steps, live = removals(cluster(ALL), confirmed)
    assert not Removal().judge(draft(confirmed, live, steps))
    assert all(step.is_destructive for step in with_effects(steps, live, confirmed) if step.key.kind == "StatefulSet")


def test_a_spec_without_groups_is_no_problem_if_there_is_nothing_to_delete() -> None:
    assert not Removal().judge(draft(cluster({}), Observed()))


# (removed groups, further spec, what is lost: a node type)
LOST: list[tuple[list[str], dict[str, Any], list[str]]] = [
    (["coordinators"], {}, ["coordinator"]),
    (["overlords"], {}, ["overlord"]),
    (["overlords"], {"common.runtime.properties": "druid.coordinator.asOverlord.enabled=true"}, []),
    (["overlords", "middlemanagers"], {}, []),
    (["brokers"], {}, ["broker"]),
    (["historicals"], {}, ["historical"]),
    (["middlemanagers"], {}, ["middleManager or indexer"]),
    (["middlemanagers"], {"common.runtime.properties": "druid.indexer.runner.type=k8s"}, []),
    (["routers"], {}, []),
    (["brokers", "coordinators"], {}, ["coordinator", "broker"]),
]


@pytest.mark.parametrize(("removed", "spec", "lost"), LOST)
def test_the_removal_of_the_last_group_of_a_role_is_destructive(
    removed: list[str], spec: dict[str, Any], lost: list[str]
) -> None:
    after = cluster({key: node for key, node in ALL.items() if key not in removed}, **spec)
    steps, live = removals(cluster(ALL, **spec), after)
    marked = [step.key.name for step in with_effects(steps, live, after) if step.is_destructive]
    warnings = [*role_warnings(after, steps)]
    assert len(marked) == len(lost)
    assert sorted(text.partition("nodeType ")[2].partition(" is left")[0] for text in warnings) == sorted(lost)


@pytest.mark.parametrize(
    "kept", [{"brokers-b": ALL["brokers"]}, {"brokers-b": {**ALL["brokers"], "kind": "Deployment"}}]
)
def test_another_group_of_the_role_is_enough(kept: dict[str, Any]) -> None:
    after = cluster({**{key: node for key, node in ALL.items() if key != "brokers"}, **kept})
    steps, live = removals(cluster(ALL), after)
    assert any(step.removes_group for step in steps)
    assert not any(step.is_destructive for step in with_effects(steps, live, after))
