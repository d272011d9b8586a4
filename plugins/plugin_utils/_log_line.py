# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's log: one line of JSON for each pass. Names and words only, masked where the result of the task is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._conditions import timestamp

MOST_STEPS = 20
MOST_CHARACTERS = 1000


def log_line(kind: str, returned: Mapping[str, Any], seconds: float, now: datetime) -> str:
    """Return the line for what a task has returned: what resource, what was done, how long it took, what is awaited."""
    trouble = returned.get("msg")
    conditions = {each["type"]: each for each in returned.get("conditions") or ()}
    ready: Mapping[str, Any] = conditions.get("Ready", {})
    entry = {
        "time": timestamp(now),
        "level": "error" if trouble else "info",
        "kind": kind,
        "namespace": returned.get("namespace"),
        "name": returned.get("name"),
        "generation": returned.get("generation"),
        "seconds": round(seconds, 3),
        "changed": returned["changed"],
        "done": _first(returned.get("plan") or ()),
        "warnings": _first([_bounded(text) for text in returned.get("warnings") or ()]) or None,
        "ready": ready.get("status"),
        "reason": ready.get("reason"),
        "message": _bounded(trouble or ready.get("message") or "") or None,
        "requeue_after": returned.get("requeue_after"),
        "metrics": _bounded(returned.get("metrics") or "") or None,
    }
    return json.dumps({name: value for name, value in entry.items() if value is not None})


def _first(texts: Sequence[str]) -> list[str]:
    more = len(texts) - MOST_STEPS
    return [*texts[:MOST_STEPS], *([f"and {more} more"] if more > 0 else [])]


def _bounded(text: str) -> str:
    return f"{text[:MOST_CHARACTERS]}..." if len(text) > MOST_CHARACTERS else text
