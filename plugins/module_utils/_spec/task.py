# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A task: a job, which runs once for each specification however often it is submitted, and a summary of its reports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.known_types import reject_supervisor_type
from ansible_collections.druidops.druid.plugins.module_utils._spec.sql_statement import require_ingestion
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import value_at

_DIGITS = 16
# Druid's prefix of the query id in the task id (MSQTasks.controllerTaskId).
_OF_QUERY = "query-"


@dataclass(frozen=True)
class Job:
    """
    A job. Each attempt is a task with its own id, since Druid never accepts an id twice.

    ``id``: that of the first attempt. ``body``: the body of POST, without an id. ``is_query``: SQL, not a native task.
    """

    id: str
    body: Mapping[str, Any]
    is_query: bool = False

    def task_id(self, attempt: int) -> str:
        """Return the id of the task of an attempt, counted from 1."""
        own_id = self._own_id(attempt)
        return _OF_QUERY + own_id if self.is_query else own_id

    def submission(self, attempt: int) -> dict[str, Any]:
        """Return the body of POST for an attempt."""
        own_id = self._own_id(attempt)
        if self.is_query:
            return {**self.body, "context": {**(self.body.get("context") or {}), "sqlQueryId": own_id}}
        return {**self.body, "id": own_id}

    def _own_id(self, attempt: int) -> str:
        return self.id if attempt == 1 else f"{self.id}_{attempt}"


def native_job(spec: Mapping[str, Any], specified: str | None) -> Job:
    """Return the job of a native task. ``specified``: the module's option id. InvalidInput if the spec is invalid."""
    kind = spec.get("type")
    if not isinstance(kind, str) or not kind:
        remedy = "set the type of the task, such as index_parallel"
        raise InvalidInput("spec.type", NOT_SET if kind is None else kind, remedy)
    reject_supervisor_type(kind)
    own_id = _own_id_of(spec)
    if specified is not None and own_id not in ("", specified):
        raise InvalidInput("id", specified, f"the spec has id {own_id!r}; set only one of them")
    body = {name: value for name, value in spec.items() if name != "id"}
    generated = "_".join(part for part in ("druidops", kind, datasource_of(spec), _digest(body)) if part)
    return Job(specified or own_id or generated, body)


def query_job(query: str, context: Mapping[str, Any], parameters: list[Any], specified: str | None) -> Job:
    """Return the job of an SQL ingestion statement. InvalidInput for another one, such as SELECT."""
    if "sqlQueryId" in context:
        raise InvalidInput("context.sqlQueryId", context["sqlQueryId"], "set the id with the option id")
    require_ingestion(query)
    body = {"query": query, "context": dict(context), **({"parameters": parameters} if parameters else {})}
    return Job(specified or f"druidops_{_digest(body)}", body, is_query=True)


def _own_id_of(spec: Mapping[str, Any]) -> str:
    """Return the id in the specification, an empty string if it has none."""
    own_id = spec.get("id")
    if own_id is not None and not isinstance(own_id, str):
        raise InvalidInput("spec.id", own_id, "the id of a task must be a string; quote or omit it")
    return own_id or ""


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


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
