# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods that no controller replaces are evicted, one at a time, if the PodDisruptionBudgets allow it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.size_limits import added_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import (
    blocking_budgets,
    evictions,
    failing_pods,
    lasting_refusal,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.gate import Gated, gate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.progress import Pending, current_rollout
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    answers_of,
    decided,
    inputs,
)

Manifest = dict[str, Any]

NAME = "druid-c-brokers"
SET = ObjectKey("StatefulSet", NAME)
CHANGED = {"image": rolling.NEW}
BUDGET = {"podDisruptionBudgetSpec": {"maxUnavailable": 1}}
PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}
CRASHING = {"type": "Ready", "status": "False"}


def specified(*image: str, **more: Any) -> Cluster:
    """Return a cluster whose groups have one Service each, of their own name."""
    return rolling.cluster(*image, **{"services": [{}], **more})


def pods(*subdomains: str, group: str = "brokers", **status: Any) -> list[Manifest]:
    """Return ready pods with these subdomains, by ordinal."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]} | status
    found = [rolling.pod(group, ordinal, **ready) for ordinal in range(len(subdomains))]
    return [
        {"apiVersion": "v1", **pod, "spec": {"subdomain": name}} for pod, name in zip(found, subdomains, strict=True)
    ]


def observed(cluster: Cluster, *found: Manifest, **status: Any) -> Observed:
    return rolling.observed(cluster, **status).with_objects(found)


def gated(which: Inputs, *others: Step) -> Gated:
    return gate((*others, *evictions(which, others)), which)


def evicted(steps: tuple[Step, ...]) -> list[str]:
    return [step.key.name for step in steps if step.restart.eviction]


OLD, BOTH = pods("old", "old"), pods("old", NAME)
TABLE: list[tuple[str, Cluster, list[Manifest], list[str]]] = [
    ("the last one first", specified(), OLD, [f"{NAME}-1"]),
    ("then the one before", specified(), BOTH, [f"{NAME}-0"]),
    ("none", specified(), pods(NAME, NAME), []),
    ("below the partition", specified(nodes={"brokers": PARTITION}), BOTH, []),
    ("from the partition on", specified(nodes={"brokers": PARTITION}), OLD, [f"{NAME}-1"]),
    ("on delete", specified(nodes={"brokers": {"updateStrategy": {"type": "OnDelete"}}}), OLD, []),
    ("a pod that is scaled down", specified(nodes={"brokers": {"replicas": 1}}), pods(NAME, "old"), []),
    ("a Deployment", specified(nodes={"brokers": {"kind": "Deployment"}}), OLD, []),
    ("without Services", specified(nodes={"brokers": {"services": []}}), pods("", ""), []),
    ("the Services are removed", specified(nodes={"brokers": {"services": []}}), OLD, [f"{NAME}-1"]),
    ("at once", specified(rollingDeploy=False), OLD, [f"{NAME}-1"]),
]


@pytest.mark.parametrize(("cluster", "found", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_next_pod_is_evicted(cluster: Cluster, found: list[Manifest], expected: list[str]) -> None:
    result = gated(inputs(cluster, observed(cluster, *found)))
    assert (evicted(result.steps), evicted(result.later)) == (expected, [])


def terminating(pod: Manifest) -> Manifest:
    return {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def unready(pod: Manifest) -> Manifest:
    return {**pod, "status": {**pod["status"], "conditions": [CRASHING]}}


WAITS: list[tuple[str, list[Manifest], dict[str, Any]]] = [
    ("a pod of the group is terminating", [OLD[0], terminating(OLD[1])], {}),
    ("a pod of the group is not ready", [OLD[0], unready(OLD[1])], {}),
    ("no pod of the group is ready", [*map(unready, OLD)], {"brokers": {"readyReplicas": 0}}),
    ("a pod of another group is terminating", [*OLD, terminating(pods("x", group="historicals")[0])], {}),
    ("another group is rolling", OLD, {"historicals": {"updateRevision": "b", "updatedReplicas": 1}}),
    ("the own controller is replacing pods", OLD, {"brokers": {"updateRevision": "b", "updatedReplicas": 1}}),
]


@pytest.mark.parametrize(("found", "status"), [row[1:] for row in WAITS], ids=[row[0] for row in WAITS])
def test_it_waits_for_all_pods(found: list[Manifest], status: dict[str, Any]) -> None:
    result = gated(inputs(specified(), observed(specified(), *found, **status)))
    assert evicted(result.steps) == []
    assert len(evicted(result.later)) == 1


def test_it_waits_for_a_pod_that_is_missing_although_the_status_does_not_show_it() -> None:
    live = observed(specified(), *OLD).without([key_of(OLD[1])])
    assert evicted(gated(inputs(specified(), live)).steps) == []
    upgraded = inputs(specified(rolling.NEW), live)
    steps = rolling.steps(upgraded.cluster, live)
    assert [step.group for step in gate(steps, upgraded).steps if step.restart.pods] == ["brokers"]


def test_all_at_once_still_waits_for_the_pods_of_the_group() -> None:
    cluster = specified(rollingDeploy=False)
    live = observed(cluster, *OLD, *pods("old", "old", group="historicals"))
    assert evicted(gated(inputs(cluster, live)).steps) == ["druid-c-historicals-1", f"{NAME}-1"]
    waiting = live.with_objects([terminating(OLD[1])])
    assert evicted(gated(inputs(cluster, waiting)).steps) == ["druid-c-historicals-1"]


@pytest.mark.parametrize(("allowed", "healthy", "warns"), [(1, 2, False), (0, 1, False), (0, 2, True)])
def test_a_budget_is_respected(allowed: int, healthy: int, warns: bool) -> None:
    cluster = specified(nodes={"brokers": BUDGET})
    live = observed(cluster, *OLD)
    budget = live.objects[ObjectKey("PodDisruptionBudget", NAME)]
    status = {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": healthy, "expectedPods": 2}
    result = gated(inputs(cluster, live.with_objects([{**budget, "status": status}])))
    assert bool(evicted(result.steps)) == bool(allowed)
    text = (
        f"PodDisruptionBudget {NAME} does not allow the eviction of any pod, so 2 of group brokers stay as they are "
        f"(subdomain: old -> {NAME}): they restart when it allows it, or when they are deleted"
    )
    assert result.warnings == ((text,) if warns else ())


def test_a_budget_does_not_block_other_groups() -> None:
    desired = specified(nodes={"brokers": BUDGET, "coordinators": {"image": rolling.NEW}})
    live = observed(specified(nodes={"brokers": BUDGET}), *OLD)
    budget = live.objects[ObjectKey("PodDisruptionBudget", NAME)]
    live = live.with_objects([{**budget, "status": {"observedGeneration": 1, "disruptionsAllowed": 0}}])
    result = gated(inputs(desired, live), *rolling.steps(desired, live))
    assert [step.group for step in result.steps if step.restart.pods] == ["coordinators"]
    assert [step.group for step in result.later] == ["brokers"]
    metadata = {"name": "druid-c-old", "namespace": "ns", "labels": {}}
    former = {"kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": 1, "template": {}}}
    removal = Delete(live=former)
    assert removal in gated(inputs(specified(nodes={"brokers": BUDGET}), live), removal).steps


def foreign(selected: str = "brokers", allowed: int = 0, name: str = "foreign") -> Manifest:
    """Return the budget that a user has created for the pods of a group."""
    selector = {"matchLabels": {"nodeSpecUniqueStr": f"druid-c-{selected}"}}
    status = {"disruptionsAllowed": allowed, "currentHealthy": 2, "expectedPods": 2}
    metadata = {"name": name, "namespace": "ns"}
    return {"kind": "PodDisruptionBudget", "metadata": metadata, "spec": {"selector": selector}, "status": status}


# (budgets of others, the group that restarts now, the beginning of the warning)
FOREIGN: list[tuple[str, list[Manifest], str, str | None]] = [
    ("none", [], "brokers", None),
    ("of another group", [foreign("historicals")], "brokers", None),
    ("allows it", [foreign(allowed=1)], "brokers", None),
    ("does not allow it", [foreign()], "coordinators", "PodDisruptionBudget foreign does not allow the eviction"),
    (
        "several, which the API server never allows",
        [foreign(allowed=1, name="b"), foreign(allowed=1, name="a"), foreign("historicals")],
        "coordinators",
        "PodDisruptionBudgets a, b select the same pods, and Kubernetes evicts no pod that more than one selects, "
        f"so 2 of group brokers stay as they are (subdomain: old -> {NAME}): they restart when only one selects them, "
        "or when they are deleted",
    ),
]


@pytest.mark.parametrize(
    ("budgets", "restarts", "warning"), [row[1:] for row in FOREIGN], ids=[row[0] for row in FOREIGN]
)
def test_a_budget_of_others_is_respected_and_does_not_block_other_groups(
    budgets: list[Manifest], restarts: str, warning: str | None
) -> None:
    desired = specified(nodes={"coordinators": CHANGED})
    live = observed(specified(), *OLD)
    which = inputs(desired, live, lists={"PodDisruptionBudget": tuple(budgets)})
    result = gated(which, *rolling.steps(desired, live))
    assert [step.group for step in result.steps if step.restart.pods] == [restarts]
    assert [step.group for step in result.later] == [{"brokers": "coordinators", "coordinators": "brokers"}[restarts]]
    assert len(result.warnings) == (warning is not None)
    assert all(text.startswith(warning or "") for text in result.warnings)


def test_the_budget_of_the_group_and_one_of_others_are_two() -> None:
    cluster = specified(nodes={"brokers": BUDGET})
    live = observed(cluster, *OLD)
    budget = live.objects[ObjectKey("PodDisruptionBudget", NAME)]
    allows = {**budget, "status": {"observedGeneration": 1, "disruptionsAllowed": 1}}
    which = inputs(cluster, live.with_objects([allows]), lists={"PodDisruptionBudget": (foreign(allowed=1), allows)})
    result = gated(which)
    assert (evicted(result.steps), evicted(result.later)) == ([], [f"{NAME}-1"])
    [warning] = result.warnings
    assert warning.startswith(f"PodDisruptionBudgets {NAME}, foreign select the same pods")


@pytest.mark.parametrize(("found", "expected"), [(OLD, "historicals"), (BOTH, "brokers")])
def test_evictions_that_have_begun_are_completed_first(found: list[Manifest], expected: str) -> None:
    desired = specified(nodes={"historicals": {"image": rolling.NEW}})
    live = observed(specified(), *found)
    result = gated(inputs(desired, live), *rolling.steps(desired, live))
    assert [step.group for step in result.steps if step.restart.pods] == [expected]


@pytest.mark.parametrize(
    "node",
    [{"image": rolling.NEW}, {"podManagementPolicy": "OrderedReady"}, {"services": [{"metadata": {"name": "b"}}]}],
)
def test_no_pod_is_evicted_if_its_workload_changes(node: Manifest) -> None:
    live, desired = observed(specified(), *OLD), specified(nodes={"brokers": node})
    steps = rolling.steps(desired, live)
    assert evictions(inputs(desired, live), steps) == ()


CLAIM = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
CLAIMS = {"volumeClaimTemplates": [CLAIM]}
VOLUME = {"name": "data", "persistentVolumeClaim": {"claimName": "any"}}


def with_volume(pod: Manifest) -> Manifest:
    return {**pod, "spec": {**pod["spec"], "volumes": [VOLUME]}}


def test_of_pods_without_a_volume_the_first_one_is_evicted() -> None:
    """The controller would not create a later one."""
    cluster, own = specified(nodes={"brokers": {**CLAIMS, "replicas": 3}}), pods(NAME, NAME, NAME)
    for found, expected in (
        (own, f"{NAME}-0"),
        ([with_volume(own[0]), *own[1:]], f"{NAME}-1"),
        ([*map(with_volume, own)], None),
    ):
        result = gated(inputs(cluster, observed(cluster, *found)))
        assert evicted(result.steps) == [each for each in (expected,) if each]


def test_pods_without_a_volume_are_evicted_although_the_group_has_an_old_revision() -> None:
    """Only their controller could update them, and it is stuck."""
    cluster, status = specified(nodes={"brokers": CLAIMS}), {"updateRevision": "b", "updatedReplicas": 0}
    live = observed(cluster, *pods(NAME, NAME), brokers=status)
    [step] = gated(inputs(cluster, live)).steps
    assert step.restart.eviction is not None
    assert (step.key.name, step.restart.eviction.cause) == (f"{NAME}-0", "volumeClaimTemplates: data")
    waiting = live.with_objects([terminating(pods(NAME)[0])])
    assert evicted(gated(inputs(cluster, waiting)).steps) == []
    others = live.with_objects([terminating(pods("x", group="historicals")[0])])
    assert evicted(gated(inputs(cluster, others)).steps) == []


@pytest.mark.parametrize("revisions", [("a", "b"), ("b", "b")])
@pytest.mark.parametrize(("replicas", "minimum"), [(1, 1), (2, 2), (3, 2)])
def test_a_budget_does_not_block_other_groups_while_the_controller_is_stuck(
    replicas: int, minimum: int, revisions: tuple[str, str]
) -> None:
    node = {**CLAIMS, "replicas": replicas, "podDisruptionBudgetSpec": {"minAvailable": minimum}}
    before, desired = (specified(nodes={"brokers": node, **more}) for more in ({}, {"coordinators": CHANGED}))
    status = {"currentRevision": revisions[0], "updateRevision": revisions[1], "updatedReplicas": 0}
    live = observed(before, *pods(NAME, NAME)[:replicas], brokers={**status, "readyReplicas": minimum})
    live = live.without([ObjectKey("Pod", f"{NAME}-2")])
    budget = live.objects[ObjectKey("PodDisruptionBudget", NAME)]
    healthy = {"currentHealthy": minimum, "expectedPods": minimum}
    exhausted = {"observedGeneration": 1, "disruptionsAllowed": 0, **healthy}
    live = live.with_objects([{**budget, "status": exhausted}])
    result = gated(inputs(desired, live), *rolling.steps(desired, live))
    assert [step.group for step in result.steps if step.restart.pods] == ["coordinators"]
    assert (evicted(result.later), len(result.warnings)) == ([f"{NAME}-0"], 1)


def test_the_fix_of_another_group_does_not_wait_for_evictions() -> None:
    nodes = {"brokers": CLAIMS}
    before, desired = (specified(nodes={**nodes, **more}) for more in ({}, {"coordinators": CHANGED}))
    broken = {"apiVersion": "v1", **rolling.pod("coordinators", 1, waiting="CrashLoopBackOff")}
    states = {"brokers": {"updateRevision": "b", "updatedReplicas": 0}, "coordinators": {"readyReplicas": 1}}
    live = observed(before, *pods(NAME, NAME), broken, **states)
    result = gated(inputs(desired, live), *rolling.steps(desired, live))
    assert [step.group for step in result.steps if step.restart.pods] == ["coordinators"]
    assert evicted(result.later) == [f"{NAME}-0"]


PARTITIONED = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
# (further fields of the group, pods, evicted pods)
FROM_5: list[tuple[Manifest, list[Manifest], list[str]]] = [
    ({}, OLD, [f"{NAME}-6"]),
    ({}, BOTH, [f"{NAME}-5"]),
    ({"updateStrategy": PARTITIONED}, BOTH, []),
    (CLAIMS, pods(NAME, NAME), [f"{NAME}-5"]),
    (CLAIMS, [with_volume(pods(NAME)[0]), *pods(NAME, NAME)[1:]], [f"{NAME}-6"]),
    (CLAIMS, [unready(with_volume(pods(NAME)[0])), *pods(NAME, NAME)[1:]], []),
]


def from_5(cluster: Cluster, *found: Manifest, **status: Any) -> Observed:
    """Return the live state with another client's ordinals.start of the brokers, and these pods of them."""
    live = observed(cluster, **status).without([key_of(pod) for pod in OLD])
    workload = live.objects[SET]
    numbered = [
        {**pod, "metadata": {**pod["metadata"], "name": f"{NAME}-{ordinal}"}} for ordinal, pod in enumerate(found, 5)
    ]
    return live.with_objects([{**workload, "spec": {**workload["spec"], "ordinals": {"start": 5}}}, *numbered])


