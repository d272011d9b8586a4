# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a worker is drained, and what is reported if Druid can never be asked."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import (
    VERSION,
    active_tasks,
    task_payload,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    DruidState,
    Question,
    Unavailable,
    Worker,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.workers import worker_of
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import decided, inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.features.draining.planning import (
    GROUP,
    NOW,
    PENDING,
    STRATEGY,
    druid,
    live,
    planned,
    reading,
    recorded,
    requests,
    while_reading,
    worker,
)

POD: dict[str, Any] = {
    "metadata": {"name": "mm-1", "namespace": "druid"},
    "spec": {"hostname": "mm-1", "subdomain": "mm"},
    "status": {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
}
ON_NODE = {**POD, "spec": {**POD["spec"], "hostNetwork": True}}


def workers(*names: str) -> tuple[Worker, ...]:
    return tuple(Worker(name, True, 2, ()) for name in names)


@pytest.mark.parametrize(
    "name",
    [
        "10.0.0.1:8091",
        "[fd00::1]:8091",
        "mm-1:8091",
        "mm-1.mm:8091",
        "mm-1.mm.druid:8091",
        "mm-1.mm.druid.svc:8091",
        "mm-1.mm.druid.svc.cluster.local:8091",
        "MM-1.mm.druid.svc.example.com:8291",
    ],
)
def test_finds_it_by_address(name: str) -> None:
    found = worker_of(POD, 8091, workers("10.0.0.2:8091", name, "mm-10.mm.druid.svc.cluster.local:8091"))
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "name", ["10.0.0.11:8091", "mm-1.mm.other.svc.cluster.local:8091", "mm-1.other:8091", "mm-1.example.com:8091", ""]
)
def test_no_other_one(name: str) -> None:
    assert worker_of(POD, 8091, workers(name)) is None


def test_pods_on_the_network_of_a_node_differ_in_the_port() -> None:
    found = worker_of(ON_NODE, 8092, workers("10.0.0.1:8091", "10.0.0.1:8092"))
    assert found is not None
    assert found.name == "10.0.0.1:8092"
    assert worker_of(ON_NODE, 8093, workers("10.0.0.1:8091")) is None


LASTING = [
    questions.NO_ROUTER,
    questions.NOT_CONNECTABLE,
    questions.UNAUTHORIZED,
    questions.UNSUPPORTED,
    questions.INVALID,
]


@pytest.mark.parametrize("cause", [*LASTING, questions.UNREACHABLE, questions.NOT_READY])
@pytest.mark.parametrize(("strategy", "effect"), [(STRATEGY, "after the drainTimeout"), ({}, "were disabled stay so")])
def test_warns_if_the_workers_can_never_be_asked(cause: str, strategy: dict[str, Any], effect: str) -> None:
    which = rolling.cluster(**strategy)
    observed = live(which, [recorded(1)], partition=2, **PENDING)
    plan = planned(inputs(which, observed, now=NOW), {questions.WORKERS: Unavailable(cause, "Why.")})
    warnings = [text for text in plan.rollout_warnings if f"group {GROUP}" in text and text.endswith(": Why")]
    assert [effect in text for text in warnings] == ([True] if cause in LASTING else [])


def test_does_not_warn_about_workers_that_nothing_is_done_with() -> None:
    which = rolling.cluster(**STRATEGY)
    known = DruidState({questions.WORKERS: Unavailable(questions.UNAUTHORIZED, "Why.")})
    assert decided(inputs(which, live(which), now=NOW, druid=known)).rollout_warnings == ()


NO_HANDOFF: list[tuple[Question[Any], str, bool]] = [
    (questions.RUNNING_TASKS, questions.UNAUTHORIZED, True),
    (questions.RUNNING_TASKS, questions.UNREACHABLE, False),
    (questions.SUPERVISORS, questions.UNAUTHORIZED, True),
    (questions.SUPERVISORS, questions.UNSUPPORTED, True),
    (VERSION, questions.INVALID, True),
    (VERSION, questions.UNREACHABLE, False),
    (task_payload("k"), questions.UNAUTHORIZED, True),
    # The task has ended since.
    (task_payload("k"), questions.UNSUPPORTED, False),
    (active_tasks("pages"), questions.UNAUTHORIZED, True),
    (active_tasks("pages"), questions.INVALID, True),
    (active_tasks("pages"), questions.UNSUPPORTED, False),
]


@pytest.mark.parametrize(("question", "cause", "warns"), NO_HANDOFF)
def test_warns_if_streams_can_never_be_handed_off(question: Question[Any], cause: str, warns: bool) -> None:
    answers = {**reading("k"), question: Unavailable(cause, "Why.")}
    plan = planned(while_reading(), druid(worker(1, "k", is_enabled=False), answers=answers))
    expected = [f"task groups that the workers of group {GROUP} read are not handed off: Why"]
    assert (requests(plan), list(plan.rollout_warnings)) == ([], expected if warns else [])


@pytest.mark.parametrize("question", [questions.SUPERVISORS, VERSION])
def test_a_batch_needs_no_handoff(question: Question[Any]) -> None:
    answers = druid(worker(1, "b", is_enabled=False), answers={question: Unavailable(questions.UNAUTHORIZED, "Why.")})
    assert planned(while_reading(), answers).rollout_warnings == ()
