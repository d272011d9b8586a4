# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An event is about the resource, and fits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import EventText, event, event_name

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
TEXT = "2026-01-02T03:04:05Z"


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


def test_event_is_bounded() -> None:
    made = event(resource("n" * 253), EventText("Normal", "R", "x" * 5000), NOW)
    assert len(made["metadata"]["name"]) == 253
    assert made["message"] == "x" * 997 + "..."


@pytest.mark.parametrize("text", ["ä" * 500, "x" * 1000, "ok"])
def test_event_says_all_that_fits(text: str) -> None:
    assert event(resource(), EventText("Normal", "R", text), NOW)["message"] == text


@pytest.mark.parametrize("text", ["ä" * 501, "€" * 400, "x" * 1001])
def test_event_is_cut_between_characters(text: str) -> None:
    message = event(resource(), EventText("Normal", "R", text), NOW)["message"]
    assert message.endswith("...")
    assert text.startswith(message[:-3])
    assert 990 < len(message.encode()) <= 1000


def test_has_a_name_of_its_own() -> None:
    news = EventText("Normal", "R", "m")
    others = [
        EventText("Warning", "R", "m"),
        EventText("Normal", "Rm", ""),
        EventText("Normal", "R", "m\ud800"),
        EventText("Normal", "R", "n"),
    ]
    again = {**resource(), "metadata": {**resource()["metadata"], "uid": "v"}}
    found = {event_name(resource(), news), event_name(again, news), *(event_name(resource(), each) for each in others)}
    assert len(found) == 6
    assert event_name(resource(), news) == event_name(resource(), EventText("Normal", "R", "m"))
    long = {**resource(), "metadata": {**resource()["metadata"], "name": "n" * 253}}
    assert len(event_name(long, news)) == 253
