# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one thing that is written into a status without manageStatus: that no run could be started."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ..api import ApiError
from .client import Client, Json

_KEPT = ("type", "status", "reason", "message", "ansibleResult", "lastTransitionTime")


def mark_error(client: Client, path: str, message: str) -> None:
    """Write it, as the real program does: fields of conditions that it does not know are lost."""
    try:
        live = client.request("GET", path)
    except ApiError as error:
        if error.status == 404:
            return
        raise
    live["status"] = failed(live.get("status") or {}, message)
    client.request("PUT", f"{path}/status", live)


def failed(status: Json, message: str) -> Json:
    """The status with the conditions of a failure."""
    conditions = [{key: each[key] for key in _KEPT if key in each} for each in status.get("conditions") or []]
    for each in conditions:
        if each["type"] in ("Running", "Successful") and each["status"] != "False":
            each.update(status="False", lastTransitionTime=_now())
    failure = {"type": "Failure", "status": "True", "reason": "Failed", "message": message}
    return {**status, "conditions": _with(conditions, failure)}


def _with(conditions: list[dict[str, Any]], condition: dict[str, Any]) -> list[dict[str, Any]]:
    """A condition replaces the one of its type, unless status and reason are those it has."""
    for each in conditions:
        if each["type"] == condition["type"]:
            if (each["status"], each.get("reason")) != (condition["status"], condition["reason"]):
                each.update(condition, lastTransitionTime=_now())
            return conditions
    return [*conditions, {**condition, "lastTransitionTime": _now()}]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