@pytest.mark.parametrize(("node", "found", "expected"), FROM_5)
def test_ordinals_that_start_above_zero(node: Manifest, found: list[Manifest], expected: list[str]) -> None:
    cluster = specified(nodes={"brokers": node})
    assert evicted(gated(inputs(cluster, from_5(cluster, *found))).steps) == expected


def test_the_partition_counts_from_the_first_ordinal() -> None:
    """As it does for the controller of the StatefulSet."""
    status = {"currentRevision": "b", "updateRevision": "b"}
    for partition, is_updated in ((0, False), (1, False), (2, True)):
        strategy = {**PARTITIONED, "rollingUpdate": {"partition": partition}}
        cluster = specified(nodes={"brokers": {"updateStrategy": strategy}})
        live = from_5(cluster, *pods(NAME, NAME), brokers=status)
        [state] = [each for each in group_states(cluster, live) if each.key == "brokers"]
        assert state.is_updated == is_updated
        added = specified(nodes={"brokers": {"updateStrategy": strategy, **CLAIMS}})
        assert bool(added_claims(DraftPlan(inputs(added, live), ()))) == (partition > 0)


def test_pods_that_the_controller_cannot_create_are_not_awaited() -> None:
    """As after the number of replicas was raised: it is stuck at the first pod."""
    cluster = specified(nodes={"brokers": {**CLAIMS, "replicas": 3}})
    missing = observed(cluster, *pods(NAME, NAME)).without([ObjectKey("Pod", f"{NAME}-2")])
    assert evicted(gated(inputs(cluster, missing)).steps) == [f"{NAME}-0"]
    not_yet = missing.without([ObjectKey("Pod", f"{NAME}-0")])
    assert evicted(gated(inputs(cluster, not_yet)).steps) == []


