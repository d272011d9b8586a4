# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drains in the plan of a cluster: the write of the StatefulSet, then the requests to Druid, and what is reported."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.settings import limits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.workers import (
    VERSION,
    active_tasks,
    task_payload,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import (
    AskDruid,
    DryRun,
    DryRunTemplates,
    Inputs,
    Verdict,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import status
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import questions, state
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.state import DruidState, Question, Unavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.gather import Need
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

GROUP, NAME = "middlemanagers", "druid-c-middlemanagers"
SET = ObjectKey("StatefulSet", NAME)
STRATEGY: dict[str, Any] = {"middleManagerDrainStrategy": {}}
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PENDING = {"updateRevision": "b", "updatedReplicas": 0}


def worker(ordinal: int, *tasks: str, is_enabled: bool = True) -> questions.Worker:
    return questions.Worker(f"10.0.0.{ordinal}:8091", is_enabled, 2, tasks)


def druid(*workers: questions.Worker, answers: dict[Question[Any], Any] | None = None) -> dict[Question[Any], Any]:
    kafka = questions.Task("k", "index_kafka", "pages", None, None)
    healthy = questions.Supervisor("pages", "RUNNING", "RUNNING", True, False)
    known = {questions.WORKERS: workers, questions.RUNNING_TASKS: (kafka,), questions.SUPERVISORS: (healthy,)}
    return {**known, VERSION: (33,), **(answers or {})}


def live(cluster: Cluster, annotation: Any = None, partition: int = 0, **more: Any) -> Observed:
    """Return the live state: workers that announce the IPs of their pods; `more` is the status of the StatefulSet."""
    found = rolling.observed(cluster, **({GROUP: more} if more else {}))
    workload = found.objects[SET]
    annotations = {**(workload["metadata"].get("annotations") or {})}
    if annotation is not None:
        annotations[names.DRAIN_ANNOTATION] = json.dumps(annotation)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    workload = {
        **workload,
        "metadata": {**workload["metadata"], "annotations": annotations},
        "spec": {**workload["spec"], "updateStrategy": strategy},
    }
    pods = [
        {**each, "status": {**each["status"], "podIP": f"10.0.0.{each['metadata']['name'][-1]}"}}
        for each in found.of_kind("Pod")
        if each["metadata"]["name"].startswith(NAME)
    ]
    return found.with_objects([workload, *pods])


def planned(which: Inputs, answers: dict[Question[Any], Any] | None = None) -> Plan:
    """Return the plan; the API server changes nothing in what it dry runs, and Druid gives these answers."""
    found: Plan | Need = decide(which)
    while isinstance(found, Need):
        if isinstance(found, AskDruid):
            assert answers is not None, found.questions
            asked = {question: answers[question] for question in found.questions}
            which = replace(which, druid=(which.druid or DruidState()).with_answers(asked))
        elif isinstance(found, DryRun):
            which = replace(which, verdicts={each.key: Verdict(each, after=each.after) for each in found.steps})
        elif isinstance(found, DryRunTemplates):
            which = replace(which, templates={each.key: Verdict(each, after=each.after) for each in found.steps})
        else:
            raise AssertionError(found)
        found = decide(which)
    return found


def of_workers(plan: Plan) -> tuple[Step, ...]:
    return tuple(step for step in plan.steps if step.group == GROUP)


def requests(plan: Plan) -> list[str]:
    return [step.title for step in of_workers(plan) if step.request is not None]


def recorded(ordinal: int, **more: Any) -> dict[str, Any]:
    uid = f"uid-of-{NAME}-{ordinal}"
    return {"pod": f"{NAME}-{ordinal}", "uid": uid, "since": "2025-12-31T23:59:00Z", "disabledByUs": True, **more}


def document(plan: Plan, cluster: Cluster, observed: Observed) -> dict[str, Any]:
    return status(cluster, observed, plan.findings, {}, NOW, drain=plan.drain)


def test_at_rest_druid_is_not_asked() -> None:
    which = rolling.cluster(**STRATEGY)
    assert planned(inputs(which, live(which))).steps == ()


def test_a_changed_template_is_written_with_a_partition_of_all_pods() -> None:
    which = rolling.cluster(**STRATEGY)
    changed = rolling.cluster(nodes={GROUP: {"image": rolling.NEW}}, **STRATEGY)
    plan = planned(inputs(changed, live(which)), {question: Unavailable(state.NO_ROUTER, "") for question in ANY})
    (step,) = of_workers(plan)
    assert step.manifest["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 2}
    assert step.restarted_pods == 2
    # The partition is that of a drain, although no worker is recorded yet.
    assert step.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION] == "[]"
    assert any("restarts 2" in line or "2 pods" in line for line in plan_output.lines(plan)), plan_output.lines(plan)


ANY = (
    questions.SERVERS,
    questions.LOAD_STATUS,
    questions.SEGMENTS,
    questions.SUPERVISORS,
    questions.OVERLORD_LEADER,
    questions.COORDINATOR_LEADER,
    questions.WORKERS,
)


def test_the_record_is_written_before_the_worker_is_disabled() -> None:
    which = rolling.cluster(**STRATEGY)
    plan = planned(inputs(which, live(which, [], partition=2, **PENDING), now=NOW), druid(worker(0), worker(1)))
    write, request = of_workers(plan)
    assert write.key == SET
    found = json.loads(write.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION])
    assert [(each["pod"], each["disabledByUs"]) for each in found] == [(f"{NAME}-1", True)]
    assert request.request is not None
    assert request.request.path == "/druid/indexer/v1/worker/10.0.0.1:8091/disable"
    assert plan_output.lines(plan)[-1] == f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"


