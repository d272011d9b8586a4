# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tasks: ``/druid/indexer/v1/task`` of the Overlord, ``/druid/v2/sql/task`` of the Broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    InvalidResponse,
    NotFound,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import added_fields
from ansible_collections.druidops.druid.plugins.module_utils._spec.task import Job

_NATIVE = path("druid", "indexer", "v1", "task")
_SQL = path("druid", "v2", "sql", "task")
TASKS = path("druid", "indexer", "v1", "tasks")
RUNNING = "RUNNING"
# In the messages of Druid up to 26, up to 29, and since 30.
_ID_TAKEN = ("already exists", "entryAlreadyExists")


def task_path(task: str, *parts: str) -> str:
    """Return the path of a task, or of a subresource or an operation of it."""
    return path("druid", "indexer", "v1", "task", task, *parts)


def status_of(client: DruidClient, task: str) -> dict[str, Any] | None:
    """Return the status (``id``, ``statusCode``, ``errorMsg`` ...), None if the task does not exist."""
    try:
        return dict(client.get(task_path(task, "status"))["status"])
    except NotFound:
        return None


def status_or_error(client: DruidClient, task: str) -> dict[str, Any]:
    """Return the status, or ``{error}`` while Druid is unreachable: waiting continues in that case."""
    try:
        return status_of(client, task) or {}
    except (ServerError, Unreachable) as error:
        return {"error": str(error)}


def has_ended(status: Mapping[str, Any]) -> bool:
    """Return whether the status is that of a task that has ended."""
    return status.get("statusCode") not in (None, RUNNING)


def report_of(client: DruidClient, task: str) -> dict[str, Any]:
    """Return the reports by name, an empty mapping if there are none (yet), or none that can be read."""
    try:
        return dict(client.get(task_path(task, "reports")) or {})
    except (NotFound, InvalidResponse):
        return {}


def unknown_fields(client: DruidClient, job: Job, attempt: int) -> str:
    """Return a message about the fields that Druid's specification of a native task lacks; empty if there are none.

    Druid has no specification of a task that was not submitted.
    """
    task = job.task_id(attempt)
    if job.is_query:
        return ""
    try:
        stored = client.get(task_path(task))["payload"]
    except NotFound:
        return ""
    unknown = [*added_fields(stored, job.submission(attempt))]
    if not unknown:
        return ""
    return (
        f"Task {task!r} was submitted. {client.product} does not return {', '.join(unknown)}: it does not know the "
        "field, or omits its default. Check the name, or remove the field"
    )


def submit(client: DruidClient, job: Job, attempt: int) -> None:
    """Submit an attempt. Idempotent: Druid rejects an id that it already has."""
    try:
        client.post(_SQL if job.is_query else _NATIVE, job.submission(attempt), idempotent=True)
    except (ServerError, Unreachable):
        # the task exists if Druid received the request
        if status_of(client, job.task_id(attempt)) is None:
            raise
    except ApiError as error:
        if not any(message in error.message for message in _ID_TAKEN):
            raise


def shut_down(client: DruidClient, task: str) -> None:
    """Stop a task. Druid also accepts this for a task that has ended."""
    client.post(task_path(task, "shutdown"), idempotent=True)
