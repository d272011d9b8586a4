# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orphaned tasks: a terminated supervisor stops only the tasks that it has already contacted.

A task that has just started is not stopped (observed with Druid 33). A suspended supervisor finds it later; a
terminated one cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import status_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

_TASKS = path("druid", "indexer", "v1", "tasks")


def fetch_contacted(client: DruidClient, supervisor: str) -> frozenset[str] | None:
    """Return the ids of the tasks that a termination stops; None if the supervisor has no status or does not exist."""
    try:
        payload = status_of(client, supervisor).get("payload")
    except ApiError:
        return None
    return None if payload is None else contacted(payload)


def warnings(client: DruidClient, supervisor: str, reached: Collection[str] | None) -> tuple[str, ...]:
    """Return warnings about tasks that may still run after the termination; `reached` are the contacted tasks."""
    if reached is None:
        return ()
    try:
        running = client.get(_TASKS, params={"state": "running"}) or ()
    except DruidError as error:
        return (f"Cannot check whether tasks of supervisor {supervisor} still run: {error}",)
    return tuple(
        f"Task {task} had just started when its supervisor {supervisor} was terminated, and may still run. Check it, "
        "and shut it down in Druid."
        for task in not_contacted(running, supervisor, reached)
    )


def contacted(payload: Mapping[str, Any]) -> frozenset[str]:
    """Return the ids of the tasks that the supervisor has contacted: it reports their start time."""
    reading = [task for task in payload.get("activeTasks") or () if task.get("startTime")]
    return frozenset(task["id"] for task in (*reading, *(payload.get("publishingTasks") or ())))


def not_contacted(running: Iterable[Mapping[str, Any]], supervisor: str, reached: Collection[str]) -> tuple[str, ...]:
    """Return the ids of the supervisor's tasks that it has not contacted; their group is ``index_kafka_<id>``."""
    own = [task["id"] for task in running if task.get("groupId") == f"{task.get('type')}_{supervisor}"]
    return tuple(task for task in own if task not in reached)