@pytest.mark.parametrize(("age", "expected"), [(29, []), (30, [f"{NAME}-1"])])
def test_pods_without_a_volume_wait_for_min_ready_seconds(age: int, expected: list[str]) -> None:
    cluster = specified(nodes={"brokers": {**CLAIMS, "minReadySeconds": 30}})
    now = inputs(cluster, Observed()).now
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": timestamp(now - timedelta(seconds=age))}
    first, second = pods(NAME, NAME, conditions=[ready])
    live = observed(cluster, with_volume(first), second, brokers={"updateRevision": "b", "updatedReplicas": 1})
    assert evicted(gated(inputs(cluster, live)).steps) == expected


def test_a_failing_pod_is_deleted_while_its_controller_is_stuck() -> None:
    cluster = specified(nodes={"brokers": CLAIMS}, forceDeleteStsPodOnError=True)
    status = {"updateRevision": "b", "updatedReplicas": 0, "readyReplicas": 1}
    crashing = rolling.pod("brokers", 0, "a", "CrashLoopBackOff", container={"restartCount": 3})
    live = observed(cluster, with_volume(crashing), pods(NAME, NAME)[1], brokers=status)
    assert [step.key.name for step in failing_pods(inputs(cluster, live))] == [f"{NAME}-0"]
    replaced = live.with_objects([with_volume(pods(NAME, NAME)[1])])
    assert failing_pods(inputs(cluster, replaced)) == ()