def test_reports_what_it_waits_for() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, [recorded(1)], partition=2, **PENDING)
    plan = planned(inputs(which, observed, now=NOW), druid(worker(0), worker(1, "t", is_enabled=False)))
    assert requests(plan) == []
    found = document(plan, which, observed)
    assert found["middleManagerDrain"] == {
        "statefulSet": NAME,
        "phase": "Draining",
        "podName": f"{NAME}-1",
        "podOrdinal": 1,
        "lastTransitionTime": "2025-12-31T23:59:00Z",
        "message": f"t still runs on pod {NAME}-1.",
    }
    progressing = next(each for each in found["conditions"] if each["type"] == "Progressing")
    assert f"Draining group {GROUP}: t still runs on pod {NAME}-1." in progressing["message"]


def test_requests_the_handoff_of_what_a_kafka_task_reads() -> None:
    found = planned(while_reading(), druid(worker(1, "k", is_enabled=False), answers=reading("k")))
    _write, request = of_workers(found)
    assert request.request is not None
    assert request.request.path == "/druid/indexer/v1/supervisor/pages/taskGroups/handoff"
    assert request.request.body == {"taskGroupIds": [7]}


# What the supervisor answers about its active tasks: another task reads on, or there is no answer.
NOT_READING = [frozenset({"next"}), frozenset(), Unavailable(state.UNREACHABLE, "503.")]


@pytest.mark.parametrize("active", NOT_READING)
@pytest.mark.parametrize("before", [{}, {"handedOff": "2025-12-31T23:50:00Z"}])
def test_a_task_that_does_not_read_any_more_is_not_handed_off(active: Any, before: dict[str, Any]) -> None:
    answers = {**reading("k"), active_tasks("pages"): active}
    found = planned(while_reading(**before), druid(worker(1, "k", is_enabled=False), answers=answers))
    assert requests(found) == []


def while_reading(**record: Any) -> Inputs:
    which = rolling.cluster(**STRATEGY)
    return inputs(which, live(which, [recorded(1, **record)], partition=2, **PENDING), now=NOW)


