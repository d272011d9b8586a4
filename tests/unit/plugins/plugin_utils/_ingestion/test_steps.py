# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A failed step stops the plan, and an abandoned request is not repeated while Druid may still execute it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

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
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import IngestionResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import (
    Finalizer,
    Reset,
    SaveLastApplied,
    Step,
    Terminate,
    Write,
    act,
    is_unanswered,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import (
    ingestion,
    supervisor_change,
)


class Druid:
    """A client whose supervisors cannot connect to their stream."""

    @staticmethod
    def get(path: str) -> dict[str, Any]:
        del path
        return {"payload": {"detailedState": "UNABLE_TO_CONNECT_TO_STREAM"}}


def test_reset_of_an_unhealthy_supervisor_is_a_transient_problem() -> None:
    reset = Reset("s")
    planned = IngestionResult({}, Plan((reset, Terminate("supervisor", "another"))), ingestion())
    acted = act(Context(None, lambda _: Druid()), planned)  # type: ignore[arg-type]
    assert (acted.plan.steps, acted.failed_step) == ((), reset)
    [finding] = acted.plan.findings
    assert finding.reason == reasons.SUPERVISOR_UNHEALTHY
    assert finding.reason in reasons.TRANSIENT_OF_INGESTION
    assert "'s' is UNABLE_TO_CONNECT_TO_STREAM" in finding.message


class TerminatingDruid:
    """A client with a supervisor, and a task that it has not contacted."""

    def __init__(self) -> None:
        self.retries_enabled = True
        self.sent: list[str] = []

    @staticmethod
    def get(path: str, params: Any = None) -> Any:
        if path.endswith("/status"):
            return {"payload": {"detailedState": "RUNNING"}}
        task = {"id": "t", "type": "index_kafka", "groupId": "index_kafka_s", "runnerStatusCode": "PENDING"}
        return [task] if params == {"state": "pending"} else []

    def post(self, path: str, **_options: Any) -> None:
        self.sent.append(path)


def test_orphaned_tasks_are_shut_down_and_reported_as_steps() -> None:
    druid, terminate = TerminatingDruid(), Terminate("supervisor", "s")
    acted = act(Context(None, lambda _: druid), IngestionResult({}, Plan((terminate,)), ingestion()))  # type: ignore[arg-type]
    assert acted.plan.steps == (terminate, Terminate("task", "t"))
    assert druid.sent == ["/druid/indexer/v1/supervisor/s/terminate", "/druid/indexer/v1/task/t/shutdown"]


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
