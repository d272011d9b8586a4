# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's log: one line of JSON per reconcile. It has the masked texts of the task's result, no objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp

MAX_STEPS = 20
MAX_CHARACTERS = 1000


def log_line(kind: str, returned: Mapping[str, Any], seconds: float, now: datetime) -> str:
    """Return the line for a task's result: the resource, the writes, the duration, the Ready condition."""
    problem = returned.get("msg")
    conditions = {each["type"]: each for each in returned.get("conditions") or ()}
    ready: Mapping[str, Any] = conditions.get("Ready", {})
    entry = {
        "time": timestamp(now),
        "level": "error" if problem else "info",
        "kind": kind,
        "namespace": returned.get("namespace"),
        "name": returned.get("name"),
        "generation": returned.get("generation"),
        "seconds": round(seconds, 3),
        "changed": returned["changed"],
        "done": _first(returned.get("plan") or ()),
        "warnings": _first([_limited(text) for text in returned.get("warnings") or ()]) or None,
        "ready": ready.get("status"),
        "reason": ready.get("reason"),
        "message": _limited(problem or ready.get("message") or "") or None,
        "requeue_after": returned.get("requeue_after"),
        "metrics": _limited(returned.get("metrics") or "") or None,
    }
    return json.dumps({name: value for name, value in entry.items() if value is not None})


def _first(texts: Sequence[str]) -> list[str]:
    more = len(texts) - MAX_STEPS
    return [*texts[:MAX_STEPS], *([f"and {more} more"] if more > 0 else [])]


def _limited(text: str) -> str:
    return f"{text[:MAX_CHARACTERS]}..." if len(text) > MAX_CHARACTERS else text
