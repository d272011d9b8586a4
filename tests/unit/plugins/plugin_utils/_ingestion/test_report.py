# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A warning is reported for a new generation or a change, and not in every reconcile."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import are_warnings_new, events_of_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import Reset, Step, Terminate, Write
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText
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


@pytest.mark.parametrize(("is_deleted", "reason"), [(False, "SpecWarning"), (True, "TasksOrphaned")])
def test_event_of_a_warning(is_deleted: bool, reason: str) -> None:
    assert events_of_warnings(["it"], is_deleted=is_deleted) == [EventText("Warning", reason, "it")]
