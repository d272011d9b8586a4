# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report and the metrics of a task of the kind DruidIngestion."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import (
    INGESTION,
    are_warnings_new,
    events_of_warnings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import (
    Finalizer,
    Reset,
    SaveLastApplied,
    Step,
    Terminate,
    Write,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import measure
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    rules_change,
    supervisor_change,
)

NEW: dict[str, Any] = {"observedGeneration": 3}


@pytest.mark.parametrize(
    ("steps", "previous", "expected"),
    [
        ((), {}, True),
        ((), {"observedGeneration": 2}, True),
        ((), NEW, False),
        ((Terminate("supervisor", "pages"),), NEW, True),
    ],
)
def test_are_warnings_new(steps: tuple[Step, ...], previous: dict[str, Any], expected: bool) -> None:
    assert are_warnings_new(steps, previous, NEW) is expected


STEPS = [
    (Write(supervisor_change(None, {})), "SupervisorUpdated", "Done: create supervisor pages."),
    (Write(rules_change({}, None)), "DatasourceConfigUpdated", "Done: remove retention rules of pages."),
    (Reset("pages"), "OffsetsReset", "Done: reset the offsets of supervisor pages."),
    (Terminate("supervisor", "pages"), "SupervisorTerminated", "Done: terminate supervisor pages."),
    (Terminate("task", "t_1"), "TaskShutDown", "Done: shut down task t_1."),
]


@pytest.mark.parametrize(("step", "reason", "message"), STEPS)
def test_event_of_a_step(step: Step, reason: str, message: str) -> None:
    assert step.event == EventText("Normal", reason, message)


def test_a_reset_of_offsets_is_destructive() -> None:
    """Records are skipped or read twice; a supervisor that is terminated keeps its offsets in Druid."""
    assert INGESTION.lines(Plan((Reset("pages"),))) == ["reset the offsets of supervisor pages (destructive)"]
    assert [each for each, _reason, _message in STEPS if each.is_destructive] == [Reset("pages")]


def test_what_a_pause_defers_is_in_the_plan() -> None:
    plan = Plan((Reset("pages"),)).paused(Finding(reasons.PAUSED, "Paused.", is_problem=False))
    assert INGESTION.lines(plan) == ["pending: reset the offsets of supervisor pages (destructive)"]
    assert (plan.changes, plan.is_destructive) == (False, True)


@pytest.mark.parametrize(("is_deleted", "reason"), [(False, "SpecWarning"), (True, "TasksOrphaned")])
def test_event_of_a_warning(is_deleted: bool, reason: str) -> None:
    assert events_of_warnings(["it"], is_deleted=is_deleted) == [EventText("Warning", reason, "it")]


FAILED = Finding(reasons.APPLY_FAILED, "No.")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Plan(), ("unchanged", 0, 0, 0)),
        (Plan((SaveLastApplied(LastApplied()), Finalizer("f", is_set=True))), ("changed", 1, 0, 0)),
        (Plan((Terminate("supervisor", "s"), SaveLastApplied(None))), ("changed", 0, 2, 0)),
        (Plan(findings=(FAILED,)), ("blocked", 0, 0, 1)),
    ],
)
def test_counts(plan: Plan, expected: tuple[str, int, int, int]) -> None:
    outcome = Outcome(plan, bool(plan.steps), report=Report(plan, {"conditions": []}))
    run = measure(INGESTION, outcome, Meter(), 1.0)
    assert (run.outcome, run.applied, run.removed, run.errors["act"]) == expected
