# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which steps of a rollout are written now, and which wait for the pods of other groups."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.gate import Gated, gate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.rolling import NEW, OLD
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]

ONE_UNREADY = {"readyReplicas": 1}
NONE_READY = {"readyReplicas": 0}
# The second pod of the group is not ready, and Kubernetes reports why.
CRASHING = {**ONE_UNREADY, "pod": {"waiting": "CrashLoopBackOff"}}
NO_ROOM = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
UNPLACED = {**ONE_UNREADY, "pod": {"conditions": [NO_ROOM]}}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
RECREATED = {"observedGeneration": 0, "replicas": 0, "readyReplicas": 0, "updatedReplicas": 0, "pod": READY}
ROLLING = {"updateRevision": "b", "updatedReplicas": 1, "readyReplicas": 1}
UPGRADED = rolling.cluster(NEW)
DOWNGRADED = rolling.cluster(OLD)
ORDER = ["historicals", "middlemanagers", "brokers", "coordinators"]


def gated(desired: Cluster, live: Observed) -> Gated:
    return gate(rolling.steps(desired, live), inputs(desired, live))


def observed(cluster: Cluster, states: dict[str, dict[str, Any]]) -> Observed:
    """Return the live state; `pod` in a state describes the second pod of the group."""
    status = {key: {name: value for name, value in state.items() if name != "pod"} for key, state in states.items()}
    pods = [{"apiVersion": "v1", **rolling.pod(key, 1, **each["pod"])} for key, each in states.items() if "pod" in each]
    return rolling.observed(cluster, **status).with_objects(pods)


def restarts(steps: tuple[Step, ...]) -> list[str]:
    return [step.group or "" for step in steps if step.restart.pods]


