# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tasks that run on when their supervisor is terminated: Druid tells only those to end that it has spoken to.

One that has only just begun does not hear of it (seen with Druid 33). A suspended supervisor finds it; one that is
terminated cannot.
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
    """Return the ids of the tasks that would be told; None when the supervisor has no status, or is gone."""
    try:
        payload = status_of(client, supervisor).get("payload")
    except ApiError:
        return None
    return None if payload is None else contacted(payload)


def warnings(client: DruidClient, supervisor: str, heard: Collection[str] | None) -> tuple[str, ...]:
    """Return what there is to say once it is terminated, when these have heard of it."""
    if heard is None:
        return ()
    try:
        running = client.get(_TASKS, params={"state": "running"}) or ()
    except DruidError as error:
        return (f"Whether tasks of supervisor {supervisor} run on is not known: {error}",)
    return tuple(
        f"Task {task} had only just begun when its supervisor {supervisor} was terminated, and may not have been told: "
        "look whether it still runs, and shut it down in Druid."
        for task in not_contacted(running, supervisor, heard)
    )


def contacted(payload: Mapping[str, Any]) -> frozenset[str]:
    """Return the ids of the tasks that the supervisor has spoken to: it knows since when they read."""
    reading = [task for task in payload.get("activeTasks") or () if task.get("startTime")]
    return frozenset(task["id"] for task in (*reading, *(payload.get("publishingTasks") or ())))


def not_contacted(running: Iterable[Mapping[str, Any]], supervisor: str, heard: Collection[str]) -> tuple[str, ...]:
    """Return the ids of the supervisor's tasks that have not heard of it; their group is ``index_kafka_<id>``."""
    own = [task["id"] for task in running if task.get("groupId") == f"{task.get('type')}_{supervisor}"]
    return tuple(task for task in own if task not in heard)
