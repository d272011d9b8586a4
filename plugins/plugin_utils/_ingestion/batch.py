# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A batch: a task that runs once per spec. The current attempt, and the next action. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job, native_job, query_job
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied, SubmittedTask
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import SQL, Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest

RUNNING, SUCCESS, FAILED = "RUNNING", "SUCCESS", "FAILED"
_DIGITS = 16


@dataclass(frozen=True)
class Attempt:
    """The current attempt, and the next action.

    `submit`: record it and submit it to Druid. `note`: record its new status. `none`: wait, or it has ended.
    `lost`: Druid accepted it but no longer reports it, and its final status is unknown. `taken`: Druid has another task
    with the specified id.
    """

    task: SubmittedTask
    action: Literal["submit", "note", "none", "lost", "taken"]


def job(ingestion: Ingestion) -> Job:
    """Return the job; its id is unique to this resource and spec. InvalidInput if the spec is invalid."""
    document = ingestion.document
    if ingestion.type != SQL:
        return native_job(document, document.get("id") or _id(ingestion))
    context = dict(document.get("context") or {})
    specified = context.pop("sqlQueryId", None)
    return query_job(document["query"], context, document.get("parameters") or [], specified or _id(ingestion))


def _id(ingestion: Ingestion) -> str:
    identity = digest([ingestion.uid, ingestion.namespace, ingestion.name, ingestion.document])[:_DIGITS]
    return "_".join(part for part in ("druidops", datasource_of(ingestion.document), identity) if part)


def current(ingestion: Ingestion, record: LastApplied) -> SubmittedTask | None:
    """Return the recorded attempt for this spec, None if there is none."""
    is_same = record.specified.get("type") == ingestion.type and record.specified.get("spec") == ingestion.document
    return record.task if is_same else None


def attempt(
    ingestion: Ingestion, desired: Job, known: SubmittedTask | None, status: Mapping[str, Any] | None
) -> Attempt:
    """Return the next action, given the recorded attempt and Druid's status of the task (None: unknown to Druid)."""
    if known is None:
        first = SubmittedTask(desired.task_id(1), 1, "submitting", "", ingestion.retry)
        if status is None:
            return Attempt(first, "submit")
        # a generated id belongs to this resource and spec: its record was lost
        return (
            _with_status(ingestion, desired, first, status) if desired.id == _id(ingestion) else Attempt(first, "taken")
        )
    if status is not None:
        return _with_status(ingestion, desired, known, status)
    if known.phase == "submitting":
        return Attempt(known, "submit")
    if known.phase == "submitted":
        return Attempt(known, "lost") if not _asks_for_retry(ingestion, known) else _next(ingestion, desired, known)
    return _ended(ingestion, desired, known)


def _with_status(ingestion: Ingestion, desired: Job, known: SubmittedTask, status: Mapping[str, Any]) -> Attempt:
    code = str(status.get("statusCode") or "")
    phase: Literal["submitted", "ended"] = "ended" if code in (SUCCESS, FAILED) else "submitted"
    updated = SubmittedTask(known.id, known.attempt, phase, code if phase == "ended" else "", known.retry)
    follow_up = _ended(ingestion, desired, updated)
    if follow_up.action == "submit":
        return follow_up
    return Attempt(updated, "none" if updated == known else "note")


def _ended(ingestion: Ingestion, desired: Job, task: SubmittedTask) -> Attempt:
    """A failed attempt is followed by another one while the resource allows a retry."""
    may_retry = task.attempt <= ingestion.retries or _asks_for_retry(ingestion, task)
    if task.phase == "ended" and task.status == FAILED and may_retry:
        return _next(ingestion, desired, task)
    return Attempt(task, "none")


def _asks_for_retry(ingestion: Ingestion, task: SubmittedTask) -> bool:
    return bool(ingestion.retry) and ingestion.retry != task.retry


def _next(ingestion: Ingestion, desired: Job, task: SubmittedTask) -> Attempt:
    number = task.attempt + 1
    return Attempt(SubmittedTask(desired.task_id(number), number, "submitting", "", ingestion.retry), "submit")
