# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the module task_info tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import report_of, status_of, task_path
from ansible_collections.druidops.druid.plugins.module_utils._spec_masking import hidden, masked

_TASKS = path("druid", "indexer", "v1", "tasks")


def tasks(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tasks that the module's parameters ask for; no secret is in them."""
    found = _one(client, params["id"]) if params["id"] else _many(client, params)
    return [_with_more(client, each, params) for each in found]


def _one(client: DruidClient, task: str) -> list[dict[str, Any]]:
    status = status_of(client, task)
    return [] if status is None else [status]


def _many(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    asked = {"datasource": params["datasource"], "state": params["state"], "type": params["type"]}
    query = {name: value for name, value in asked.items() if value is not None}
    # bounds the tasks that have ended; those that run are all told
    return list(client.get(_TASKS, params={**query, "max": params["limit"]}))


def _with_more(client: DruidClient, task: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    spec = client.get(task_path(task["id"]))["payload"] if params["spec"] else {}
    told = dict(hidden(task, spec))
    if params["spec"]:
        told["spec"] = masked(spec)
    if params["report"]:
        told["report"] = hidden(report_of(client, task["id"]), spec)
    return told