ADDED: list[tuple[str, Manifest, list[Manifest], list[str]]] = [
    ("rolling", {}, pods(NAME, NAME), []),
    ("on delete", {"updateStrategy": {"type": "OnDelete"}}, pods(NAME, NAME), [f"{NAME}-0", f"{NAME}-1"]),
    ("a partition", {"updateStrategy": PARTITIONED}, pods(NAME, NAME), [f"{NAME}-0"]),
    ("the pods have it", {"updateStrategy": PARTITIONED}, [*map(with_volume, pods(NAME, NAME))], []),
    ("no pods", {"updateStrategy": {"type": "OnDelete"}}, [], []),
]


@pytest.mark.parametrize(("node", "found", "kept"), [row[1:] for row in ADDED], ids=[row[0] for row in ADDED])
def test_no_claim_template_is_added_while_pods_have_to_stay(
    node: Manifest, found: list[Manifest], kept: list[str]
) -> None:
    before, after = specified(nodes={"brokers": node}), specified(nodes={"brokers": {**node, **CLAIMS}})
    live = rolling.observed(before).without([key_of(pod) for pod in pods(NAME, NAME)]).with_objects(found)
    which = inputs(after, live)
    findings = added_claims(DraftPlan(which, rolling.steps(after, live)))
    assert [(each.reason, each.group) for each in findings] == [("InvalidSpec", "brokers")] * bool(kept)
    assert all(f"keeps pods ({', '.join(kept)})" in each.message for each in findings)


