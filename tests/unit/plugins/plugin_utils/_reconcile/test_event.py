# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The content, name and maximum length of an event."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import event, event_name

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
TEXT = "2026-01-02T03:04:05Z"


def resource(name: str = "c") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ns", "uid": "u", "resourceVersion": "7"}
    return {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", "metadata": metadata}


def test_event_refers_to_the_resource() -> None:
    created = event(resource(), EventText("Warning", "R", "m"), NOW)
    assert created["metadata"]["name"].startswith("c.")
    assert created["metadata"]["namespace"] == "ns"
    assert created["involvedObject"] == {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "Druid",
        "name": "c",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "7",
    }
    assert (created["type"], created["reason"], created["message"]) == ("Warning", "R", "m")
    assert created["firstTimestamp"] == created["lastTimestamp"] == TEXT


def test_long_event_is_truncated() -> None:
    created = event(resource("n" * 253), EventText("Normal", "R", "x" * 5000), NOW)
    assert len(created["metadata"]["name"]) == 253
    assert created["message"] == "x" * 997 + "..."


@pytest.mark.parametrize("text", ["ä" * 500, "x" * 1000, "ok"])
def test_message_up_to_the_limit_is_complete(text: str) -> None:
    assert event(resource(), EventText("Normal", "R", text), NOW)["message"] == text


@pytest.mark.parametrize("text", ["ä" * 501, "€" * 400, "x" * 1001])
def test_message_is_truncated_between_characters(text: str) -> None:
    message = event(resource(), EventText("Normal", "R", text), NOW)["message"]
    assert message.endswith("...")
    assert text.startswith(message[:-3])
    assert 990 < len(message.encode()) <= 1000


def test_event_names_are_unique() -> None:
    text = EventText("Normal", "R", "m")
    others = [
        EventText("Warning", "R", "m"),
        EventText("Normal", "Rm", ""),
        EventText("Normal", "R", "m\ud800"),
        EventText("Normal", "R", "n"),
    ]
    again = {**resource(), "metadata": {**resource()["metadata"], "uid": "v"}}
    found = {event_name(resource(), text), event_name(again, text), *(event_name(resource(), each) for each in others)}
    assert len(found) == 6
    assert event_name(resource(), text) == event_name(resource(), EventText("Normal", "R", "m"))
    long = {**resource(), "metadata": {**resource()["metadata"], "name": "n" * 253}}
    assert len(event_name(long, text)) == 253