# (id, live image, states that differ, desired cluster, groups that restart now, groups that restart later)
TABLE: list[tuple[str, str, dict[str, Any], Cluster, list[str], list[str]]] = [
    ("an upgrade", OLD, {}, UPGRADED, ["historicals"], ["middlemanagers", "brokers", "coordinators"]),
    ("a downgrade", NEW, {}, DOWNGRADED, ["coordinators"], ["brokers", "middlemanagers", "historicals"]),
    ("all at once", OLD, {}, rolling.cluster(NEW, rollingDeploy=False), ORDER, []),
    ("all at once, a downgrade", NEW, {}, rolling.cluster(OLD, rollingDeploy=False), ORDER[::-1], []),
    (
        "a specified order",
        OLD,
        {},
        rolling.cluster(NEW, rolloutOrder=["coordinator", "broker"]),
        ["coordinators"],
        ["brokers", "historicals", "middlemanagers"],
    ),
    ("another group is rolling", OLD, {"brokers": ROLLING}, UPGRADED, ["brokers"], [ORDER[0], ORDER[1], ORDER[3]]),
    ("a later group lost a pod", OLD, {"coordinators": ONE_UNREADY}, UPGRADED, ["coordinators"], ORDER[:3]),
    ("the first of two that lost a pod", OLD, {"brokers": ONE_UNREADY, "coordinators": ONE_UNREADY}, UPGRADED,
     ["brokers"], [ORDER[0], ORDER[1], ORDER[3]]),
    ("a broken group is repaired", OLD, {"historicals": ROLLING, "brokers": NONE_READY}, UPGRADED,
     ["historicals", "brokers"], ["middlemanagers", "coordinators"]),
    ("a broken group is repaired while another one is not ready", OLD,
     {"historicals": ONE_UNREADY, "brokers": CRASHING}, UPGRADED, ["brokers"], [ORDER[0], ORDER[1], ORDER[3]]),
    ("not while another group is rolling", OLD, {"historicals": ROLLING, "brokers": CRASHING},
     rolling.cluster(OLD, {"brokers": {"image": NEW}}), [], ["brokers"]),
    ("nor before the controller has observed its change", OLD,
     {"historicals": {"observedGeneration": 0}, "brokers": CRASHING}, rolling.cluster(OLD, {"brokers": {"image": NEW}}),
     [], ["brokers"]),
    ("one of several broken groups", OLD, dict.fromkeys(ORDER[:3], CRASHING), UPGRADED, ["historicals"], ORDER[1:]),
    ("one of several groups whose pods do not fit", OLD, dict.fromkeys(ORDER[1:], UNPLACED), UPGRADED,
     ["middlemanagers"], [ORDER[0], *ORDER[2:]]),
    ("a fix in the middle of a rollout", OLD, {"historicals": ONE_UNREADY, "brokers": ROLLING},
     rolling.cluster(OLD, {"brokers": {"image": NEW}}), ["brokers"], []),
    ("a recreated workload has yet to adopt its pods", OLD, dict.fromkeys(ORDER[:2], RECREATED), UPGRADED,
     ["historicals"], ORDER[1:]),
    ("a stopped group has no pods", OLD, {}, rolling.cluster(NEW, {"historicals": {"stopped": True}}),
     ["middlemanagers"], ["brokers", "coordinators"]),
    ("a group with OnDelete does not wait", OLD, {},
     rolling.cluster(NEW, {"historicals": {"updateStrategy": {"type": "OnDelete"}}}),
     ["middlemanagers"], ["brokers", "coordinators"]),
    ("one group only", OLD, {}, rolling.cluster(OLD, {"brokers": {"image": NEW}}), ["brokers"], []),
    ("not available for long enough", OLD, {"historicals": {"availableReplicas": 1}},
     rolling.cluster(NEW, minReadySeconds=30), ["historicals"], ["middlemanagers", "brokers", "coordinators"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("image", "states", "desired", "now", "later"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_restarts(image: str, states: Any, desired: Cluster, now: list[str], later: list[str]) -> None:
    found = gated(desired, observed(rolling.cluster(image), states))
    assert restarts(found.steps) == now
    assert restarts(found.later) == later


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize(("before", "after", "order"), [(OLD, NEW, ORDER), (NEW, OLD, ORDER[::-1])])
def test_a_group_that_cannot_be_written_holds_those_that_restart_after_it(
    before: str, after: str, order: list[str], in_order: bool
) -> None:
    """As one that is blocked does, also if all restart at the same time; not if the user has said otherwise."""
    annotations = {} if in_order else {"druid.apache.org/restart-out-of-order": "true"}
    desired = rolling.cluster(after, annotations=annotations, rollingDeploy=False)
    found = gated(desired, rolling.observed(rolling.cluster(before)))
    of_restarts = [(step.group, step.follows) for step in found.steps if step.restart.pods]
    assert of_restarts == [(key, frozenset(order[:number] if in_order else ())) for number, key in enumerate(order)]


def test_pods_that_have_not_been_available_for_long_enough_block_other_groups() -> None:
    before = rolling.cluster(OLD, minReadySeconds=30)
    live = rolling.observed(before, brokers={"availableReplicas": 1})
    found = gated(rolling.cluster(NEW, {"brokers": {"image": OLD}}, minReadySeconds=30), live)
    assert restarts(found.steps) == []
    assert restarts(found.later) == ["historicals", "middlemanagers", "coordinators"]


def held(desired: Cluster, states: dict[str, Any], partition: int = 2, **status: Any) -> Gated:
    """Gate an upgrade of the brokers while the workers of the second group are drained for an earlier one."""
    live = observed(desired, {"middlemanagers": {"updateRevision": "b", "updatedReplicas": 0, **status}, **states})
    workload = live.objects[ObjectKey("StatefulSet", "druid-c-middlemanagers")]
    metadata = {**workload["metadata"], "annotations": {"druid.apache.org/drain": "[]"}}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    drained = {**workload, "metadata": metadata, "spec": {**workload["spec"], "updateStrategy": strategy}}
    upgraded = rolling.cluster(nodes={"brokers": {"image": NEW}})
    live = live.with_objects([drained])
    steps = [step for step in rolling.steps(upgraded, live) if step.group == "brokers"]
    return gate(steps, inputs(upgraded, live))


RELEASED = {"updatedReplicas": 1}
HELD: list[tuple[str, dict[str, Any], int, dict[str, Any], bool]] = [
    ("nothing is broken", {}, 2, {}, False),
    ("one is broken", {"brokers": CRASHING}, 2, {}, True),
    ("one does not fit", {"brokers": UNPLACED}, 2, {}, True),
    ("one is not ready for a moment", {"brokers": ONE_UNREADY}, 2, {}, False),
    ("none is ready", {"brokers": NONE_READY}, 2, {}, True),
    ("a pod was replaced, and the next one is drained", {"brokers": CRASHING}, 1, RELEASED, True),
    ("a pod is about to be replaced", {"brokers": CRASHING}, 1, {}, False),
    ("a pod is being replaced", {"brokers": CRASHING}, 1, {**RELEASED, **ONE_UNREADY}, False),
    ("the drain has not been observed", {"brokers": CRASHING}, 2, {"observedGeneration": 0}, False),
    ("a drained pod is not ready", {"brokers": CRASHING}, 2, ONE_UNREADY, False),
]


@pytest.mark.parametrize(
    ("states", "partition", "status", "is_repaired"), [row[1:] for row in HELD], ids=[row[0] for row in HELD]
)
def test_a_broken_group_is_repaired_while_another_one_is_drained(
    states: dict[str, Any], partition: int, status: dict[str, Any], is_repaired: bool
) -> None:
    found = held(rolling.cluster(), states, partition, **status)
    assert restarts(found.steps) == (["brokers"] if is_repaired else [])


def kinds(steps: tuple[Step, ...], group: str | None) -> list[str]:
    return [step.key.kind for step in steps if step.group == group]


def test_only_what_belongs_to_the_new_pods_waits() -> None:
    more = {
        "runtime.properties": "druid.service=druid/broker\na=b",
        "replicas": 3,
        "podDisruptionBudgetSpec": {"maxUnavailable": 1},
    }
    desired = rolling.cluster(NEW, {"brokers": more}, **{"common.runtime.properties": "c=d"})
    found = gated(desired, rolling.observed(rolling.cluster(OLD)))
    assert kinds(found.steps, None) == ["ConfigMap"]
    assert kinds(found.steps, "brokers") == ["StatefulSet", "PodDisruptionBudget"]
    assert kinds(found.later, "brokers") == ["ConfigMap", "StatefulSet"]
    [rest] = [step for step in found.steps if step.group == "brokers" and step.key.kind == "StatefulSet"]
    assert rest.live is not None
    assert rest.after is not None
    assert rest.after["spec"]["template"] == rest.live["spec"]["template"] == rest.manifest["spec"]["template"]
    assert rest.manifest["spec"]["replicas"] == rest.after["spec"]["replicas"] == 3


def test_a_missing_object_of_a_waiting_group_is_created() -> None:
    live = rolling.observed(rolling.cluster(OLD))
    found = gated(UPGRADED, live.without([ObjectKey("ConfigMap", "druid-c-brokers-config")]))
    assert [step.operation.verb for step in found.steps if step.group == "brokers"] == ["create"]


def test_no_group_restarts_while_another_one_is_missing() -> None:
    live = rolling.observed(rolling.cluster(OLD)).without([ObjectKey("StatefulSet", "druid-c-coordinators")])
    found = gated(UPGRADED, live)
    assert restarts(found.steps) == []
    assert restarts(found.later) == ["historicals", "middlemanagers", "brokers"]
    assert [step.operation.verb for step in found.steps if step.key.kind == "StatefulSet"] == ["create"]


def removal(name: str = "old", replicas: int = 2) -> Step:
    metadata = {"name": f"druid-c-{name}", "namespace": "ns", "labels": {}}
    live = {"kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": replicas, "template": {}}}
    return Delete(live=live)


PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}
ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}
AT_ONCE = {"updateStrategy": {"type": "RollingUpdate"}}


def test_pods_that_an_update_strategy_has_kept_restart_one_group_after_the_other() -> None:
    kept = {"historicals": PARTITION, "middlemanagers": ON_DELETE, "brokers": PARTITION}
    outdated = {"updateRevision": "b", "updatedReplicas": 1}
    live = rolling.observed(rolling.cluster(OLD, kept), historicals=outdated, middlemanagers=outdated)
    found = gated(rolling.cluster(OLD, dict.fromkeys(kept, AT_ONCE)), live)
    assert restarts(found.steps) == ["historicals"]
    assert restarts(found.later) == ["middlemanagers"]
    # Without pods of an old revision, it is written at once.
    assert {step.group for step in found.steps} == {"historicals", "brokers"}


def test_a_waiting_group_gets_everything_but_its_update_strategy() -> None:
    live = rolling.observed(
        rolling.cluster(OLD, {"historicals": PARTITION, "brokers": PARTITION}),
        historicals={"updateRevision": "b", "updatedReplicas": 1},
        brokers={"updateRevision": "b", "updatedReplicas": 1},
    )
    found = gated(rolling.cluster(OLD, {"historicals": AT_ONCE, "brokers": {**AT_ONCE, "replicas": 3}}), live)
    [rest] = [step for step in found.steps if step.group == "brokers"]
    assert rest.after is not None
    for spec in (rest.after["spec"], rest.manifest["spec"]):
        assert (spec["replicas"], spec["updateStrategy"]) == (3, PARTITION["updateStrategy"])
    assert rest.restart.pods == 0


IMMEDIATELY = {"druid.apache.org/remove-immediately": "true"}
# (id, states that differ, desired cluster, removed workload, whether it is deleted now)
REMOVALS: list[tuple[str, dict[str, Any], Cluster, Step, bool]] = [
    ("all are available", {}, rolling.cluster(OLD), removal(), True),
    ("one is not available", {"brokers": ONE_UNREADY}, rolling.cluster(OLD), removal(), False),
    ("one restarts", {}, UPGRADED, removal(), False),
    ("one restarts at once with others", {}, rolling.cluster(NEW, rollingDeploy=False), removal(), False),
    ("it has no pods", {"brokers": ONE_UNREADY}, rolling.cluster(OLD), removal(replicas=0), True),
    ("on request", {"brokers": ONE_UNREADY}, rolling.cluster(OLD, annotations=IMMEDIATELY), removal(), True),
]


@pytest.mark.parametrize(
    ("states", "desired", "removed", "is_deleted"), [row[1:] for row in REMOVALS], ids=[row[0] for row in REMOVALS]
)
def test_removals(states: Any, desired: Cluster, removed: Step, is_deleted: bool) -> None:
    live = rolling.observed(rolling.cluster(OLD), **states)
    found = gate((*rolling.steps(desired, live), removed), inputs(desired, live))
    assert (removed in found.steps, removed in found.later) == (is_deleted, not is_deleted)


def test_a_removed_group_stays_while_the_one_that_replaces_it_is_created() -> None:
    live, removed = rolling.observed(rolling.cluster(OLD)), removal()
    created = next(step for step in rolling.steps(rolling.cluster(OLD), Observed()) if step.key.kind == "StatefulSet")
    found = gate((created, removed), inputs(rolling.cluster(OLD), live))
    assert (found.steps, found.later) == ((created,), (removed,))


def test_a_group_of_another_kind_keeps_its_pods_until_they_are_replaced() -> None:
    before, after = rolling.cluster(OLD), rolling.cluster(OLD, {"brokers": {"kind": "Deployment"}})
    live = rolling.observed(before)
    former = live.objects[ObjectKey("StatefulSet", "druid-c-brokers")]
    removed = Delete(group="brokers", live=former)
    assert gate((*rolling.steps(after, live), removed), inputs(after, live)).later == (removed,)
    both = rolling.observed(after).with_objects([former])
    assert gate((removed,), inputs(after, both)).steps == (removed,)
    starting = rolling.observed(after, brokers=ONE_UNREADY).with_objects([former])
    assert gate((removed,), inputs(after, starting)).later == (removed,)
    stopped = {**former, "spec": {**former["spec"], "replicas": 0}}
    idle = Delete(group="brokers", live=stopped)
    assert gate((idle,), inputs(after, starting)).steps == (idle,)


STATES = [ONE_UNREADY, NONE_READY, ROLLING, CRASHING, UNPLACED, {**ROLLING, "pod": CRASHING["pod"]}, RECREATED]
states = st.fixed_dictionaries({}, optional={key: st.sampled_from(STATES) for key in ORDER})


@given(states=states, changed=st.sets(st.sampled_from(ORDER)))
def test_at_most_one_group_with_ready_pods_restarts(states: dict[str, Any], changed: set[str]) -> None:
    desired = rolling.cluster(OLD, {key: {"image": NEW} for key in changed})
    found = gated(desired, observed(rolling.cluster(OLD), states))
    now, later = set(restarts(found.steps)), set(restarts(found.later))
    assert now | later == changed
    assert not now & later
    working = {key for key in now if states.get(key) != NONE_READY}
    assert len(working) <= 1
    in_rollout = {key for key, state in states.items() if "updatedReplicas" in state}
    assert not in_rollout or working <= in_rollout, "a group restarts in the middle of the rollout of another one"
    if working and not working & states.keys():
        assert not states, "a group that is available restarts while another one is not"


@given(changed=st.sets(st.sampled_from(ORDER), min_size=1), image=st.sampled_from([OLD, NEW]))
def test_a_rollout_starts_whenever_all_pods_are_available(changed: set[str], image: str) -> None:
    before, after = (OLD, NEW) if image == NEW else (NEW, OLD)
    found = gated(
        rolling.cluster(before, {key: {"image": after} for key in changed}), rolling.observed(rolling.cluster(before))
    )
    first = min if image == NEW else max
    assert restarts(found.steps) == [first(changed, key=ORDER.index)]
