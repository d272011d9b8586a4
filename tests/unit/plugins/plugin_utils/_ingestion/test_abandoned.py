# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request that was abandoned is not repeated while Druid may still execute it; any other one is sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, UncertainState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import (
    REPEAT_AFTER,
    with_abandoned,
    without_repetition,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    read_last_applied,
    to_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import (
    Finalizer,
    SaveLastApplied,
    Step,
    Terminate,
    Write,
    is_unanswered,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    ingestion,
    supervisor_change,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RECORD = LastApplied(ingestion().specified, "pages", druid=ingestion().target)
SENT, OTHER = (Write(supervisor_change(None, {"a": value})) for value in (1, 2))
SET, SAVE = Finalizer("f", is_set=True), SaveLastApplied(RECORD)
SHORTLY, LATER = REPEAT_AFTER - timedelta(seconds=1), REPEAT_AFTER


@pytest.mark.parametrize(
    ("steps", "age", "kept"),
    [
        ((SET, SAVE, SENT, SAVE), SHORTLY, (SET,)),
        ((SENT, Terminate("supervisor", "former")), SHORTLY, ()),
        ((SENT, SAVE), LATER, (SENT, SAVE)),
        # Druid shows the result, or something else is specified.
        ((SET, SAVE), SHORTLY, (SET, SAVE)),
        ((SAVE, OTHER), SHORTLY, (SAVE, OTHER)),
        ((Terminate("supervisor", "pages"), SENT), SHORTLY, (Terminate("supervisor", "pages"), SENT)),
    ],
)
def test_what_remains_of_a_plan(steps: tuple[Step, ...], age: timedelta, kept: tuple[Step, ...]) -> None:
    stored = to_config_map(with_abandoned(RECORD, SENT, NOW), ingestion())
    record = read_last_applied(stored, ingestion())
    plan = without_repetition(Plan(steps), record, NOW + age)
    assert plan.steps == kept
    assert [each.reason for each in plan.findings] == (["DruidUnreachable"] if kept != steps else [])
    assert without_repetition(Plan(steps), RECORD, NOW + age) == Plan(steps)


def unreachable(method: str, **facts: bool) -> Unreachable:
    return Unreachable(method, "http://druid", "no response", **facts)


def uncertain(cause: Exception) -> DruidError:
    error = UncertainState("unknown")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (unreachable("POST", sent=True, is_timeout=True), True),
        (uncertain(unreachable("POST", sent=True, is_timeout=True)), True),
        (unreachable("GET", sent=True, is_timeout=True), False),
        (unreachable("POST", is_timeout=True), False),
        (unreachable("POST", sent=True), False),
        (NotFound(404, "", "POST", "http://druid"), False),
    ],
)
def test_which_requests_may_still_be_executed(error: DruidError, expected: bool) -> None:
    assert is_unanswered(error) == expected
