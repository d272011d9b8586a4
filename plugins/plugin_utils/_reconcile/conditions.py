# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Conditions (metav1.Condition) of all our kinds, and the backoff since their transition. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

MAX_MESSAGE_CHARACTERS = 4096
# kstatus reads this one, in Flux and other tools.
STALLED = "Stalled"
# The conditions that report a failed read.
_OF_OBSERVATION = ("Ready", "Degraded")

Condition = dict[str, Any]


def condition(kind: str, status: bool, reason: str, message: str) -> Condition:
    """Return a condition without its time and generation, which `with_transition_times` fills in."""
    return {"type": kind, "status": "True" if status else "False", "reason": reason, "message": message}


def with_short_messages(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a status whose messages are not too long. It has to be masked: part of a secret is not recognized."""
    found = [{**each, "message": _short(each["message"])} for each in document.get("conditions") or ()]
    message = document.get("message")
    return {
        **document,
        **({"conditions": found} if found else {}),
        **({"message": _short(message)} if isinstance(message, str) else {}),
    }


def _short(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_CHARACTERS else f"{text[: MAX_MESSAGE_CHARACTERS - 3]}..."


def ready_and_progressing(
    is_ready: bool, reason: str, message: str, *, in_progress: bool = False
) -> tuple[Condition, Condition]:
    """Return the conditions Ready and Progressing."""
    progress = (
        condition("Progressing", True, reason, message)
        if in_progress
        else condition("Progressing", False, reasons.UP_TO_DATE if is_ready else reason, "No change in progress.")
    )
    return condition("Ready", is_ready, reason, message), progress


def degraded_condition(cause: tuple[str, str] | None) -> Condition:
    """Return the condition Degraded: true with this reason and message, false without them."""
    return condition("Degraded", cause is not None, *(cause or (reasons.AS_EXPECTED, "No problems.")))


def stalled_condition(ready: Condition, passing: Collection[str]) -> list[Condition]:
    """Return the condition Stalled if Ready is false for a reason other than the `passing` ones.

    It is that of the kstatus convention: the resource does not become ready by itself. There is none otherwise.
    """
    if ready["status"] == "True" or ready["reason"] in passing:
        return []
    return [condition(STALLED, True, ready["reason"], ready["message"])]


def with_transition_times(
    conditions: Iterable[Condition], previous: Iterable[Condition], generation: int | None, now: datetime
) -> list[Condition]:
    """Return the conditions with generation and transition time: the time changes only with the status."""
    before = {each["type"]: each for each in previous}
    return [_with_transition_time(each, before.get(each["type"]), generation, now) for each in conditions]


def _with_transition_time(new: Condition, old: Condition | None, generation: int | None, now: datetime) -> Condition:
    changed = old is None or old.get("status") != new["status"]
    since = timestamp(now) if changed or old is None else old.get("lastTransitionTime", timestamp(now))
    return {**new, "lastTransitionTime": since, "observedGeneration": generation or 0}


def timestamp(moment: datetime) -> str:
    """Return a time as Kubernetes writes it (RFC 3339, UTC, whole seconds)."""
    # strftime writes years before 1000 with fewer digits.
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def is_ready(conditions: Iterable[Mapping[str, Any]]) -> bool:
    """True when the condition Ready is true."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def is_settled(conditions: Iterable[Mapping[str, Any]], requested: Collection[str]) -> bool:
    """True when Ready is true, or false for a `requested` reason."""
    return any(
        each["type"] == "Ready" and (each["status"] == "True" or each.get("reason") in requested) for each in conditions
    )


def degraded(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return reason and message of the condition Degraded while it is true."""
    found = next((each for each in document.get("conditions") or () if each["type"] == "Degraded"), None)
    return (found["reason"], found["message"]) if found and found["status"] == "True" else None


def observe_failure(
    message: str, previous: Mapping[str, Any], generation: int | None, now: datetime
) -> list[Condition]:
    """Return the conditions after a failed read: not Ready, Degraded, the others unchanged."""
    before = previous.get("conditions") or ()
    failed = [condition(kind, kind == "Degraded", reasons.OBSERVE_FAILED, message) for kind in _OF_OBSERVATION]
    others = [each for each in before if each["type"] not in _OF_OBSERVATION]
    return [*with_transition_times(failed, before, generation, now), *others]


MIN_BACKOFF_SECONDS = 2
MAX_BACKOFF_SECONDS = 300
# The backoff when the conditions could not be read, so that the age is unknown.
UNKNOWN_AGE_SECONDS = 30
# The backoff is this part of the age.
SHARE_OF_AGE = 10


def backoff_since(text: str, now: datetime) -> int:
    """Return the seconds to wait, given the transition time of a condition."""
    age = int(seconds_since(text, now))
    return min(max(MIN_BACKOFF_SECONDS, age // SHARE_OF_AGE), MAX_BACKOFF_SECONDS)


def seconds_since(text: str, now: datetime) -> float:
    """Return the seconds since a time; 0 if it is in the future or not a valid timestamp."""
    return max(0, (now - _moment(text, now)).total_seconds())


def is_after(text: str, now: datetime) -> bool:
    """True for a time in the future; False if it is not a valid timestamp."""
    return _moment(text, now) > now


def _moment(text: str, now: datetime) -> datetime:
    """Return the transition time of a condition; now, if it is not a valid timestamp."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return now
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
