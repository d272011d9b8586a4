# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An event (core/v1) about a resource of ours. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.plugin_utils._conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import Manifest

COMPONENT = "druid-operator"
# An event's note has at most 1024 (events.k8s.io/v1), counted in bytes.
MAX_EVENT_BYTES = 1000
# An object's name has at most 253 characters, and an event's name goes on with a point and sixteen more.
MAX_EVENT_STEM = 253 - 17


@dataclass(frozen=True)
class EventText:
    """What an event says; `Warning` is for people to act upon."""

    kind: Literal["Normal", "Warning"]
    reason: str
    message: str


def event(resource: Manifest, text: EventText, now: datetime) -> Manifest:
    """Return the Event (core/v1) about `resource`."""
    metadata = resource["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": name(resource, text),
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


def name(resource: Manifest, text: EventText) -> str:
    """Return the event's name: the same for the same words about the same resource."""
    metadata = resource["metadata"]
    said = "\0".join((metadata["uid"], text.kind, text.reason, text.message))
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
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
