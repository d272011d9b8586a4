# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Tasks that the termination of a stream supervisor orphans: Druid never stops them, and they occupy slots.

A supervisor knows a task that it has created only after its next run (``period``). When it is terminated, it lets the
tasks that it knows publish their rows, and no other (Druid 27 and 33, ``SeekableStreamSupervisor``). Tasks that wait
for a slot have read nothing. Lists of tasks: ``/druid/indexer/v1/tasks`` of the Overlord.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError
from ansible_collections.druidops.druid.plugins.module_utils._resources.task import shut_down
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

_TASKS = path("druid", "indexer", "v1", "tasks")
_SUPERVISORS = path("druid", "indexer", "v1", "supervisor")
# in the order in which a task has them: one that changes its state between two requests is in a list
_STATES = ("waiting", "pending", "running")
_TYPES = frozenset({"index_kafka", "index_kinesis", "index_rabbit"})
# In these states a supervisor has contacted all tasks of its group that existed when its last run began. In any other
# state it may not know tasks that publish, such as those of the same supervisor before it was suspended or changed.
_KNOWS_ITS_TASKS = frozenset({"RUNNING", "IDLE", "SUSPENDED", "UNHEALTHY_TASKS", "LOST_CONTACT_WITH_STREAM"})


@dataclass(frozen=True)
class OrphanedTasks:
    """
    Ids of tasks, in Druid's order.

    ``certain``: no supervisor stops them, and none of their rows is being published. ``uncertain``: they may be
    publishing rows.
    """

    certain: tuple[str, ...] = ()
    uncertain: tuple[str, ...] = ()


def orphaned_tasks(
    tasks: Iterable[Mapping[str, Any]], supervisor: str, payload: Mapping[str, Any] | None
) -> OrphanedTasks:
    """
    Return the tasks that a termination orphans. Pure.

    ``tasks``: from the lists. ``payload``: that of the supervisor's status just before its termination, None if it had
    no status.
    """
    known = payload or {}
    active = {task["id"]: task.get("startTime") for task in known.get("activeTasks") or ()}
    publishing = {task["id"] for task in known.get("publishingTasks") or ()}
    is_complete = known.get("detailedState") in _KNOWS_ITS_TASKS
    certain, uncertain = [], []
    for task in tasks:
        name = task["id"]
        if not _is_in_group(task, supervisor):
            continue
        if active.get(name) or name in publishing:
            # it publishes its rows, and ends
            continue
        if task.get("runnerStatusCode") in ("PENDING", "WAITING") or (is_complete and name not in active):
            certain.append(name)
        else:
            uncertain.append(name)
    return OrphanedTasks(tuple(certain), tuple(uncertain))


def _is_in_group(task: Mapping[str, Any], supervisor: str) -> bool:
    kind = task.get("type")
    return kind in _TYPES and task.get("groupId") == f"{kind}_{supervisor}"


def status_payload(client: DruidClient, supervisor: str) -> Mapping[str, Any] | None:
    """Return the payload of the supervisor's status, None if it has none or does not exist."""
    try:
        payload: Mapping[str, Any] | None = client.get(
            path("druid", "indexer", "v1", "supervisor", supervisor, "status")
        ).get("payload")
    except ApiError:
        return None
    return payload


def find_orphaned_tasks(client: DruidClient, supervisor: str, payload: Mapping[str, Any] | None) -> OrphanedTasks:
    """Read the lists of tasks, and return those that a termination orphans."""
    lists = (client.get(_TASKS, params={"state": state}) or () for state in _STATES)
    # a task that is in two lists has the later state
    tasks = {task["id"]: task for each in lists for task in each}
    return orphaned_tasks(tasks.values(), supervisor, payload)


def shut_down_orphaned_tasks(
    client: DruidClient, supervisor: str, payload: Mapping[str, Any] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """
    Shut down the orphaned tasks of a terminated supervisor. Return their ids, and warnings.

    Nothing is shut down if a supervisor with this id exists again, since the tasks are its own then. If the supervisor
    contacted a task after ``payload`` was read, in the last moment, its rows stay in the stream: nothing is committed.
    """
    try:
        found = find_orphaned_tasks(client, supervisor, payload)
        if not (found.certain or found.uncertain) or supervisor in client.get(_SUPERVISORS):
            return (), ()
    except DruidError as error:
        return (), (f"Cannot check whether tasks of supervisor {supervisor} still run: {error}",)
    done, warnings = [], [_uncertain(task, supervisor) for task in found.uncertain]
    for task in found.certain:
        try:
            shut_down(client, task)
            done.append(task)
        except DruidError as error:
            warnings.append(
                f"Task {task} was orphaned when its supervisor {supervisor} was terminated, and could not be shut "
                f"down: {error} Shut it down in Druid."
            )
    return tuple(done), tuple(warnings)


def _uncertain(task: str, supervisor: str) -> str:
    return (
        f"Task {task} still runs after its supervisor {supervisor} was terminated. It may be publishing its rows, so "
        "it was not shut down. If it does not end, shut it down in Druid."
    )
