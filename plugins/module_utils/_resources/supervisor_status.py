# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a supervisor: ``/druid/indexer/v1/supervisor/{id}/status``, and the conditions to wait for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import supervisor_path
from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import (
    MAX_ERROR_LENGTH,
    MAX_ERRORS,
    stream_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import truncate

# JMESPath over the status: the conditions to wait for, for a running and for a suspended stream supervisor.
_IS_RUNNING = "payload.healthy && contains(['RUNNING', 'IDLE'], payload.detailedState)"
# tasks may take minutes to publish their rows
_IS_SUSPENDED = "payload.suspended && !(payload.activeTasks)"
# The status of other types differs by version; they have only its existence in common.
_EXISTS = "id"


def wait_expression(spec: Mapping[str, Any]) -> str:
    """Return the JMESPath expression that holds for the status of a supervisor in the state that its spec describes."""
    if stream_of(spec) is None:
        return _EXISTS
    return _IS_SUSPENDED if spec.get("suspended") else _IS_RUNNING


def status_of(client: DruidClient, supervisor: str) -> dict[str, Any]:
    """Return ``{id, generationTime, payload}``, or an empty mapping if the Overlord does not know it (yet)."""
    try:
        return dict(client.get(supervisor_path(supervisor, "status")))
    except NotFound:
        return {}


def status_or_error(client: DruidClient, supervisor: str) -> dict[str, Any]:
    """Return the status, or ``{error}`` while Druid is unreachable: waiting continues in that case."""
    try:
        return status_of(client, supervisor)
    except (ServerError, Unreachable) as error:
        return {"error": str(error)}


def summary(status: Mapping[str, Any]) -> str:
    """Return a short summary of the status for the message of a timeout."""
    if "error" in status:
        return f"unavailable: {status['error']}"
    payload = truncate_errors(status.get("payload") or {})
    state = payload.get("detailedState") or payload.get("scheduleStatus") or payload.get("status") or "unknown"
    errors = [str(each.get("message") or each.get("exceptionClass")) for each in payload.get("recentErrors") or []]
    return str(state) + "".join(f"; {error}" for error in errors)


def truncate_errors(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of a status with few, truncated errors: Druid can be configured to keep many long ones."""
    errors = payload.get("recentErrors")
    if not isinstance(errors, list):
        return dict(payload)
    return {**payload, "recentErrors": [_truncated_error(each) for each in errors[-MAX_ERRORS:]]}


def _truncated_error(error: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: truncate(value, MAX_ERROR_LENGTH) if isinstance(value, str) else value for name, value in error.items()
    }