def reading(*tasks: str) -> dict[Question[Any], Any]:
    payload = {"payload": {"dataSource": "pages", "ioConfig": {"taskGroupId": 7}}}
    status = {"payload": {"activeTasks": [{"id": each} for each in tasks], "publishingTasks": [{"id": "p"}]}}
    found: tuple[tuple[Question[Any], Any], ...] = (*((task_payload(each), payload) for each in tasks),)
    return {question: question.read(answer) for question, answer in (*found, (active_tasks("pages"), status))}


def test_ids_are_quoted() -> None:
    assert active_tasks("a/b c").path == "/druid/indexer/v1/supervisor/a%2Fb%20c/status"
    assert task_payload("a/b").path == "/druid/indexer/v1/task/a%2Fb"


# The states of the containers of a pod that is not ready, and whether it is released although Druid is unreachable.
STATES: list[tuple[list[dict[str, Any]], bool]] = [
    ([], True),
    ([{"waiting": {"reason": "CrashLoopBackOff"}}], True),
    ([{"terminated": {"exitCode": 1}}], True),
    ([{"running": {}}], False),
    ([{"waiting": {}}, {"running": {"startedAt": "2025-12-31T23:59:00Z"}}], False),
]


@pytest.mark.parametrize(("states", "is_released"), STATES)
def test_druid_is_unreachable_and_a_pod_is_not_ready(states: list[dict[str, Any]], is_released: bool) -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, [], partition=2, **PENDING)
    pod = observed.objects[ObjectKey("Pod", f"{NAME}-1")]
    conditions = [{"type": "Ready", "status": "False"}]
    status = {"conditions": conditions, "containerStatuses": [{"name": "c", "state": each} for each in states]}
    unready = observed.with_objects([{**pod, "status": {**pod["status"], **status}}])
    plan = planned(inputs(which, unready, now=NOW), {questions.WORKERS: Unavailable(state.UNREACHABLE, "503.")})
    assert partition_of(plan) == (1 if is_released else 2)


def partition_of(plan: Plan) -> int:
    write = of_workers(plan)[0]
    return int(write.manifest["spec"]["updateStrategy"]["rollingUpdate"]["partition"])


def test_nothing_is_handed_off_in_an_old_druid() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, [recorded(1)], partition=2, **PENDING)
    answers = druid(worker(1, "k", is_enabled=False), answers={VERSION: (30,)})
    assert requests(planned(inputs(which, observed, now=NOW), answers)) == []


def test_the_pod_goes_when_its_tasks_have_ended() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, [recorded(1, idle="2025-12-31T23:59:50Z")], partition=2, **PENDING)
    plan = planned(inputs(which, observed, now=NOW), druid(worker(0), worker(1, is_enabled=False)))
    (write,) = of_workers(plan)
    assert write.manifest["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 1}
    assert document(plan, which, observed)["middleManagerDrain"]["phase"] == "WaitingForPod"


def test_fewer_replicas_wait() -> None:
    before = rolling.cluster(**STRATEGY)
    which = rolling.cluster(nodes={GROUP: {"replicas": 1}}, **STRATEGY)
    observed = live(before)
    write, request = of_workers(planned(inputs(which, observed, now=NOW, latest=()), druid(worker(0), worker(1))))
    assert write.manifest["spec"]["replicas"] == 2
    assert request.request is not None
    assert request.request.path.endswith("10.0.0.1:8091/disable")


def test_a_drain_of_the_go_operator_is_continued() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, partition=2, **PENDING)
    theirs = {"statefulSet": NAME, "phase": "Draining", "podName": f"{NAME}-1", "podOrdinal": 1}
    before = {**theirs, "lastTransitionTime": "2025-12-31T23:00:01Z"}
    which_inputs = inputs(which, observed, now=NOW)
    which_inputs = replace(which_inputs, resource={**which_inputs.resource, "status": {"middleManagerDrain": before}})
    plan = planned(which_inputs, druid(worker(0), worker(1, "t", is_enabled=False)))
    (write,) = of_workers(plan)
    assert write.manifest["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 2}
    assert json.loads(write.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION])[0]["since"] == (
        "2025-12-31T23:00:01Z"
    )


