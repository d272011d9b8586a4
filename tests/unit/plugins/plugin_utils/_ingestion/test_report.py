# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A warning is told when there is something new, and not in every pass."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import Reset, Step, Terminate
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import (
    are_warnings_new,
    events_of_steps,
    events_of_warnings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import EventText
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    rules_change,
    supervisor_change,
)

NEW: dict[str, Any] = {"observedGeneration": 3}


@pytest.mark.parametrize(
    ("steps", "previous", "is_news"),
    [
        ((), {}, True),
        ((), {"observedGeneration": 2}, True),
        ((), NEW, False),
        ((Terminate("supervisor", "pages"),), NEW, True),
    ],
)
def test_when_there_is_something_new(steps: tuple[Step, ...], previous: dict[str, Any], is_news: bool) -> None:
    assert are_warnings_new(steps, previous, NEW) is is_news


STEPS = [
    (supervisor_change(None, {}), "SupervisorUpdated", "Done: create supervisor pages."),
    (rules_change({}, None), "DatasourceConfigUpdated", "Done: remove retention rules of pages."),
    (Reset("pages"), "OffsetsReset", "Done: reset the offsets of supervisor pages."),
    (Terminate("supervisor", "pages"), "SupervisorTerminated", "Done: terminate supervisor pages."),
    (Terminate("task", "t_1"), "TaskShutDown", "Done: shut down task t_1."),
]


@pytest.mark.parametrize(("step", "reason", "message"), STEPS)
def test_each_step_has_its_reason(step: Step, reason: str, message: str) -> None:
    assert events_of_steps([step]) == [EventText("Normal", reason, message)]


@pytest.mark.parametrize(("is_gone", "reason"), [(False, "SpecWarning"), (True, "TasksOrphaned")])
def test_what_is_told(is_gone: bool, reason: str) -> None:
    assert events_of_warnings(["it"], is_gone=is_gone) == [EventText("Warning", reason, "it")]
