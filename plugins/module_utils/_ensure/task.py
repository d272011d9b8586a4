# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the modules task and sql_ingest do: a job is submitted once, waited for, and shut down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._errors import (
    BadInput,
    DruidError,
    Incomplete,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import (
    report_of,
    shut_down,
    status_of,
    submit,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.job import Job, native_job, query_job
from ansible_collections.druidops.druid.plugins.module_utils._spec.task_report import failure, progress
from ansible_collections.druidops.druid.plugins.module_utils._spec.text import mapping_of
from ansible_collections.druidops.druid.plugins.module_utils._spec_masking import hidden, masked
from ansible_collections.druidops.druid.plugins.module_utils._wait import TimedOut, wait_until

_RUNNING, _FAILED = "RUNNING", "FAILED"


@dataclass(frozen=True)
class _Attempt:
    job: Job
    number: int

    @property
    def task(self) -> str:
        return self.job.task_id(self.number)

    def told(self, said: Any) -> Any:
        """Return what Druid says of the task, which may repeat what is secret in the job, without that."""
        return hidden(said, self.job.body)


def ensure_task(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module task."""
    if params["spec"] is None:
        return _ensure(client, Job(params["id"], {}), params, check_mode)
    return _ensure(client, native_job(mapping_of(params["spec"], "spec"), params["id"]), params, check_mode)


def ensure_query(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module sql_ingest."""
    job = query_job(params["query"] or "", params["context"] or {}, params["parameters"] or [], params["id"])
    return _ensure(client, job, params, check_mode)


def _ensure(client: DruidClient, job: Job, params: Mapping[str, Any], check_mode: bool) -> dict[str, Any]:
    last, status = _last_attempt(client, job)
    if params["state"] == "absent":
        return _shut_down(client, _Attempt(job, max(last, 1)), status, check_mode)
    has_failed = status is not None and status.get("statusCode") == _FAILED
    is_due = status is None or (has_failed and params["retry"])
    if not is_due:
        return _seen_to(client, _Attempt(job, last), status or {}, params, {"changed": False}, check_mode)
    if not job.body:
        raise BadInput("id", job.id, "there is no such task; state its spec to submit it")
    return _submitted(client, _Attempt(job, last + 1), params, check_mode)


def _submitted(client: DruidClient, attempt: _Attempt, params: Mapping[str, Any], check_mode: bool) -> dict[str, Any]:
    known = {"changed": True, "diff": _diff(attempt), "id": attempt.task, "attempt": attempt.number}
    if check_mode:
        return known
    submit(client, attempt.job, attempt.number)
    try:
        return _seen_to(client, attempt, status_of(client, attempt.task) or {}, params, known, check_mode)
    except Incomplete:
        raise
    except DruidError as error:
        raise Incomplete(f"Task {attempt.task!r} was submitted. {error}", known) from error


def _last_attempt(client: DruidClient, job: Job) -> tuple[int, dict[str, Any] | None]:
    """Return the last attempt there was, 0 if none, and its status."""
    found: tuple[int, dict[str, Any] | None] = (0, None)
    # Druid forgets old tasks: the second may be there when the first is not any more
    for attempt in count(1):
        status = status_of(client, job.task_id(attempt))
        if status is None and attempt > found[0] + 1:
            return found
        if status is not None:
            found = (attempt, status)
            if status.get("statusCode") != _FAILED:
                return found
    return found


def _shut_down(
    client: DruidClient, attempt: _Attempt, status: Mapping[str, Any] | None, check_mode: bool
) -> dict[str, Any]:
    runs = status is not None and status.get("statusCode") == _RUNNING
    if runs and not check_mode:
        shut_down(client, attempt.task)
    return {"changed": runs, "id": attempt.task, "status": attempt.told(status)}


def _seen_to(
    client: DruidClient,
    attempt: _Attempt,
    status: Mapping[str, Any],
    params: Mapping[str, Any],
    result: Mapping[str, Any],
    check_mode: bool,
) -> dict[str, Any]:
    """Wait for the end of the task if that is asked for, and add what is known of it to the result."""
    task = attempt.task
    known = {**result, "id": task, "status": attempt.told(status)}
    if not params["wait"] or check_mode:
        return known
    try:
        status = wait_until(
            lambda: _status_or_error(client, task),
            lambda seen: seen.get("statusCode") not in (None, _RUNNING),
            timeout=params["wait_timeout"],
            awaited=f"the end of task {task!r}",
        )
    except TimedOut as timeout:
        if "error" in timeout.last:
            raise Incomplete(f"{timeout} {timeout.last['error']}", known) from None
        far = progress(timeout.last, _report_or_nothing(client, task))
        reached = f"It runs on; {far['rows'] if far['rows'] is not None else 'no'} rows, {far['phase']}."
        raise Incomplete(f"{timeout} {reached}", {**known, "progress": far}) from None
    return _ended(client, attempt, status, known)


def _ended(
    client: DruidClient, attempt: _Attempt, status: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    report = _report_or_nothing(client, attempt.task)
    told = {"status": attempt.told(status), "report": attempt.told(report), "progress": progress(status, report)}
    if status.get("statusCode") == _FAILED:
        reason = attempt.told(failure(status, report))
        message = f"Task {attempt.task!r} failed: {reason}. With retry: true it is submitted again."
        raise Incomplete(message, {**known, **told})
    return {**known, **told}


def _status_or_error(client: DruidClient, task: str) -> dict[str, Any]:
    """Return the status, or ``{error}`` while nobody answers: who waits for the end waits for that, too."""
    try:
        return status_of(client, task) or {}
    except (ServerError, Unreachable) as error:
        return {"error": str(error)}


def _report_or_nothing(client: DruidClient, task: str) -> dict[str, Any]:
    """Return the reports; a task that has ended well has done so without them, too."""
    try:
        return report_of(client, task)
    except DruidError:
        return {}


def _diff(attempt: _Attempt) -> list[dict[str, Any]]:
    title, after = f"task {attempt.task}", masked(attempt.job.submission(attempt.number))
    return [{"before": "", "after": after, "before_header": title, "after_header": title}]
