# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is missing or differs is written, what is wanted no longer goes, and nothing of others is touched."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    changed_objects,
    unlisted_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.preconditions import invalid_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.prune import removed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Get
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    FEATURES,
    Case,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, entry

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
    desired = render(cluster, observed.preserved(cluster))
    assert desired.objects == first.objects
    assert changed_objects(cluster, desired, observed) == ()
    assert removed_objects(cluster, desired, observed) == ()
    based_on = inputs(cluster, observed)
    invalid = invalid_spec(based_on)
    assert decide(based_on) == Plan(findings=invalid, warnings=() if invalid else desired.warnings)


def test_makes_everything_in_the_order_of_the_rollout() -> None:
    nodes = {
        "routers": {**druid.NODE, "nodeType": "router"},
        "historicals": {**druid.NODE, "nodeType": "historical"},
    }
    cluster, desired = desire(EVERYTHING, nodes=nodes)
    steps = changed_objects(cluster, desired, Observed())
    assert {step.operation for step in steps} == {"create"}
    assert [step.group for step in steps] == [None, *["historicals"] * 2, *["routers"] * 2]
    assert [step.key for step in steps] == [key_of(manifest) for manifest in desired.objects]


def test_within_a_group_what_is_needed_comes_first() -> None:
    cluster, desired = desire(EVERYTHING)
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


def test_makes_again_what_is_missing_alone() -> None:
    cluster, desired = desire(EVERYTHING)
    steps = changed_objects(cluster, desired, without(converged(desired), "Service"))
    assert [(step.operation, step.key.kind, step.group) for step in steps] == [("create", "Service", "brokers")]


def test_changes_what_differs_alone() -> None:
    _cluster, before = desire(EVERYTHING)
    cluster, after = desire({**EVERYTHING, "image": "new"})
    [step] = changed_objects(cluster, after, converged(before))
    assert (step.operation, step.key.kind, step.group) == ("update", "StatefulSet", "brokers")
    assert step.restarts_pods
    assert step.live == workload(converged(before))
    assert step.after is not None
    assert step.after["spec"]["template"] == step.manifest["spec"]["template"]


def test_a_workload_of_an_autoscaler_begins_with_its_least() -> None:
    cluster, desired = desire(EVERYTHING)
    [step] = [step for step in changed_objects(cluster, desired, Observed()) if step.key.kind == "StatefulSet"]
    assert "replicas" not in step.manifest["spec"]
    assert step.initial is not None
    assert step.initial["spec"] == {**step.manifest["spec"], "replicas": 2}
    assert all(step.initial is None for step in changed_objects(*desire(), Observed()))


def test_replicas_of_an_autoscaler_are_left_alone() -> None:
    cluster, desired = desire(EVERYTHING)
    assert changed_objects(cluster, desired, scaled(converged(desired), 4)) == ()


def test_replicas_are_handed_over_and_not_written() -> None:
    _cluster, before = desire({"replicas": 3})
    cluster, after = desire({"replicas": 3, **AUTOSCALED})
    steps = changed_objects(cluster, after, converged(before))
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
    [step] = changed_objects(cluster, desired, converged(stopped))
    assert step.after is not None
    assert step.after["spec"]["replicas"] == 2


def test_a_workload_that_another_has_stopped_stays_so() -> None:
    cluster, desired = desire(AUTOSCALED)
    assert changed_objects(cluster, desired, scaled(converged(desired), 0)) == ()


def test_a_group_that_is_stopped_has_no_pods() -> None:
    _cluster, before = desire(AUTOSCALED)
    cluster, desired = desire({**AUTOSCALED, "stopped": True})
    observed = scaled(converged(before), 3)
    [step] = changed_objects(cluster, desired, observed)
    assert step.after is not None
    assert step.after["spec"]["replicas"] == 0
    assert not step.restarts_pods
    assert removed_objects(cluster, desired, observed) == ()


def test_data_of_a_claim_are_left_alone() -> None:
    _cluster, before = desire(EVERYTHING)
    grown = {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}}
    cluster, desired = desire({**EVERYTHING, "persistentVolumeClaim": [{"spec": grown}]})
    assert changed_objects(cluster, desired, converged(before)) == ()


REMADE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("pod management", {}, {"podManagementPolicy": "OrderedReady"}),
    ("claim templates", {}, {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": CLAIM}]}),
]


@pytest.mark.parametrize(("before", "after"), [row[1:] for row in REMADE], ids=[row[0] for row in REMADE])
def test_makes_again_what_cannot_be_changed(before: dict[str, Any], after: dict[str, Any]) -> None:
    cluster, desired = desire(after)
    [step] = changed_objects(cluster, desired, converged(desire(before)[1]))
    assert (step.operation, step.key.kind) == ("recreate", "StatefulSet")


def test_finishes_a_recreation_that_was_cut_short() -> None:
    cluster, desired = desire()
    observed = converged(desired)
    going = deepcopy(workload(observed))
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    [step] = changed_objects(cluster, desired, observed.with_objects([going]))
    assert step.operation == "recreate"


def test_looks_up_what_no_list_shows() -> None:
    cluster, desired = desire()
    assert unlisted_objects(inputs(cluster)) == Get(tuple(map(key_of, desired.objects)))
    missing = inputs(cluster, without(converged(desired), "StatefulSet"))
    assert unlisted_objects(missing) == Get((ObjectKey("StatefulSet", "druid-c-brokers"),))
    assert unlisted_objects(replace(missing, unlisted={})) is None
