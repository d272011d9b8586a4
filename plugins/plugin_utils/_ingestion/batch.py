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
    with the specified id. `unrecorded`: the record was lost, and it is unknown what ran (``record_check``).
    """

    task: SubmittedTask
    action: Literal["submit", "note", "none", "lost", "taken", "unrecorded"]


def revision(ingestion: Ingestion, record: LastApplied) -> int:
    """Return the revision of the spec: the recorded one, or the next one if another document was submitted last.

    An edited `suspend`, compaction or rules, and labels or annotations do not change the document.
    """
    return record.revision if current(ingestion, record) is not None else record.revision + 1


def job(ingestion: Ingestion, number: int) -> Job:
    """Return the job of a revision; its id is unique to it, to the resource and to the spec, unless the spec sets one.

    InvalidInput if the spec is invalid.
    """
    document, identity = ingestion.document, _specified_id(ingestion) or _id(ingestion, number)
    if ingestion.type != SQL:
        return native_job(document, identity)
    context = {name: value for name, value in (document.get("context") or {}).items() if name != "sqlQueryId"}
    return query_job(document["query"], context, document.get("parameters") or [], identity)


def _specified_id(ingestion: Ingestion) -> str | None:
    document = ingestion.document
    return document.get("id") if ingestion.type != SQL else (document.get("context") or {}).get("sqlQueryId")


def _id(ingestion: Ingestion, number: int) -> str:
    # older versions had no revisions: the id of the first one is theirs, so that no task of theirs runs again
    later = [number] if number > 1 else []
    identity = digest([ingestion.uid, ingestion.namespace, ingestion.name, ingestion.document, *later])[:_DIGITS]
    return "_".join(part for part in ("druidops", datasource_of(ingestion.document), identity) if part)


def is_unrecorded(ingestion: Ingestion, record: LastApplied) -> bool:
    """True while the record was lost, and the resource does not request another attempt."""
    task = record.task
    return task is not None and task.phase == "unrecorded" and not _asks_for_retry(ingestion, task)


def current(ingestion: Ingestion, record: LastApplied) -> SubmittedTask | None:
    """Return the recorded attempt for this spec, None if there is none."""
    if is_unrecorded(ingestion, record):
        return record.task
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
        # a generated id belongs to this resource and revision: its record was lost
        return Attempt(first, "taken") if _specified_id(ingestion) else _with_status(ingestion, desired, first, status)
    if known.phase == "unrecorded":
        return Attempt(known, "unrecorded")
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
