# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules task, sql_ingest and task_info: submit jobs once, wait for them, shut them down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.wait_for_all import Wait, wait_for_all
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import (
    RUNNING,
    TASKS,
    has_ended,
    report_of,
    shut_down,
    status_of,
    status_or_error,
    submit,
    task_path,
    unknown_fields,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import hidden, masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import without_markers
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import (
    Job,
    failure,
    native_job,
    progress,
    query_job,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput

_FAILED = "FAILED"


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
    return _ensure(client, "tasks", _task, params, check_mode)


def ensure_query(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the result of the module sql_ingest."""
    return _ensure(client, "queries", _query, params, check_mode)


def _task(options: Mapping[str, Any]) -> Job:
    spec = document_of(options, "spec")
    if spec is not None:
        return native_job(spec, options.get("id"))
    return Job(_required_id(options, "spec"), {})


def _query(options: Mapping[str, Any]) -> Job:
    if not options.get("query"):
        return Job(_required_id(options, "query"), {}, is_query=True)
    context, parameters = document_of(options, "context"), document_of(options, "parameters")
    return query_job(options["query"], context or {}, parameters or [], options.get("id"))


def _required_id(options: Mapping[str, Any], body: str) -> str:
    if not options.get("id"):
        raise InvalidInput("id", NOT_SET, f"set id or {body}")
    return str(options["id"])


@dataclass(frozen=True)
class _Call:
    """A call of a module. ``retry``: failed jobs are submitted again."""

    client: DruidClient
    report: ModuleResult
    retry: bool
    check_mode: bool


def _ensure(
    client: DruidClient,
    many: str,
    job_of: Callable[[Mapping[str, Any]], Job],
    params: Mapping[str, Any],
    check_mode: bool,
) -> dict[str, Any]:
    """Submit or shut down all jobs, then wait for all. A failure does not stop the others."""
    report = ModuleResult(many, "task", "status", items_of(params, many))
    call = _Call(client, report, params["retry"], check_mode)
    started: list[tuple[Item, _Attempt]] = []
    for item in report.items:
        with report.part_of(item):
            job = job_of(item.options)
            report.identify(item, job.task_id(1))
            last, status = _last_attempt(client, job)
            if item.is_present:
                attempt = _ensure_submitted(call, item, _Attempt(job, last), status)
                unknown = unknown_fields(client, job, attempt.number) if item.is_strict and not check_mode else ""
                if unknown:
                    raise DruidError(f"{unknown} (unknown_fields: fail).")
                started.append((item, attempt))
            else:
                _shut_down(call, item, _Attempt(job, max(last, 1)), status)
    if params["wait"] and not check_mode:
        _wait(call, started, params["wait_timeout"])
    return report.result()


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


def _ensure_submitted(call: _Call, item: Item, last: _Attempt, status: Mapping[str, Any] | None) -> _Attempt:
    """Submit the job if it is due, and add its status to the result. Return its last attempt."""
    has_failed = status is not None and status.get("statusCode") == _FAILED
    if status is not None and not (has_failed and call.retry):
        item.result.update(id=last.task, status=last.redacted(status))
        return last
    if not last.job.body:
        missing = "query" if last.job.is_query else "spec"
        raise InvalidInput("id", last.job.id, f"the task does not exist; set {missing} to submit it")
    return _submit(call, item, _Attempt(last.job, last.number + 1))


def _submit(call: _Call, item: Item, attempt: _Attempt) -> _Attempt:
    if not call.check_mode:
        submit(call.client, attempt.job, attempt.number)
    item.result.update(id=attempt.task, changed=True, attempt=attempt.number)
    call.report.add_diff(attempt.task, None, masked(attempt.job.submission(attempt.number)))
    if not call.check_mode:
        try:
            item.result["status"] = attempt.redacted(status_of(call.client, attempt.task) or {})
        except DruidError as error:
            raise DruidError(f"Task {attempt.task!r} was submitted. {error}") from error
    return attempt


def _shut_down(call: _Call, item: Item, attempt: _Attempt, status: Mapping[str, Any] | None) -> None:
    is_running = status is not None and status.get("statusCode") == RUNNING
    if is_running and not call.check_mode:
        shut_down(call.client, attempt.task)
    item.result.update(id=attempt.task, changed=is_running, status=attempt.redacted(status))


def _wait(call: _Call, started: list[tuple[Item, _Attempt]], timeout: float) -> None:
    """Wait for the tasks to end, and add their final status to the results."""
    waits = [
        Wait(partial(status_or_error, call.client, attempt.task), has_ended, f"task {attempt.task!r} to end")
        for _item, attempt in started
    ]
    wait_for_all(waits, timeout)
    for (item, attempt), wait in zip(started, waits, strict=True):
        with call.report.part_of(item):
            _add_outcome(call.client, item, attempt, wait)


def _add_outcome(client: DruidClient, item: Item, attempt: _Attempt, wait: Wait) -> None:
    try:
        status = wait.outcome()
    except WaitTimeout as timeout:
        if "error" in timeout.last:
            raise DruidError(f"{timeout} {timeout.last['error']}") from None
        latest = progress(timeout.last, _report_or_nothing(client, attempt.task))
        item.result["progress"] = latest
        rows = "no" if latest["rows"] is None else latest["rows"]
        raise DruidError(f"{timeout} It is still running: {rows} rows, {latest['phase']}.") from None
    _add_final_status(client, item, attempt, status)


def _add_final_status(client: DruidClient, item: Item, attempt: _Attempt, status: Mapping[str, Any]) -> None:
    report = _report_or_nothing(client, attempt.task)
    item.result.update(
        status=attempt.redacted(status), report=attempt.redacted(report), progress=progress(status, report)
    )
    if status.get("statusCode") == _FAILED:
        reason = attempt.redacted(failure(status, report))
        raise DruidError(f"Task {attempt.task!r} failed: {reason}. Set retry: true to submit it again.")


def _report_or_nothing(client: DruidClient, task: str) -> dict[str, Any]:
    """Return the reports, or an empty mapping if they cannot be read: the task's result does not depend on them."""
    try:
        return report_of(client, task)
    except DruidError:
        return {}


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
    return list(client.get(TASKS, params={**query, "max": params["limit"]}))


def _with_more(client: DruidClient, task: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    spec = without_markers(client.get(task_path(task["id"]))["payload"]) if params["spec"] else {}
    entry = dict(hidden(task, spec))
    if params["spec"]:
        entry["spec"] = masked(spec)
    if params["report"]:
        entry["report"] = hidden(without_markers(report_of(client, task["id"])), spec)
    return entry
