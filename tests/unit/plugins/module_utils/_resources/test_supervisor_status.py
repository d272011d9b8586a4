# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a supervisor is in the state of its specification."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import (
    summary,
    truncate_errors,
    wait_expression,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import condition

RUNS, SUSPENDED = {"type": "kafka", "suspended": False}, {"type": "kafka", "suspended": True}
TASK = {"id": "index_kafka_a"}


@pytest.mark.parametrize(
    ("spec", "status", "is_awaited"),
    [
        (RUNS, {"payload": {"healthy": True, "detailedState": "RUNNING"}}, True),
        (RUNS, {"payload": {"healthy": True, "detailedState": "IDLE"}}, True),
        (RUNS, {"payload": {"healthy": True, "detailedState": "PENDING"}}, False),
        (RUNS, {"payload": {"healthy": False, "detailedState": "RUNNING"}}, False),
        (RUNS, {}, False),
        (SUSPENDED, {"payload": {"suspended": True, "activeTasks": [], "publishingTasks": [TASK]}}, True),
        (SUSPENDED, {"payload": {"suspended": True, "activeTasks": [TASK]}}, False),
        (SUSPENDED, {"payload": {"suspended": False, "activeTasks": []}}, False),
        ({"type": "autocompact"}, {"id": "autocompact__a", "payload": {}}, True),
        ({"type": "autocompact"}, {}, False),
    ],
)
def test_wait_expression(spec: Any, status: Any, is_awaited: bool) -> None:
    assert condition(wait_expression(spec))(status) is is_awaited


def test_latest_errors_are_limited_and_truncated() -> None:
    payload = {"detailedState": "LOST", "recentErrors": [{"message": f"{number}" * 600} for number in range(5)]}

    errors = truncate_errors(payload)["recentErrors"]

    assert [each["message"][0] for each in errors] == ["2", "3", "4"]
    assert max(len(each["message"]) for each in errors) == 500
    assert summary({"payload": payload}).startswith("LOST; 222")
    assert summary({}) == "unknown"
