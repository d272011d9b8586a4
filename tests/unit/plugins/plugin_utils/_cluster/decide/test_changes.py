# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps that create, update and recreate objects; foreign fields remain unchanged."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    changed_objects,
    unlisted_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.removal import removed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.validation import invalid_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    answers_of,
    decided,
    inputs,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    FEATURES,
    Case,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import (
    converged,
    entry,
    stored,
    written_by,
)

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


def cluster_and_desired(node: dict[str, Any] | None = None, **spec: Any) -> tuple[Cluster, Desired]:
    cluster = druid.cluster(node, **spec)
    return cluster, render(cluster)


def workload(observed: Observed) -> Manifest:
    return observed.objects[ObjectKey("StatefulSet", "druid-c-brokers")]


def without(observed: Observed, *kinds: str) -> Observed:
    return observed.without(key for key in observed.objects if key.kind in kinds)


@pytest.mark.parametrize("case", FEATURES, ids=[case.name for case in FEATURES])
def test_settled_cluster_has_no_steps(case: Case) -> None:
    cluster = Cluster.from_resource(resource(case))
    first = render(cluster)
    observed = converged(first)
    desired = render(cluster, observed.preserved(cluster))
    assert desired.objects == first.objects
    assert changed_objects(cluster, desired, observed) == ()
    assert removed_objects(cluster, desired, observed) == ()
    based_on = inputs(cluster, observed)
    invalid = invalid_spec(based_on)
    assert replace(decided(based_on), warnings=()) == Plan(findings=invalid)


def test_everything_is_created_in_the_order_of_the_rollout() -> None:
    nodes = {
        "routers": {**druid.NODE, "nodeType": "router"},
        "historicals": {**druid.NODE, "nodeType": "historical"},
    }
    cluster, desired = cluster_and_desired(EVERYTHING, nodes=nodes)
    steps = changed_objects(cluster, desired, Observed())
    assert {step.operation.verb for step in steps} == {"create"}
    assert [step.group for step in steps] == [None, *["historicals"] * 2, *["routers"] * 2]
    assert [step.key for step in steps] == [key_of(manifest) for manifest in desired.objects]


def test_dependencies_are_created_first_within_a_group() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    assert [step.key.kind for step in changed_objects(cluster, desired, Observed())] == [
        "ConfigMap",
        "ConfigMap",
        "Service",
        "PersistentVolumeClaim",
        "StatefulSet",
        "Ingress",
        "PodDisruptionBudget",
        "HorizontalPodAutoscaler",
    ]


def test_only_the_missing_object_is_created() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    steps = changed_objects(cluster, desired, without(converged(desired), "Service"))
    assert [(step.operation.verb, step.key.kind, step.group) for step in steps] == [("create", "Service", "brokers")]


def test_only_the_changed_object_is_updated() -> None:
    _cluster, before = cluster_and_desired(EVERYTHING)
    cluster, after = cluster_and_desired({**EVERYTHING, "image": "new"})
    [step] = changed_objects(cluster, after, converged(before))
    assert (step.operation.verb, step.key.kind, step.group) == ("update", "StatefulSet", "brokers")
    assert step.restart.is_requested
    assert step.live == workload(converged(before))
    assert step.after is not None
    assert step.after["spec"]["template"] == step.manifest["spec"]["template"]


def test_autoscaled_workload_is_created_with_the_minimum_replicas() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    [step] = [step for step in changed_objects(cluster, desired, Observed()) if step.key.kind == "StatefulSet"]
    assert "replicas" not in step.manifest["spec"]
    assert step.initial is not None
    assert step.initial["spec"] == {**step.manifest["spec"], "replicas": 2}
    assert all(step.initial is None for step in changed_objects(*cluster_and_desired(), Observed()))


def test_replicas_set_by_an_autoscaler_are_kept() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    assert changed_objects(cluster, desired, scaled(converged(desired), 4)) == ()


def test_replicas_are_released_to_a_new_autoscaler() -> None:
    _cluster, before = cluster_and_desired({"replicas": 3})
    cluster, after = cluster_and_desired({"replicas": 3, **AUTOSCALED})
    steps = changed_objects(cluster, after, converged(before))
    assert [(step.operation.verb, step.key.kind) for step in steps] == [
        ("update", "StatefulSet"),
        ("create", "HorizontalPodAutoscaler"),
    ]
    assert steps[0].after is not None
    assert steps[0].after["spec"]["replicas"] == 3
    assert steps[0].managed_fields is not None


UNSET: Manifest = {"replicas": None}
# (fields before, number of live pods, fields afterwards, replicas of the StatefulSet afterwards)
KEPT: dict[str, tuple[Manifest, int, Manifest, int]] = {
    "replicas are removed": ({"replicas": 3}, 3, UNSET, 3),
    "an autoscaler is removed": (AUTOSCALED, 4, {**UNSET, "hpAutoscaler": None}, 4),
    "none stay none": ({"replicas": 0}, 0, UNSET, 0),
    "stopped, resumed without replicas": ({"replicas": 3, "stopped": True}, 0, UNSET, 3),
    "stopped without replicas": (UNSET, 5, {**UNSET, "stopped": True}, 0),
    "none are specified": (UNSET, 5, {"replicas": 0}, 0),
    "a number is specified": (UNSET, 5, {"replicas": 2}, 2),
}


