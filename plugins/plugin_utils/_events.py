# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events about a resource: what is said again is counted, and of much that is said at once the rest is a number."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import CONFLICT, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._event import EventText, event
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest

# How many events a pass writes at most.
MOST = 20
MORE = "DruidOperatorMore"


def send(api: KubernetesApi, resource: Manifest, news: Iterable[EventText], now: datetime) -> None:
    """Write the events about the resource; KubernetesError when that is not possible."""
    for text in bounded(news):
        manifest = event(resource, text, now)
        try:
            api.create(manifest)
        except ApiError as error:
            if error.status != CONFLICT:
                raise
            _count(api, manifest, now)


def bounded(news: Iterable[EventText]) -> tuple[EventText, ...]:
    """Return what is said, once each: warnings first; what is beyond the bound becomes one that says how many."""
    found = sorted(dict.fromkeys(news), key=lambda text: text.kind != "Warning")
    if len(found) <= MOST:
        return tuple(found)
    said, left = found[: MOST - 1], found[MOST - 1 :]
    reasons = [text.reason for text in left]
    numbers = ", ".join(f"{reason}: {reasons.count(reason)}" for reason in dict.fromkeys(reasons))
    # The first of them is a warning if any is.
    return (*said, EventText(left[0].kind, MORE, f"and {len(left)} more events ({numbers})"))


def _count(api: KubernetesApi, manifest: Manifest, now: datetime) -> None:
    """Add one to the event that says the same; that the number is not right is no reason to complain."""
    namespace, title = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
    with suppress(ApiError):
        live = api.get("Event", namespace, title)
        if live is None:
            return
        operations: list[dict[str, Any]] = [
            {"op": "add", "path": "/count", "value": (live.get("count") or 1) + 1},
            {"op": "add", "path": "/lastTimestamp", "value": timestamp(now)},
        ]
        api.json_patch("Event", namespace, title, operations)
