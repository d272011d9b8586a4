# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A summary of a task's reports: its progress, and why it failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.paths import value_at

_NATIVE = ("ingestionStatsAndErrors", "payload")
_SQL = ("multiStageQuery", "payload")
_ROWS = ("processed", "processedWithError", "thrownAway", "unparseable")


def progress(status: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``{"phase": string, "rows": count or None}`` for a task that is running or has ended."""
    phase = (
        value_at(report, (*_NATIVE, "ingestionState"))
        or _stage(value_at(report, (*_SQL, "stages")))
        or status.get("runnerStatusCode")
        or status.get("statusCode")
    )
    counts = [count for count in (_native_rows(report), _sql_rows(report)) if count is not None]
    return {"phase": str(phase or "unknown"), "rows": counts[0] if counts else None}


def failure(status: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Return Druid's own message why a task failed."""
    found = (
        value_at(report, (*_SQL, "status", "errorReport", "error", "errorMessage"))
        or value_at(report, (*_NATIVE, "errorMsg"))
        or status.get("errorMsg")
    )
    # the lines after the first are a stack trace
    return str(found or "Druid reports no reason; check the log of the task").partition("\n")[0]


def _stage(stages: Any) -> str | None:
    """Return the last stage of a query that has started, such as ``stage 2 of 3, RUNNING``."""
    if not isinstance(stages, list):
        return None
    started = [
        (number, each["phase"]) for number, each in enumerate(stages, 1) if each.get("phase") not in (None, "NEW")
    ]
    return f"stage {started[-1][0]} of {len(stages)}, {started[-1][1]}" if started else None


def _native_rows(report: Mapping[str, Any]) -> int | None:
    totals = value_at(report, (*_NATIVE, "rowStats"))
    # a parallel task reports them by phase, other tasks below buildSegments
    totals = value_at(totals, ("totals",)) or totals
    built = value_at(totals, ("buildSegments",))
    return sum(built.get(name) or 0 for name in _ROWS) if isinstance(built, Mapping) else None


def _sql_rows(report: Mapping[str, Any]) -> int | None:
    """Return the rows that have reached segment generation; before that stage, the rows that were read."""
    counters = value_at(report, (*_SQL, "counters"))
    if not isinstance(counters, Mapping):
        return None
    workers = [worker for stage in counters.values() for worker in stage.values()]
    generated = [worker["segmentGenerationProgress"] for worker in workers if "segmentGenerationProgress" in worker]
    if generated:
        return sum(each.get("rowsProcessed") or 0 for each in generated)
    return sum(rows for worker in (counters.get("0") or {}).values() for rows in _input_rows(worker))


def _input_rows(worker: Mapping[str, Any]) -> Iterator[int]:
    for name, channel in worker.items():
        if name.startswith("input"):
            yield from channel.get("rows") or []
