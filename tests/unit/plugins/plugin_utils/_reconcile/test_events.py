# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How many events are written, and under which names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.events import (
    MAX_EVENTS,
    EventText,
    limited,
    send,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reasons import EVENTS_OMITTED
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RESOURCE: dict[str, Any] = {
    "apiVersion": "druid.apache.org/v1alpha1",
    "kind": "Druid",
    "metadata": {"name": "c", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
}
TEXT = EventText("Normal", "R", "m")
texts = st.lists(
    st.builds(EventText, st.sampled_from(["Normal", "Warning"]), st.sampled_from("PQR"), st.text(max_size=3))
)


@given(texts)
def test_is_bounded(news: list[EventText]) -> None:
    said = limited(news)
    distinct = set(news)
    assert len(said) == len(set(said)) == min(len(distinct), MAX_EVENTS)
    kinds = [each.kind for each in said[: MAX_EVENTS - 1]]
    assert kinds == sorted(kinds, key=lambda kind: kind != "Warning")
    if len(distinct) <= MAX_EVENTS:
        assert set(said) == distinct
    else:
        assert set(said[:-1]) < distinct
        assert said[-1].reason == EVENTS_OMITTED


def test_says_how_many_it_leaves_out() -> None:
    news = [EventText("Normal", "A", str(number)) for number in range(18)]
    news += [EventText("Normal", "B", str(number)) for number in range(3)]
    assert limited(news)[-1] == EventText("Normal", EVENTS_OMITTED, "and 2 more events (B: 2)")
    news += [EventText("Warning", "W", str(number)) for number in range(20)]
    assert limited(news)[-1] == EventText("Warning", EVENTS_OMITTED, "and 22 more events (W: 1, A: 18, B: 3)")


class Server(KubernetesApi):
    """Keeps events, or refuses to in a way."""

    def __init__(self, refusal: dict[str, int] | None = None) -> None:
        self.events: dict[str, Manifest] = {}
        self.refusal = refusal or {}

    def _request(self, method: str, *args: Any, **kwargs: Any) -> Manifest:
        kind, namespace, title = args[:3]
        body = args[4] if len(args) > 4 else None
        taken = method == "POST" and body and body["metadata"]["name"] in self.events
        status = self.refusal.get(method, 409 if taken else 0)
        if status:
            raise ApiError(method.lower(), "events", kind, namespace, title, status, {"message": "No."})
        if method == "POST" and body:
            self.events[body["metadata"]["name"]] = body
            return body
        live = self.events[title]
        for operation in body or ():
            live[operation["path"].strip("/")] = operation["value"]
        return live


def test_counts_what_is_said_again() -> None:
    api = Server()
    for second in (5, 6, 7):
        send(api, RESOURCE, [TEXT, TEXT], NOW.replace(second=second))
    [live] = list(api.events.values())
    assert (live["count"], live["firstTimestamp"], live["lastTimestamp"]) == (
        3,
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:07Z",
    )


@pytest.mark.parametrize("refusal", [{"GET": 403}, {"PATCH": 403}, {"PATCH": 404}])
def test_who_may_not_count_is_not_told_so(refusal: dict[str, int]) -> None:
    api = Server(refusal)
    for _pass in range(2):
        send(api, RESOURCE, [TEXT], NOW)
    [live] = list(api.events.values())
    assert live["count"] == 1


def test_who_may_not_write_events_is_told_so() -> None:
    with pytest.raises(ApiError, match="403"):
        send(Server({"POST": 403}), RESOURCE, [TEXT], NOW)