def test_a_pod_of_the_go_operator_that_was_released_is_awaited() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, partition=1, **PENDING)
    theirs = {"statefulSet": NAME, "phase": "WaitingForPod", "podName": f"{NAME}-1", "podOrdinal": 1}
    before = {**theirs, "oldPodUID": f"uid-of-{NAME}-1", "lastTransitionTime": "2025-12-31T23:59:01Z"}
    which_inputs = inputs(which, observed, now=NOW)
    which_inputs = replace(which_inputs, resource={**which_inputs.resource, "status": {"middleManagerDrain": before}})
    plan = planned(which_inputs, druid(worker(0)))
    (write,) = of_workers(plan)
    assert write.manifest["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 1}


def test_without_the_strategy_the_partition_and_the_worker_are_restored() -> None:
    which = rolling.cluster()
    observed = live(which, [recorded(1)], partition=2)
    plan = planned(inputs(which, observed, now=NOW), druid(worker(0), worker(1, is_enabled=False)))
    _write, request = of_workers(plan)
    assert request.request is not None
    assert request.request.path.endswith("10.0.0.1:8091/enable")


def test_a_group_that_is_drained_is_not_up_to_date() -> None:
    """The partition of a drain is temporary: other groups must not restart meanwhile."""
    which = rolling.cluster(**STRATEGY)
    states = {each.key: each for each in group_states(which, live(which, [], partition=2, **PENDING))}
    assert (states[GROUP].is_updated, states[GROUP].is_complete) == (False, False)


def test_a_partition_of_the_spec_is_not_temporary() -> None:
    strategy = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}
    which = rolling.cluster(nodes={GROUP: strategy}, **STRATEGY)
    states = {each.key: each for each in group_states(which, live(which, partition=2, **PENDING))}
    assert states[GROUP].is_updated


