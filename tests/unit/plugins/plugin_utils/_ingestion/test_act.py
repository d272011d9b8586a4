# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A failed step stops the plan, and its reason is reported."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import IngestionResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import Reset, Terminate, act
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import ingestion


class Druid:
    """A client whose supervisors cannot connect to their stream."""

    @staticmethod
    def get(path: str) -> dict[str, Any]:
        del path
        return {"payload": {"detailedState": "UNABLE_TO_CONNECT_TO_STREAM"}}


def test_reset_of_an_unhealthy_supervisor_is_a_transient_problem() -> None:
    reset = Reset("s")
    planned = IngestionResult({}, Plan((reset, Terminate("supervisor", "another"))), ingestion())
    acted = act(None, Druid(), planned)  # type: ignore[arg-type]
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
    acted = act(None, druid, IngestionResult({}, Plan((terminate,)), ingestion()))  # type: ignore[arg-type]
    assert acted.plan.steps == (terminate, Terminate("task", "t"))
    assert druid.sent == ["/druid/indexer/v1/supervisor/s/terminate", "/druid/indexer/v1/task/t/shutdown"]
