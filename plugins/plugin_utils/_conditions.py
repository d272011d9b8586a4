# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions (metav1.Condition) and events, for all of our kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from ansible_collections.druidops.druid.plugins.plugin_utils import _reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import Manifest

COMPONENT = "druid-operator"
MAX_MESSAGE_CHARACTERS = 4096
# An event's note has at most 1024 (events.k8s.io/v1), counted in bytes.
MAX_EVENT_BYTES = 1000
# An object's name has at most 253 characters, and an event's name goes on with a point and sixteen more.
MAX_EVENT_STEM = 253 - 17

# What tells of a cluster that cannot be read.
_OF_READING = ("Ready", "Degraded")

Condition = dict[str, Any]


def condition(kind: str, status: bool, reason: str, message: str) -> Condition:
    """Return a condition without its time and generation, which `settle` fills in."""
    text = message if len(message) <= MAX_MESSAGE_CHARACTERS else message[: MAX_MESSAGE_CHARACTERS - 3] + "..."
    return {"type": kind, "status": "True" if status else "False", "reason": reason, "message": text}


def settle(
    conditions: Iterable[Condition], previous: Iterable[Condition], generation: int | None, now: datetime
) -> list[Condition]:
    """Return the conditions with generation and transition time: the time moves only when the status changes."""
    before = {each["type"]: each for each in previous}
    return [_settled(each, before.get(each["type"]), generation, now) for each in conditions]


def _settled(new: Condition, old: Condition | None, generation: int | None, now: datetime) -> Condition:
    changed = old is None or old.get("status") != new["status"]
    since = timestamp(now) if changed or old is None else old.get("lastTransitionTime", timestamp(now))
    return {**new, "lastTransitionTime": since, "observedGeneration": generation or 0}


def timestamp(moment: datetime) -> str:
    """Return a moment as Kubernetes writes it (RFC 3339, UTC, whole seconds)."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_ready(conditions: Iterable[Mapping[str, Any]]) -> bool:
    """True when the condition Ready is."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def degraded(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return reason and message of the condition Degraded while it is true."""
    found = next((each for each in document.get("conditions") or () if each["type"] == "Degraded"), None)
    return (found["reason"], found["message"]) if found and found["status"] == "True" else None


def unreadable(message: str, previous: Mapping[str, Any], generation: int | None, now: datetime) -> list[Condition]:
    """Return the conditions when Kubernetes could not be read: not Ready, Degraded, the others as they were."""
    before = previous.get("conditions") or ()
    told = [condition(kind, kind == "Degraded", _reasons.CLUSTER_UNREADABLE, message) for kind in _OF_READING]
    others = [each for each in before if each["type"] not in _OF_READING]
    return [*settle(told, before, generation, now), *others]


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
            "name": f"{metadata['name'][:MAX_EVENT_STEM]}.{uuid4().hex[:16]}",
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