def test_a_recreated_stateful_set_with_pods_of_another_revision_is_not_up_to_date() -> None:
    cluster = specified()
    live = observed(cluster, brokers={"currentRevision": "b", "updateRevision": "b"})
    states = {state.key: state for state in group_states(cluster, live)}
    assert (states["brokers"].is_ready, states["historicals"].is_ready) == (False, True)
    partitioned = specified(nodes={"brokers": {"updateStrategy": {**PARTITIONED, "rollingUpdate": {"partition": 2}}}})
    live = observed(partitioned, brokers={"currentRevision": "b", "updateRevision": "b"})
    assert all(state.is_ready for state in group_states(partitioned, live))


def test_the_plan_names_the_workload_the_pods_and_the_subdomains() -> None:
    result = gated(inputs(specified(), observed(specified(), *OLD)))
    assert plan_output.lines(Plan(result.steps)) == [
        f"evict Pod {NAME}-1",
        f"restart 1: group brokers (StatefulSet {NAME}), 2 pods: subdomain: old -> {NAME}",
    ]


def test_a_recreation_with_another_first_service_is_a_restart_in_its_turn() -> None:
    live = rolling.observed(specified())
    renamed = {"services": [{"metadata": {"name": "%s-new"}}]}
    desired = specified(nodes={"brokers": renamed, "historicals": {"image": rolling.NEW}})
    steps = [
        step if step.operation.verb != "recreate" else rolling.predicted(step) for step in rolling.steps(desired, live)
    ]
    result = gate(steps, inputs(desired, live))
    assert [step.group for step in result.steps if step.restart.pods] == ["historicals"]
    assert [(step.operation.verb, step.key.kind) for step in result.steps if step.group == "brokers"] == [
        ("create", "Service")
    ]
    assert [step.operation.verb for step in result.later if step.key == SET] == ["recreate"]
    [restart] = [text for text in plan_output.lines(Plan(later=result.later)) if text.startswith("restart")]
    assert restart == f"restart 1: group brokers (StatefulSet {NAME}), 2 pods: subdomain: {NAME} -> {NAME}-new"