# Pods of an old revision are kept by a partition of the spec, or by its update strategy, and now are not any more.
KEPT: list[dict[str, Any]] = [{"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, {"type": "OnDelete"}]
# Another group is about to restart: historicals, which are first in the order.
OTHER = {"historicals": {"image": rolling.NEW}}


def lowered(
    before: dict[str, Any], nodes: dict[str, Any] | None = None, annotation: Any = None
) -> tuple[Cluster, Inputs]:
    which = rolling.cluster(nodes=nodes, **STRATEGY)
    observed = live(rolling.cluster(**STRATEGY), annotation, **PENDING)
    workload = observed.objects[SET]
    spec = {**workload["spec"], "updateStrategy": before}
    return which, inputs(which, observed.with_objects([{**workload, "spec": spec}]), now=NOW)


@pytest.mark.parametrize("before", KEPT)
def test_pods_that_are_not_kept_any_more_are_a_restart(before: dict[str, Any]) -> None:
    _which, found = lowered(before)
    (step,) = of_workers(planned(found, unknown()))
    assert (step.restarted_pods, step.manifest["spec"]["updateStrategy"]) == (2, KEPT[0])
    assert step.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION] == "[]"


@pytest.mark.parametrize("before", KEPT)
def test_pods_that_are_not_kept_any_more_wait_for_their_turn(before: dict[str, Any]) -> None:
    _which, found = lowered(before, OTHER)
    plan = planned(found, unknown())
    assert (plan.restarts, plan.pending_restarts) == (("historicals",), (GROUP,))
    assert of_workers(plan) == ()


@pytest.mark.parametrize("before", KEPT)
def test_workers_are_drained_for_fewer_replicas_while_their_group_waits_for_its_turn(before: dict[str, Any]) -> None:
    _which, found = lowered(before, {**OTHER, GROUP: {"replicas": 1}})
    plan = planned(replace(found, latest=()), {**unknown(), **druid(worker(0), worker(1))})
    write, request = of_workers(plan)
    assert write.after is not None
    assert write.after["spec"]["updateStrategy"] == before
    assert request.title == f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"


def test_a_group_that_waits_for_its_turn_keeps_its_update_strategy() -> None:
    which = rolling.cluster(rolling.NEW, nodes={GROUP: {"workloadAnnotations": {"a": "b"}}}, **STRATEGY)
    plan = planned(inputs(which, live(rolling.cluster(**STRATEGY)), now=NOW), unknown())
    assert plan.pending_restarts[0] == GROUP
    (step,) = of_workers(plan)
    assert step.after is not None
    assert step.after["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}
    assert names.DRAIN_ANNOTATION not in step.after["metadata"]["annotations"]
    assert names.DRAIN_ANNOTATION not in step.manifest["metadata"]["annotations"]


def unknown() -> dict[Question[Any], Any]:
    return {question: Unavailable(state.NO_ROUTER, "") for question in ANY}


@pytest.mark.parametrize("before", KEPT)
def test_a_drain_that_has_begun_does_not_begin_again(before: dict[str, Any]) -> None:
    _which, found = lowered(before, annotation=[])
    plan = planned(found, druid(worker(0), worker(1)))
    assert requests(plan) == [f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"]


def repair(*, breaks: bool, labels: dict[str, str] | None = None) -> Plan:
    """Return the plan while brokers are to be restarted, and a worker is drained; another one is to be drained."""
    strategy = {"middleManagerDrainStrategy": {"maxUnavailable": 2}}
    three = {"replicas": 3, **({"workloadAnnotations": labels} if labels else {})}
    before = rolling.cluster(nodes={GROUP: {"replicas": 3}}, **strategy)
    which = rolling.cluster(nodes={GROUP: three, "brokers": {"image": rolling.NEW}}, **strategy)
    observed = live(before, [recorded(2, idle="2025-12-31T23:59:50Z")], partition=3, **PENDING)
    workload = observed.objects[ObjectKey("StatefulSet", "druid-c-brokers")]
    status = {**workload["status"], **({"readyReplicas": 1} if breaks else {})}
    broken = [rolling.pod("brokers", 1, waiting="CrashLoopBackOff")] if breaks else []
    observed = observed.with_objects([{**workload, "status": status}, *({"apiVersion": "v1", **pod} for pod in broken)])
    answers = {**unknown(), **druid(worker(0), worker(1), worker(2, is_enabled=False))}
    return planned(inputs(which, observed, now=NOW), answers)


def test_no_pod_is_released_while_another_group_is_repaired() -> None:
    plan = repair(breaks=True)
    assert (plan.restarts, plan.pending_restarts) == (("brokers",), (GROUP,))
    assert of_workers(plan) == ()


def test_nor_is_a_worker_disabled_that_is_not_recorded() -> None:
    (step,) = of_workers(repair(breaks=True, labels={"a": "b"}))
    found = json.loads(step.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION])
    assert [(each["pod"], each.get("released")) for each in found] == [(f"{NAME}-2", None)]
    assert step.after is not None
    assert step.after["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 3}


def test_a_pod_is_released_while_nothing_is_broken() -> None:
    plan = repair(breaks=False)
    assert (plan.restarts, plan.pending_restarts, partition_of(plan)) == ((GROUP,), ("brokers",), 2)
    assert requests(plan) == [f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"]


@pytest.mark.parametrize(
    ("node", "text"),
    [
        ({"kind": "Deployment"}, "Kubernetes decides which pods of a Deployment it replaces"),
        ({"updateStrategy": {"type": "OnDelete"}}, "its pods are replaced when they are deleted"),
        ({"hpAutoscaler": {"maxReplicas": 3, "minReplicas": 1}}, "when its autoscaler lowers its replicas"),
        ({"workloadAnnotations": {names.DRAIN_ANNOTATION: "[]"}}, "drained workers are recorded there"),
    ],
)
def test_warns_where_it_has_no_effect(node: dict[str, Any], text: str) -> None:
    which = rolling.cluster(nodes={GROUP: node}, **STRATEGY)
    assert any(text in warning for warning in planned(inputs(which, rolling.observed(which))).warnings)


LASTING = [state.NO_ROUTER, state.NOT_CONNECTABLE, state.UNAUTHORIZED, state.UNSUPPORTED, state.INVALID]


@pytest.mark.parametrize("cause", [*LASTING, state.UNREACHABLE, state.NOT_READY])
@pytest.mark.parametrize(("strategy", "effect"), [(STRATEGY, "after the drainTimeout"), ({}, "were disabled stay so")])
def test_warns_if_the_workers_can_never_be_asked(cause: str, strategy: dict[str, Any], effect: str) -> None:
    which = rolling.cluster(**strategy)
    observed = live(which, [recorded(1)], partition=2, **PENDING)
    plan = planned(inputs(which, observed, now=NOW), {questions.WORKERS: Unavailable(cause, "Why.")})
    warnings = [text for text in plan.rollout_warnings if f"group {GROUP}" in text and text.endswith(": Why")]
    assert [effect in text for text in warnings] == ([True] if cause in LASTING else [])


def test_does_not_warn_about_workers_that_nothing_is_done_with() -> None:
    which = rolling.cluster(**STRATEGY)
    known = DruidState({questions.WORKERS: Unavailable(state.UNAUTHORIZED, "Why.")})
    assert planned(replace(inputs(which, live(which), now=NOW), druid=known)).rollout_warnings == ()


NO_HANDOFF: list[tuple[Question[Any], str, bool]] = [
    (questions.RUNNING_TASKS, state.UNAUTHORIZED, True),
    (questions.RUNNING_TASKS, state.UNREACHABLE, False),
    (questions.SUPERVISORS, state.UNAUTHORIZED, True),
    (questions.SUPERVISORS, state.UNSUPPORTED, True),
    (VERSION, state.INVALID, True),
    (VERSION, state.UNREACHABLE, False),
    (task_payload("k"), state.UNAUTHORIZED, True),
    # The task has ended since.
    (task_payload("k"), state.UNSUPPORTED, False),
    (active_tasks("pages"), state.UNAUTHORIZED, True),
    (active_tasks("pages"), state.INVALID, True),
    (active_tasks("pages"), state.UNSUPPORTED, False),
]


@pytest.mark.parametrize(("question", "cause", "warns"), NO_HANDOFF)
def test_warns_if_streams_can_never_be_handed_off(question: Question[Any], cause: str, warns: bool) -> None:
    answers = {**reading("k"), question: Unavailable(cause, "Why.")}
    plan = planned(while_reading(), druid(worker(1, "k", is_enabled=False), answers=answers))
    expected = [f"task groups that the workers of group {GROUP} read are not handed off: Why"]
    assert (requests(plan), list(plan.rollout_warnings)) == ([], expected if warns else [])


@pytest.mark.parametrize("question", [questions.SUPERVISORS, VERSION])
def test_a_batch_needs_no_handoff(question: Question[Any]) -> None:
    answers = druid(worker(1, "b", is_enabled=False), answers={question: Unavailable(state.UNAUTHORIZED, "Why.")})
    assert planned(while_reading(), answers).rollout_warnings == ()


def test_limits_are_durations_and_zero_is_the_default() -> None:
    strategy = {"drainTimeout": "90m", "podReadyTimeout": "0"}
    assert limits(rolling.cluster(middleManagerDrainStrategy=strategy)) == (5400, 1800, 1)


@pytest.mark.parametrize("value", [1, 3, "25%"])
def test_the_number_of_workers_is_a_limit(value: int | str) -> None:
    assert limits(rolling.cluster(middleManagerDrainStrategy={"maxUnavailable": value})).max_unavailable == value
