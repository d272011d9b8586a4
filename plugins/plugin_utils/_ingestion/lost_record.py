# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records of a batch that are incomplete: lost ones, and those of an interrupted submission. Pure.

Lost: the ConfigMap was deleted, or others have changed it (``noted``), but the status shows a task, or the annotation
shows that there was a record. The status is written after the record, so it may not name the last task that was
submitted; the annotation has its revision. If the status names exactly the current spec, its task is taken over.
Otherwise it is unknown whether the spec has run: nothing is submitted until the annotation requests it.

Interrupted: the record has the attempt before Druid does. If the operator was stopped in between, the last spec that
ran is the one before: when it is specified again, it does not run again. So the record keeps what it replaced until
Druid has the new task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.batch import (
    SUCCESS,
    current,
    is_unrecorded,
    job,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    ReplacedTask,
    SubmittedTask,
    is_elsewhere,
    of_status,
    with_task,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.noted import note
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest


def recovered(record: LastApplied, ingestion: Ingestion) -> LastApplied:
    """Return the record; if it was lost, what the status shows of it. InvalidInput if the spec is invalid."""
    last, noted = of_status(ingestion), note(ingestion)
    if ingestion.is_supervisor or not (record.is_empty or is_unrecorded(ingestion, record)):
        return record
    # the annotation is written before a submission, the status after it
    known = _known_task(ingestion, last) if last.id and last.revision >= noted.revision else None
    if known is not None:
        first = job(ingestion, last.revision).task_id(1)
        return LastApplied(ingestion.specified, first, known, (), last.druid, last.revision)
    if not record.is_empty or not (last.id or noted.replaces):
        return record
    identity = last.id or min(noted.ids, default="unknown")
    # attempt 0: a retry is the first attempt of its revision
    task = SubmittedTask(identity, 0, "unrecorded", _state(ingestion), ingestion.retry)
    return LastApplied({}, identity, task, (), last.druid, max(last.revision, noted.revision))


def is_of_resource(ingestion: Ingestion, task: str, status: Mapping[str, Any], revision: int) -> bool:
    """True when a task that only a record names is of this resource: Druid's status has its datasource, or it is an
    attempt of exactly this spec.
    """
    try:
        datasource = datasource_of(ingestion.document)
    except ValueError:
        return False
    is_its_data = datasource is not None and status.get("dataSource") == datasource
    return is_its_data or is_attempt(ingestion, task, revision)


def is_attempt(ingestion: Ingestion, task: str, revision: int) -> bool:
    """True when a task is an attempt of exactly this spec; False if the spec is invalid, or specifies a supervisor."""
    try:
        return not ingestion.is_supervisor and _attempt(job(ingestion, revision), task) is not None
    except (InvalidInput, KeyError, TypeError, ValueError):
        return False


def _known_task(ingestion: Ingestion, last: LastApplied) -> SubmittedTask | None:
    """Return the task in the status if it is an attempt of exactly this spec in this Druid, None otherwise."""
    is_same = ingestion.status.get("appliedHash") == digest(ingestion.specified) and not is_elsewhere(last, ingestion)
    attempt = _attempt(job(ingestion, last.revision), last.id) if is_same else None
    if attempt is None:
        return None
    if _state(ingestion) == SUCCESS:
        return SubmittedTask(last.id, attempt, "ended", SUCCESS, ingestion.retry)
    # how a task that was still running or that failed ended is read from Druid
    return SubmittedTask(last.id, attempt, "submitted", "", ingestion.retry)


def _attempt(job_of_status: Job, task: str) -> int | None:
    """Return the number of the attempt with this id, None if the task belongs to another job."""
    first = job_of_status.task_id(1)
    if task == first:
        return 1
    number = task.removeprefix(f"{first}_")
    is_later = number.isdecimal() and task == job_of_status.task_id(int(number))
    return int(number) if is_later else None


def _state(ingestion: Ingestion) -> str:
    return str(ingestion.status.get("state") or "")


def finding(ingestion: Ingestion) -> Finding:
    """Return the problem, with the remedy."""
    last = of_status(ingestion).id
    return Finding(
        reasons.RECORD_LOST,
        f"ConfigMap {names.record_name(ingestion.name)}, which records the submitted tasks, or the annotation "
        f"{names.NOTE_ANNOTATION}, which confirms it, was deleted or changed by others, and the status names "
        f"{f'a task of another spec ({last})' if last else 'no task'}. It is unknown "
        "whether the current spec has run since, so nothing is submitted. Check the data in Druid. To submit the spec, "
        f"set the annotation {names.RETRY_ANNOTATION} to a new value.",
    )


def replaced_task(ingestion: Ingestion, record: LastApplied) -> ReplacedTask | None:
    """Return what the next attempt replaces, None if that is an attempt of the same spec, or nothing."""
    task = record.task
    if task is None or task.phase == "unrecorded":
        return None
    if task.phase == "submitting":
        return record.replaced
    is_retry = current(ingestion, record) is not None
    return None if is_retry else ReplacedTask(_digest_of(record), record.id, task, record.revision)


def may_be_interrupted(ingestion: Ingestion, record: LastApplied) -> bool:
    """True if Druid has to be asked whether it has the recorded task, which is one of another spec."""
    if ingestion.is_supervisor or record.task is None:
        return False
    return record.task.phase == "submitting" and current(ingestion, record) is None


def without_interrupted(ingestion: Ingestion, record: LastApplied, is_in_druid: bool) -> LastApplied:
    """Return such a record with what ran last, if that is known: the recorded task, or the one that it replaced."""
    if is_in_druid:
        return replace(with_task(record, phase="submitted"), replaced=None)
    last, here = record.replaced, {"type": ingestion.type, "spec": ingestion.document}
    if last is None or last.specified != digest(here):
        return record
    # The rest was not applied before the submission, but is removed if it was.
    specified = {**record.specified, **here}
    return replace(record, specified=specified, id=last.id, task=last.task, revision=last.revision, replaced=None)


def _digest_of(record: LastApplied) -> str:
    return digest({name: record.specified.get(name) for name in ("type", "spec")})