def test_the_rollout_lasts_until_the_last_pod_is_replaced() -> None:
    cluster, now = specified(), inputs(specified(), Observed()).now
    table: list[tuple[list[Manifest], Pending, dict[str, Any], str | None]] = [
        (OLD, Pending(restarts=("brokers",)), {}, None),
        (OLD, Pending(started=("brokers",)), {}, "brokers 0/2"),
        (BOTH, Pending(restarts=("brokers",)), {"group": "brokers"}, "brokers 1/2"),
        (pods(NAME, NAME), Pending(started=("brokers",)), {"group": "brokers"}, "brokers 2/2"),
        (pods(NAME, NAME), Pending(), {"group": "brokers"}, None),
    ]
    for found, pending, before, progress in table:
        live = observed(cluster, *found)
        states = group_states(cluster, live, as_it_is=True)
        rollout = current_rollout(cluster, live, states, pending, {"rollout": before}, now)
        assert (rollout and rollout.progress) == progress


def test_the_decision_evicts() -> None:
    found = inputs(specified(), observed(specified(), *OLD))
    plan = decided(found)
    assert "PodDisruptionBudget" in answers_of(found).asked
    assert evicted(plan.steps) == [f"{NAME}-1"]
    assert plan.restarts == ("brokers",)


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
POD = {"metadata": {"name": "p", "labels": {"group": "brokers", "app": "druid"}}}
SINCE_LONG = timestamp(NOW - timedelta(seconds=60))
# All expected pods are healthy, and none may be evicted.
NEVER = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 2, "expectedPods": 2}
# As after a recreation of their StatefulSet while another budget selected them, too.
NOT_COUNTED = {**NEVER, "expectedPods": 0}
# A pod of the budget is not healthy.
NOT_NOW = {**NEVER, "currentHealthy": 1}


def budget(name: str, selector: Manifest | None, generation: int = 1, **status: Any) -> Manifest:
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "generation": generation},
        "spec": {} if selector is None else {"selector": selector},
        "status": status,
    }


