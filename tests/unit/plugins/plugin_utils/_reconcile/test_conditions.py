# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The transition times of conditions, and the maximum length of a message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    condition,
    timestamp,
    with_short_messages,
    with_transition_times,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
TEXT = "2026-01-02T03:04:05Z"
EARLIER = "2025-12-31T00:00:00Z"


def test_new_condition() -> None:
    assert with_transition_times([condition("Ready", True, "R", "m")], [], 3, NOW) == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "R",
            "message": "m",
            "lastTransitionTime": TEXT,
            "observedGeneration": 3,
        }
    ]


# (previous, time)
PREVIOUS: list[tuple[dict[str, Any], str]] = [
    ({"type": "Ready", "status": "True", "lastTransitionTime": EARLIER}, EARLIER),
    ({"type": "Ready", "status": "True", "reason": "Other", "message": "o", "lastTransitionTime": EARLIER}, EARLIER),
    ({"type": "Ready", "status": "False", "lastTransitionTime": EARLIER}, TEXT),
    ({"type": "Ready", "status": "Unknown", "lastTransitionTime": EARLIER}, TEXT),
    ({"type": "Other", "status": "True", "lastTransitionTime": EARLIER}, TEXT),
    ({"type": "Ready", "status": "True"}, TEXT),
    ({"type": "Ready"}, TEXT),
]


@pytest.mark.parametrize(("previous", "expected"), PREVIOUS)
def test_transition_time_changes_with_the_status_only(previous: dict[str, Any], expected: str) -> None:
    [found] = with_transition_times([condition("Ready", True, "R", "m")], [previous], None, NOW)
    assert found["lastTransitionTime"] == expected
    assert found["observedGeneration"] == 0


@pytest.mark.parametrize(("length", "expected"), [(4096, 4096), (4097, 4096), (100_000, 4096)])
def test_message_is_truncated(length: int, expected: int) -> None:
    found = condition("Ready", False, "R", "x" * length)
    document = with_short_messages({"conditions": [found], "message": found["message"], "state": "s"})
    message = document["message"]
    assert document == {"conditions": [{**found, "message": message}], "message": message, "state": "s"}
    assert len(message) == expected
    assert message.endswith("...") is (length > expected)


def test_timestamp_is_in_utc() -> None:
    assert timestamp(NOW) == TEXT
    assert timestamp(NOW.astimezone(timezone(timedelta(hours=5)))) == TEXT
