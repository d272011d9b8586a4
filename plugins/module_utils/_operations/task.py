# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules task, sql_ingest and task_info: submit a job once, wait for it, shut it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import (
    report_of,
    shut_down,
    status_of,
    submit,
    task_path,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import hidden, masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import (
    Job,
    failure,
    native_job,
    progress,
    query_job,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    DruidError,
    InvalidInput,
    PartialFailure,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.parse import parse_mapping

_RUNNING, _FAILED = "RUNNING", "FAILED"


@dataclass(frozen=True)
class _Attempt:
    job: Job
    number: int

    @property
    def task(self) -> str:
        return self.job.task_id(self.number)

    def redacted(self, reported: Any) -> Any:
        """Return what Druid reports about the task, with the secrets of the job masked."""
        return hidden(reported, self.job.body)


def ensure_task(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module task."""
    if params["spec"] is None:
        return _ensure(client, Job(params["id"], {}), params, check_mode)
    return _ensure(client, native_job(parse_mapping(params["spec"], "spec"), params["id"]), params, check_mode)


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
        return _wait_if_requested(client, _Attempt(job, last), status or {}, params, {"changed": False}, check_mode)
    if not job.body:
        raise InvalidInput("id", job.id, "the task does not exist; set spec to submit it")
    return _submit(client, _Attempt(job, last + 1), params, check_mode)


def _submit(client: DruidClient, attempt: _Attempt, params: Mapping[str, Any], check_mode: bool) -> dict[str, Any]:
    known = {"changed": True, "diff": _diff(attempt), "id": attempt.task, "attempt": attempt.number}
    if check_mode:
        return known
    submit(client, attempt.job, attempt.number)
    try:
        return _wait_if_requested(client, attempt, status_of(client, attempt.task) or {}, params, known, check_mode)
    except PartialFailure:
        raise
    except DruidError as error:
        raise PartialFailure(f"Task {attempt.task!r} was submitted. {error}", known) from error


def _last_attempt(client: DruidClient, job: Job) -> tuple[int, dict[str, Any] | None]:
    """Return the number of the last attempt, 0 if there is none, and its status."""
    found: tuple[int, dict[str, Any] | None] = (0, None)
    # Druid removes old tasks: the second attempt may exist when the first no longer does
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
    is_running = status is not None and status.get("statusCode") == _RUNNING
    if is_running and not check_mode:
        shut_down(client, attempt.task)
    return {"changed": is_running, "id": attempt.task, "status": attempt.redacted(status)}


def _wait_if_requested(
    client: DruidClient,
    attempt: _Attempt,
    status: Mapping[str, Any],
    params: Mapping[str, Any],
    result: Mapping[str, Any],
    check_mode: bool,
) -> dict[str, Any]:
    """Wait for the task to end if requested, and add its status to the result."""
    task = attempt.task
    known = {**result, "id": task, "status": attempt.redacted(status)}
    if not params["wait"] or check_mode:
        return known
    try:
        status = wait_until(
            lambda: _status_or_error(client, task),
            lambda seen: seen.get("statusCode") not in (None, _RUNNING),
            timeout=params["wait_timeout"],
            waiting_for=f"task {task!r} to end",
        )
    except WaitTimeout as timeout:
        if "error" in timeout.last:
            raise PartialFailure(f"{timeout} {timeout.last['error']}", known) from None
        latest = progress(timeout.last, _report_or_nothing(client, task))
        rows = "no" if latest["rows"] is None else latest["rows"]
        progress_text = f"It is still running: {rows} rows, {latest['phase']}."
        raise PartialFailure(f"{timeout} {progress_text}", {**known, "progress": latest}) from None
    return _final_result(client, attempt, status, known)


def _final_result(
    client: DruidClient, attempt: _Attempt, status: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    report = _report_or_nothing(client, attempt.task)
    redacted = {
        "status": attempt.redacted(status),
        "report": attempt.redacted(report),
        "progress": progress(status, report),
    }
    if status.get("statusCode") == _FAILED:
        reason = attempt.redacted(failure(status, report))
        message = f"Task {attempt.task!r} failed: {reason}. Set retry: true to submit it again."
        raise PartialFailure(message, {**known, **redacted})
    return {**known, **redacted}


def _status_or_error(client: DruidClient, task: str) -> dict[str, Any]:
    """Return the status, or ``{error}`` while Druid is unreachable: waiting continues in that case."""
    try:
        return status_of(client, task) or {}
    except (ServerError, Unreachable) as error:
        return {"error": str(error)}


def _report_or_nothing(client: DruidClient, task: str) -> dict[str, Any]:
    """Return the reports, or an empty mapping if they cannot be read: the task's result does not depend on them."""
    try:
        return report_of(client, task)
    except DruidError:
        return {}


def _diff(attempt: _Attempt) -> list[dict[str, Any]]:
    title, after = f"task {attempt.task}", masked(attempt.job.submission(attempt.number))
    return [{"before": "", "after": after, "before_header": title, "after_header": title}]


_TASKS = path("druid", "indexer", "v1", "tasks")


def task_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the selected tasks, with secrets masked."""
    found = _one(client, params["id"]) if params["id"] else _many(client, params)
    return [_with_more(client, each, params) for each in found]


def _one(client: DruidClient, task: str) -> list[dict[str, Any]]:
    status = status_of(client, task)
    return [] if status is None else [status]


def _many(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    filters = {"datasource": params["datasource"], "state": params["state"], "type": params["type"]}
    query = {name: value for name, value in filters.items() if value is not None}
    # max limits the completed tasks; running tasks are always returned
    return list(client.get(_TASKS, params={**query, "max": params["limit"]}))


def _with_more(client: DruidClient, task: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    spec = client.get(task_path(task["id"]))["payload"] if params["spec"] else {}
    entry = dict(hidden(task, spec))
    if params["spec"]:
        entry["spec"] = masked(spec)
    if params["report"]:
        entry["report"] = hidden(report_of(client, task["id"]), spec)
    return entry