def mine(name: str = "a", generation: int = 1, **status: Any) -> Manifest:
    """Return a budget that selects the pod."""
    return budget(name, {"matchLabels": {"group": "brokers"}}, generation, **status)


def not_allowed(seconds: int, **more: str) -> Manifest:
    since = timestamp(NOW - timedelta(seconds=seconds))
    return {"type": "DisruptionAllowed", "status": "False", "lastTransitionTime": since, **more}


ALLOWS = {"observedGeneration": 1, "disruptionsAllowed": 1}
BLOCKING: list[tuple[str, list[Manifest], list[str]]] = [
    ("none", [], []),
    ("allows it", [mine(**ALLOWS)], []),
    ("does not allow it", [mine(**NEVER)], ["a"]),
    ("selects other pods", [budget("a", {"matchLabels": {"group": "x"}}, **NEVER)], []),
    ("an empty selector selects all", [budget("a", {}, **NEVER)], ["a"]),
    ("without a selector, none", [budget("a", None, **NEVER)], []),
    ("an expression", [budget("a", {"matchExpressions": [{"key": "app", "operator": "Exists"}]}, **NEVER)], ["a"]),
    ("no status yet", [mine()], ["a"]),
    ("the status of an earlier specification", [mine(generation=2, **ALLOWS)], ["a"]),
    ("two that allow it", [mine("b", **ALLOWS), mine("a", **ALLOWS)], ["a", "b"]),
    ("two, of which one does not allow it", [mine("b", **NEVER), mine("a", **ALLOWS)], ["a", "b"]),
    ("two, of which one selects other pods", [mine("b", **ALLOWS), budget("a", None, **NEVER)], []),
]


@pytest.mark.parametrize(("budgets", "names"), [row[1:] for row in BLOCKING], ids=[row[0] for row in BLOCKING])
def test_blocking_budgets(budgets: list[Manifest], names: list[str]) -> None:
    assert [each["metadata"]["name"] for each in blocking_budgets(POD, budgets)] == names


SELECTED_TWICE = (
    "PodDisruptionBudgets a, b select the same pods, and Kubernetes evicts no pod that more than one selects"
)
LASTING: list[tuple[str, list[Manifest], str | None]] = [
    ("never", [mine(**NEVER)], "PodDisruptionBudget a does not allow the eviction of any pod"),
    ("pods that have just lost their owner", [mine(**NOT_COUNTED, conditions=[not_allowed(59)])], None),
    ("several", [mine("a"), mine("b")], SELECTED_TWICE),
    ("not yet observed", [mine(generation=2, **NEVER)], None),
    ("no status yet", [mine()], None),
    ("a pod has just been evicted", [mine(**NEVER, disruptedPods={"p": SINCE_LONG})], None),
    ("an unhealthy pod", [mine(**NOT_NOW, conditions=[not_allowed(59)])], None),
    ("an unhealthy pod, without conditions", [mine(**NOT_NOW)], None),
    (
        "an unhealthy pod for a long time",
        [mine(**NOT_NOW, conditions=[not_allowed(60, reason="InsufficientPods", message="")])],
        f"PodDisruptionBudget a has not allowed any eviction since {SINCE_LONG}",
    ),
    (
        "its controller fails",
        [mine(**NOT_NOW, conditions=[not_allowed(60, reason="SyncFailed", message="jobs.batch has no scale")])],
        f"PodDisruptionBudget a has not allowed any eviction since {SINCE_LONG} (jobs.batch has no scale)",
    ),
]


@pytest.mark.parametrize(("budgets", "cause"), [row[1:] for row in LASTING], ids=[row[0] for row in LASTING])
def test_lasting_refusals(budgets: list[Manifest], cause: str | None) -> None:
    end = "only one selects them" if len(budgets) > 1 else "it allows it"
    assert lasting_refusal(tuple(budgets), NOW) == (None if cause is None else (cause, end))


def test_a_budget_that_is_not_counted_again() -> None:
    assert lasting_refusal((mine(**NOT_COUNTED, conditions=[not_allowed(60)]),), NOW) == (
        f"PodDisruptionBudget a has not counted its pods since {SINCE_LONG}",
        "it does, as after any change: kubectl annotate pdb a counted=again --overwrite",
    )
