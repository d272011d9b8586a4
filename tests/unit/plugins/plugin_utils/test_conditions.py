# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions keep their times, and everything is bounded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._conditions import (
    EventText,
    condition,
    event,
    settle,
    timestamp,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
TEXT = "2026-01-02T03:04:05Z"
EARLIER = "2025-12-31T00:00:00Z"


def test_is_new() -> None:
    assert settle([condition("Ready", True, "R", "m")], [], 3, NOW) == [
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
def test_time_moves_with_the_status_only(previous: dict[str, Any], expected: str) -> None:
    [settled] = settle([condition("Ready", True, "R", "m")], [previous], None, NOW)
    assert settled["lastTransitionTime"] == expected
    assert settled["observedGeneration"] == 0


@pytest.mark.parametrize(("length", "shown"), [(4096, 4096), (4097, 4096), (100_000, 4096)])
def test_bounds_a_message(length: int, shown: int) -> None:
    message = condition("Ready", False, "R", "x" * length)["message"]
    assert len(message) == shown
    assert message.endswith("...") is (length > shown)


def test_writes_times_in_utc() -> None:
    assert timestamp(NOW) == TEXT
    assert timestamp(NOW.astimezone(timezone(timedelta(hours=5)))) == TEXT


def resource(name: str = "c") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ns", "uid": "u", "resourceVersion": "7"}
    return {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", "metadata": metadata}


def test_event_is_about_the_resource() -> None:
    made = event(resource(), EventText("Warning", "R", "m"), NOW)
    assert made["metadata"]["name"].startswith("c.")
    assert made["metadata"]["namespace"] == "ns"
    assert made["involvedObject"] == {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "Druid",
        "name": "c",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "7",
    }
    assert (made["type"], made["reason"], made["message"]) == ("Warning", "R", "m")
    assert made["firstTimestamp"] == made["lastTimestamp"] == TEXT


def test_events_are_bounded_and_differ() -> None:
    text = EventText("Normal", "R", "x" * 5000)
    first, second = (event(resource("n" * 253), text, NOW) for _time in range(2))
    assert len(first["metadata"]["name"]) == 253
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert first["message"] == "x" * 997 + "..."


@pytest.mark.parametrize("text", ["ä" * 500, "x" * 1000, "ok"])
def test_event_says_all_that_fits(text: str) -> None:
    assert event(resource(), EventText("Normal", "R", text), NOW)["message"] == text


@pytest.mark.parametrize("text", ["ä" * 501, "€" * 400, "x" * 1001])
def test_event_is_cut_between_characters(text: str) -> None:
    message = event(resource(), EventText("Normal", "R", text), NOW)["message"]
    assert message.endswith("...")
    assert text.startswith(message[:-3])
    assert 990 < len(message.encode()) <= 1000
