# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events of a resource: a repeated event is counted, and the number of events per reconcile is limited."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import CONFLICT, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText

COMPONENT = "druid-operator"
# An event's note has at most 1024 (events.k8s.io/v1), counted in bytes.
MAX_EVENT_BYTES = 1000
# An object's name has at most 253 characters. An event's name ends in a dot and 16 digits of a digest.
MAX_EVENT_STEM = 253 - 17


def event(resource: Manifest, text: EventText, now: datetime) -> Manifest:
    """Return the Event (core/v1) about `resource`."""
    metadata = resource["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": event_name(resource, text),
            "namespace": metadata["namespace"],
        },
        "involvedObject": _reference(resource),
        "type": text.kind,
        "reason": text.reason,
        "message": _shortened(text.message),
        "source": {"component": COMPONENT},
        "firstTimestamp": timestamp(now),
        "lastTimestamp": timestamp(now),
        "count": 1,
    }


def event_name(resource: Manifest, text: EventText) -> str:
    """Return the event's name: the same for the same message about the same resource."""
    metadata = resource["metadata"]
    content = "\0".join((metadata["uid"], text.kind, text.reason, text.message))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{metadata['name'][:MAX_EVENT_STEM]}.{digest[:16]}"


def _shortened(text: str) -> str:
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= MAX_EVENT_BYTES else encoded[: MAX_EVENT_BYTES - 3].decode("utf-8", "ignore") + "..."


def _reference(resource: Manifest) -> Mapping[str, Any]:
    metadata = resource["metadata"]
    return {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "uid": metadata["uid"],
        "resourceVersion": metadata["resourceVersion"],
    }


# Maximum number of events per reconcile.
MAX_EVENTS = 20


def send(api: KubernetesApi, resource: Manifest, texts: Iterable[EventText], now: datetime) -> None:
    """Write the events of the resource; KubernetesError if the API server rejects one."""
    for text in limited(texts):
        manifest = event(resource, text, now)
        try:
            api.create(manifest)
        except ApiError as error:
            if error.status != CONFLICT:
                raise
            _count(api, manifest, now)


def limited(texts: Iterable[EventText]) -> tuple[EventText, ...]:
    """Return the events without duplicates, warnings first; one event counts those beyond the limit."""
    found = sorted(dict.fromkeys(texts), key=lambda text: text.kind != "Warning")
    if len(found) <= MAX_EVENTS:
        return tuple(found)
    kept, left = found[: MAX_EVENTS - 1], found[MAX_EVENTS - 1 :]
    omitted = [text.reason for text in left]
    numbers = ", ".join(f"{reason}: {omitted.count(reason)}" for reason in dict.fromkeys(omitted))
    # Warnings come first: the first one is a warning if there is any.
    return (*kept, EventText(left[0].kind, reasons.EVENTS_OMITTED, f"and {len(left)} more events ({numbers})"))


def _count(api: KubernetesApi, manifest: Manifest, now: datetime) -> None:
    """Increment the count of the existing event; an API error is ignored."""
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
