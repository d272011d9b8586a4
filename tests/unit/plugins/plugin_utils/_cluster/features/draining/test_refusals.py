# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is reported if Druid can never be asked for its workers, or what they read."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.workers import (
    VERSION,
    active_tasks,
    task_payload,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import questions
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import (
    DruidState,
    Question,
    Unavailable,
)
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
