# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Drains in the plan of a cluster: the write of the StatefulSet, then the requests to Druid, and what is reported."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import (
    VERSION,
    active_tasks,
    task_payload,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import Unavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import limits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import Post
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    decided,
    inputs,
    with_answers,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.features.draining.planning import (
    ANY,
    GROUP,
    NAME,
    NOW,
    PENDING,
    SET,
    STRATEGY,
    document,
    druid,
    live,
    of_workers,
    partition_of,
    planned,
    reading,
    recorded,
    requests,
    while_reading,
    worker,
)


def test_at_rest_druid_is_not_asked() -> None:
    which = rolling.cluster(**STRATEGY)
    assert planned(inputs(which, live(which))).steps == ()


def test_a_changed_template_is_written_with_a_partition_of_all_pods() -> None:
    which = rolling.cluster(**STRATEGY)
    changed = rolling.cluster(nodes={GROUP: {"image": rolling.NEW}}, **STRATEGY)
    plan = planned(inputs(changed, live(which)), {question: Unavailable(questions.NO_ROUTER, "") for question in ANY})
    (step,) = of_workers(plan)
    assert step.manifest["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 2}
    assert step.restart.pods == 2
    # The partition is that of a drain, although no worker is recorded yet.
    assert step.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION] == "[]"
    assert any("restarts 2" in line or "2 pods" in line for line in plan_output.lines(plan)), plan_output.lines(plan)


def test_a_blocked_drain_counts_as_it_would_be_written() -> None:
    """Whether the spec restarts pods is another question than what the write of a drained group does to them."""
    which, image = rolling.cluster(**STRATEGY), {"image": rolling.NEW}
    node = {**image, "replicas": 0, "runtime.properties": "druid.worker.capacity=2"}
    changed = rolling.cluster(nodes={GROUP: node, "brokers": image}, **STRATEGY)
    found = inputs(changed, live(which), now=NOW)
    config_map = ObjectKey("ConfigMap", f"{NAME}-config")
    rejected = Verdict(Apply(manifest=found.desired.groups[GROUP][0]), rejection=Finding("Rejected", "No.", GROUP))
    plan = decided(with_answers(found, answers=druid(worker(0), worker(1)), verdicts={config_map: rejected}))
    assert rolling.restarted(plan) == []
    assert ["brokers restarts after middlemanagers" in text for text in plan.rollout_warnings] == [True]


def test_the_record_is_written_before_the_worker_is_disabled() -> None:
    which = rolling.cluster(**STRATEGY)
    plan = planned(inputs(which, live(which, [], partition=2, **PENDING), now=NOW), druid(worker(0), worker(1)))
    write, request = of_workers(plan)
    assert write.key == SET
    found = json.loads(write.manifest["metadata"]["annotations"][names.DRAIN_ANNOTATION])
    assert [(each["pod"], each["disabledByUs"]) for each in found] == [(f"{NAME}-1", True)]
    assert isinstance(request, Post)
    assert request.path == "/druid/indexer/v1/worker/10.0.0.1:8091/disable"
    assert plan_output.lines(plan)[-1] == f"disable worker 10.0.0.1:8091 of pod {NAME}-1 in Druid"


def test_reports_what_it_waits_for() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, [recorded(1)], partition=2, **PENDING)
    drained, answers = inputs(which, observed, now=NOW), druid(worker(0), worker(1, "t", is_enabled=False))
    assert requests(planned(drained, answers)) == []
    found = document(drained, answers)
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
    assert isinstance(request, Post)
    assert request.path == "/druid/indexer/v1/supervisor/pages/taskGroups/handoff"
    assert request.body == {"taskGroupIds": [7]}


# What the supervisor answers about its active tasks: another task reads on, or there is no answer.
NOT_READING = [frozenset({"next"}), frozenset(), Unavailable(questions.UNREACHABLE, "503.")]


@pytest.mark.parametrize("active", NOT_READING)
@pytest.mark.parametrize("before", [{}, {"handedOff": "2025-12-31T23:50:00Z"}])
def test_a_task_that_does_not_read_any_more_is_not_handed_off(active: Any, before: dict[str, Any]) -> None:
    answers = {**reading("k"), active_tasks("pages"): active}
    found = planned(while_reading(**before), druid(worker(1, "k", is_enabled=False), answers=answers))
    assert requests(found) == []


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
    plan = planned(inputs(which, unready, now=NOW), {questions.WORKERS: Unavailable(questions.UNREACHABLE, "503.")})
    assert partition_of(plan) == (1 if is_released else 2)


def test_nothing_is_handed_off_in_an_old_druid() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, [recorded(1)], partition=2, **PENDING)
    answers = druid(worker(1, "k", is_enabled=False), answers={VERSION: (30,)})
    assert requests(planned(inputs(which, observed, now=NOW), answers)) == []


def test_the_pod_goes_when_its_tasks_have_ended() -> None:
    which = rolling.cluster(**STRATEGY)
    observed = live(which, [recorded(1, idle="2025-12-31T23:59:50Z")], partition=2, **PENDING)
    drained, answers = inputs(which, observed, now=NOW), druid(worker(0), worker(1, is_enabled=False))
    (write,) = of_workers(planned(drained, answers))
    assert write.manifest["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 1}
    assert document(drained, answers)["middleManagerDrain"]["phase"] == "WaitingForPod"


def test_fewer_replicas_wait() -> None:
    before = rolling.cluster(**STRATEGY)
    which = rolling.cluster(nodes={GROUP: {"replicas": 1}}, **STRATEGY)
    observed = live(before)
    write, request = of_workers(planned(inputs(which, observed, now=NOW), druid(worker(0), worker(1))))
    assert write.manifest["spec"]["replicas"] == 2
    assert isinstance(request, Post)
    assert request.path.endswith("10.0.0.1:8091/disable")


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
    assert isinstance(request, Post)
    assert request.path.endswith("10.0.0.1:8091/enable")


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


def test_limits_are_durations_and_zero_is_the_default() -> None:
    strategy = {"drainTimeout": "90m", "podReadyTimeout": "0"}
    assert limits(rolling.cluster(middleManagerDrainStrategy=strategy)) == (5400, 1800, 1)


@pytest.mark.parametrize("value", [1, 3, "25%"])
def test_the_number_of_workers_is_a_limit(value: int | str) -> None:
    assert limits(rolling.cluster(middleManagerDrainStrategy={"maxUnavailable": value})).max_unavailable == value
