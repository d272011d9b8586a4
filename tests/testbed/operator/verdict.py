# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the events of a run mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .go_duration import seconds

_REQUEUE = "requeue_after"
_REQUEUE_OF_COLLECTION = "operator_sdk.util.requeue_after"
_FAILED = "runner_on_failed"
_STATS = "playbook_on_stats"


class BadPeriodError(ValueError):
    """A requeue_after whose period is no duration."""


@dataclass(frozen=True)
class Verdict:
    """The end of the playbook was told of; messages of failures; after how many seconds it asked to be run again."""

    complete: bool = False
    failures: tuple[str, ...] = field(default=())
    requeue_after: float | None = None


def verdict(events: Iterable[Mapping[str, Any]]) -> Verdict:
    """Judge a run. Who asks to be run again is heard at once, whatever comes later."""
    complete, failures = False, []
    for event in events:
        told = event.get("event_data") or {}
        complete = complete or event.get("event") == _STATS
        if _asks(event, told):
            return Verdict(requeue_after=_period(told["res"]))
        if event.get("event") == _FAILED and told.get("ignore_errors") is not True:
            failures.append(_message(told))
    return Verdict(complete, tuple(failures))


def _asks(event: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    action = told.get("task_action")
    named = action == _REQUEUE_OF_COLLECTION or (action == _REQUEUE and event.get("event") != _FAILED)
    return named and isinstance(told.get("res"), dict)


def _period(result: Mapping[str, Any]) -> float:
    try:
        return seconds(result.get("period"))
    except ValueError as error:
        raise BadPeriodError(f"requeue_after, period: {error}") from error


def _message(told: Mapping[str, Any]) -> str:
    result = told.get("res")
    message = result.get("msg") if isinstance(result, dict) else None
    return message if isinstance(message, str) else "unknown playbook failure"