@pytest.mark.parametrize(("before", "pods", "after", "expected"), KEPT.values(), ids=KEPT)
def test_replicas_that_are_not_set_are_kept(before: Manifest, pods: int, after: Manifest, expected: int) -> None:
    was_stopped = bool(before.get("stopped"))
    former, first = cluster_and_desired(before)
    if was_stopped:
        running = converged(render(druid.cluster({**before, "stopped": False})))
        first = render(former, running.preserved(former))
    observed = converged(first)
    if not was_stopped and "replicas" not in workload(observed)["spec"]:
        observed = scaled(observed, pods)
    cluster = druid.cluster(after)
    desired = render(cluster, observed.preserved(cluster))
    steps = [step for step in changed_objects(cluster, desired, observed) if step.key.kind == "StatefulSet"]
    live = steps[0].after if steps else workload(observed)
    assert live is not None
    assert live["spec"]["replicas"] == expected


def test_replicas_that_are_not_set_have_another_owner() -> None:
    cluster, desired = cluster_and_desired(UNSET)
    [step] = changed_objects(cluster, desired, converged(render(druid.cluster({"replicas": 3}))))
    assert "replicas" not in step.manifest["spec"]
    owners = [each["manager"] for each in step.managed_fields or () if "f:replicas" in each["fieldsV1"]["f:spec"]]
    assert owners == ["druidops-replicas"]


def test_a_group_of_the_go_operator_without_replicas_keeps_its_zero() -> None:
    live = written_by("manager", druid.rendered("StatefulSet", {"replicas": 0}))
    cluster = druid.cluster(UNSET)
    observed = Observed().with_objects([live])
    desired = render(cluster, observed.preserved(cluster))
    [step] = [each for each in changed_objects(cluster, desired, observed) if each.key.kind == "StatefulSet"]
    assert "replicas" not in step.manifest["spec"]
    assert step.after is not None
    assert step.after["spec"]["replicas"] == 0


# (fields of the group, other live objects, replicas at the creation)
CREATED: dict[str, tuple[Manifest, list[Manifest], int]] = {
    "new": (UNSET, [], 1),
    "with an autoscaler": ({**UNSET, **AUTOSCALED}, [], 2),
    "another kind": (UNSET, [stored(druid.rendered("Deployment", {"kind": "Deployment", "replicas": 4}))], 4),
}


@pytest.mark.parametrize(("node", "live", "expected"), CREATED.values(), ids=CREATED)
def test_a_workload_without_replicas_is_created_with_pods(node: Manifest, live: list[Manifest], expected: int) -> None:
    cluster, desired = cluster_and_desired(node)
    steps = changed_objects(cluster, desired, Observed().with_objects(live))
    [initial] = [step.initial for step in steps if step.key.kind == "StatefulSet"]
    assert initial is not None
    assert initial["spec"]["replicas"] == expected


def scaled(observed: Observed, replicas: int) -> Observed:
    """Return the cluster after the autoscaler has set the replicas."""
    live = deepcopy(workload(observed))
    live["spec"]["replicas"] = replicas
    live["metadata"]["managedFields"].append(entry("hpa", {"f:spec": {"f:replicas": {}}}, "Update", "scale"))
    return observed.with_objects([live])


def test_stopped_autoscaled_workload_is_started_again() -> None:
    _cluster, stopped = cluster_and_desired({**AUTOSCALED, "stopped": True})
    cluster, desired = cluster_and_desired(AUTOSCALED)
    [step] = changed_objects(cluster, desired, converged(stopped))
    assert step.after is not None
    assert step.after["spec"]["replicas"] == 2


def test_autoscaled_workload_scaled_to_zero_is_kept() -> None:
    cluster, desired = cluster_and_desired(AUTOSCALED)
    assert changed_objects(cluster, desired, scaled(converged(desired), 0)) == ()


def test_stopped_group_has_no_replicas() -> None:
    _cluster, before = cluster_and_desired(AUTOSCALED)
    cluster, desired = cluster_and_desired({**AUTOSCALED, "stopped": True})
    observed = scaled(converged(before), 3)
    [step] = changed_objects(cluster, desired, observed)
    assert step.after is not None
    assert step.after["spec"]["replicas"] == 0
    assert not step.restart.is_requested
    assert removed_objects(cluster, desired, observed) == ()


def test_size_of_a_pvc_is_not_changed() -> None:
    _cluster, before = cluster_and_desired(EVERYTHING)
    grown = {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}}
    cluster, desired = cluster_and_desired({**EVERYTHING, "persistentVolumeClaim": [{"spec": grown}]})
    assert changed_objects(cluster, desired, converged(before)) == ()


RECREATED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("pod management", {}, {"podManagementPolicy": "OrderedReady"}),
    ("PVC templates", {}, {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM}]}),
]


@pytest.mark.parametrize(("before", "after"), [row[1:] for row in RECREATED], ids=[row[0] for row in RECREATED])
def test_immutable_change_recreates_the_object(before: dict[str, Any], after: dict[str, Any]) -> None:
    cluster, desired = cluster_and_desired(after)
    [step] = changed_objects(cluster, desired, converged(cluster_and_desired(before)[1]))
    assert (step.operation.verb, step.key.kind) == ("recreate", "StatefulSet")


def test_interrupted_recreation_is_completed() -> None:
    cluster, desired = cluster_and_desired()
    observed = converged(desired)
    terminating = deepcopy(workload(observed))
    terminating["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    [step] = changed_objects(cluster, desired, observed.with_objects([terminating]))
    assert step.operation.verb == "recreate"


def test_objects_that_no_list_shows_are_read() -> None:
    cluster, desired = cluster_and_desired()
    new = inputs(cluster)
    assert unlisted_objects(new) == ()
    assert answers_of(new).asked == [*map(key_of, desired.objects)]
    [live] = converged(desired).of_kind("StatefulSet")
    missing = inputs(cluster, without(converged(desired), "StatefulSet"), objects=[live])
    assert unlisted_objects(missing) == (live,)
    assert answers_of(missing).asked == [ObjectKey("StatefulSet", "druid-c-brokers")]
