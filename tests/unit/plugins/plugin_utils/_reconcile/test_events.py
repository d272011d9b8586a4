# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The maximum number of events, and how repeated events are counted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reasons import EVENTS_OMITTED
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    MAX_EVENTS,
    EventText,
    limited,
    send,
)
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RESOURCE: dict[str, Any] = {
    "apiVersion": "druid.apache.org/v1alpha1",
    "kind": "Druid",
    "metadata": {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
}
TEXT = EventText("Normal", "R", "m")
EVENT_TEXTS = st.lists(
    st.builds(EventText, st.sampled_from(["Normal", "Warning"]), st.sampled_from("PQR"), st.text(max_size=3))
)


@given(EVENT_TEXTS)
def test_number_of_events_is_limited(texts: list[EventText]) -> None:
    kept = limited(texts)
    distinct = set(texts)
    assert len(kept) == len(set(kept)) == min(len(distinct), MAX_EVENTS)
    kinds = [each.kind for each in kept[: MAX_EVENTS - 1]]
    assert kinds == sorted(kinds, key=lambda kind: kind != "Warning")
    if len(distinct) <= MAX_EVENTS:
        assert set(kept) == distinct
    else:
        assert set(kept[:-1]) < distinct
        assert kept[-1].reason == EVENTS_OMITTED


def test_omitted_events_are_counted() -> None:
    texts = [EventText("Normal", "A", str(number)) for number in range(18)]
    texts += [EventText("Normal", "B", str(number)) for number in range(3)]
    assert limited(texts)[-1] == EventText("Normal", EVENTS_OMITTED, "and 2 more events (B: 2)")
    texts += [EventText("Warning", "W", str(number)) for number in range(20)]
    assert limited(texts)[-1] == EventText("Warning", EVENTS_OMITTED, "and 22 more events (W: 1, A: 18, B: 3)")


class Server(KubernetesApi):
    """Stores events, or rejects a method with a status."""

    def __init__(self, rejection: dict[str, int] | None = None) -> None:
        self.events: dict[str, Manifest] = {}
        self.rejection = rejection or {}

    def _request(self, method: str, *args: Any, **kwargs: Any) -> Manifest:
        kind, namespace, title = args[:3]
        body = args[4] if len(args) > 4 else None
        exists = method == "POST" and body and body["metadata"]["name"] in self.events
        status = self.rejection.get(method, 409 if exists else 0)
        if status:
            raise ApiError(method.lower(), "events", kind, namespace, title, status, {"message": "No."})
        if method == "POST" and body:
            self.events[body["metadata"]["name"]] = body
            return body
        live = self.events[title]
        for operation in body or ():
            live[operation["path"].strip("/")] = operation["value"]
        return live


def test_repeated_event_is_counted() -> None:
    api = Server()
    for second in (5, 6, 7):
        send(api, RESOURCE, [TEXT, TEXT], NOW.replace(second=second))
    [live] = list(api.events.values())
    assert (live["count"], live["firstTimestamp"], live["lastTimestamp"]) == (
        3,
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:07Z",
    )


@pytest.mark.parametrize("rejection", [{"GET": 403}, {"PATCH": 403}, {"PATCH": 404}])
def test_forbidden_update_of_an_event_is_ignored(rejection: dict[str, int]) -> None:
    api = Server(rejection)
    for _reconcile in range(2):
        send(api, RESOURCE, [TEXT], NOW)
    [live] = list(api.events.values())
    assert live["count"] == 1


def test_forbidden_creation_of_an_event_is_an_error() -> None:
    with pytest.raises(ApiError, match="403"):
        send(Server({"POST": 403}), RESOURCE, [TEXT], NOW)
