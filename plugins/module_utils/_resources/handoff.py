# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The task groups that a worker reads, whose handoff can be requested of their supervisor since Druid 31. Pure.

A worker that is disabled gets no tasks. Its tasks that read a stream go on until their task groups are handed off: then
they publish, and other workers read on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    LASTING,
    UNSUPPORTED,
    DruidState,
    Question,
    Unavailable,
)

# A supervisor acts on a handoff in its next run, within 30 s by default.
HANDOFF_SECONDS = 60
# The Overlord may have assigned a task before it disabled the worker, which does not show the task yet.
IDLE_SECONDS = 10


class TaskGroup(NamedTuple):
    """A task group of a supervisor, whose task reads a stream."""

    supervisor: str
    number: int


# The first version with the API for handoffs.
_WITH_HANDOFF = (31,)
# The types of the tasks of a supervisor that reads a stream.
_OF_STREAMS = ("index_kafka", "index_kinesis", "index_rabbit")
VERSION: Question[tuple[int, ...]] = Question("version", "/status", lambda document: _version(str(document["version"])))
FOR_HANDOFF: tuple[Question[Any], ...] = (questions.RUNNING_TASKS, questions.SUPERVISORS, VERSION)


def handoff_questions(druid: DruidState, workers: Sequence[questions.Worker]) -> tuple[Question[Any], ...]:
    """Return what has to be asked about the task groups that workers read: each answer may lead to more questions."""
    asked: tuple[Question[Any], ...] = FOR_HANDOFF
    for further in (payloads, statuses):
        if druid.missing_answers(asked):
            break
        asked = (*asked, *(question for worker in workers for question in further(druid, worker)))
    return tuple(dict.fromkeys(asked))


def payloads(druid: DruidState, worker: questions.Worker) -> Iterator[Question[TaskGroup]]:
    """Yield the question for each task of the worker that reads a stream, if this Druid can hand it off."""
    yield from map(task_payload, _stream_tasks(druid, worker))


def _stream_tasks(druid: DruidState, worker: questions.Worker) -> Iterator[str]:
    tasks, version = druid.answer(questions.RUNNING_TASKS), druid.answer(VERSION)
    if isinstance(tasks, Unavailable) or isinstance(version, Unavailable) or version < _WITH_HANDOFF:
        return
    types = {task.id: task.type for task in tasks}
    yield from (task for task in worker.running_tasks if types.get(task) in _OF_STREAMS)


def statuses(druid: DruidState, worker: questions.Worker) -> Iterator[Question[frozenset[str]]]:
    """Yield the question for each supervisor of these tasks, once their payloads are known."""
    supervisors = {found.supervisor for _task, found in _task_groups(druid, worker)}
    yield from (active_tasks(supervisor) for supervisor in sorted(supervisors))


def task_payload(task: str) -> Question[TaskGroup]:
    """Return the question for the task group of a task."""
    return Question(f"task {task}", f"/druid/indexer/v1/task/{quote(task, safe='')}", _task_group)


def active_tasks(supervisor: str) -> Question[frozenset[str]]:
    """Return the question for the tasks of a supervisor that read; those that were handed off publish."""
    path = f"/druid/indexer/v1/supervisor/{quote(supervisor, safe='')}/status"
    return Question(f"active tasks of supervisor {supervisor}", path, _active_tasks)


def _task_group(document: Mapping[str, Any]) -> TaskGroup:
    task = document["payload"]
    return TaskGroup(str(task.get("supervisorId") or task["dataSource"]), int(task["ioConfig"]["taskGroupId"]))


def _active_tasks(document: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(str(each["id"]) for each in document["payload"]["activeTasks"])


def refusal(druid: DruidState, worker: questions.Worker) -> str:
    """Return why the task groups that the worker reads are not known, if that lasts; empty if it may read none."""
    if isinstance(tasks := druid.answer(questions.RUNNING_TASKS), Unavailable):
        return tasks.message if tasks.cause in LASTING else ""
    if not any(task.id in worker.running_tasks and task.type in _OF_STREAMS for task in tasks):
        return ""
    # A task or a supervisor may have ended since the lists were read.
    of_one: tuple[Question[Any], ...] = (*payloads(druid, worker), *statuses(druid, worker))
    causes = {**dict.fromkeys(FOR_HANDOFF, LASTING), **dict.fromkeys(of_one, LASTING - {UNSUPPORTED})}
    answers = ((druid.answer(question), refusals) for question, refusals in causes.items())
    refused = (each.message for each, refusals in answers if isinstance(each, Unavailable) and each.cause in refusals)
    return next(refused, "")


def is_too_old(druid: DruidState, worker: questions.Worker) -> bool:
    """True if the worker reads a stream, and this Druid cannot hand its task groups off."""
    tasks, version = druid.answer(questions.RUNNING_TASKS), druid.answer(VERSION)
    if isinstance(tasks, Unavailable) or isinstance(version, Unavailable) or version >= _WITH_HANDOFF:
        return False
    return any(task.id in worker.running_tasks and task.type in _OF_STREAMS for task in tasks)


def reading(druid: DruidState, worker: questions.Worker) -> Iterator[TaskGroup]:
    """Yield the task groups that the worker reads.

    If its task publishes already, another worker reads the task group: that one must not be handed off once more.
    """
    for task, task_group in _task_groups(druid, worker):
        active = druid.answer(active_tasks(task_group.supervisor))
        if not isinstance(active, Unavailable) and task in active:
            yield task_group


def _task_groups(druid: DruidState, worker: questions.Worker) -> Iterator[tuple[str, TaskGroup]]:
    """Yield the tasks of the worker that belong to a supervisor, with their task groups."""
    supervisors = druid.answer(questions.SUPERVISORS)
    if isinstance(supervisors, Unavailable):
        return
    known = {supervisor.id for supervisor in supervisors}
    for task in _stream_tasks(druid, worker):
        answer = druid.answer(task_payload(task))
        if not isinstance(answer, Unavailable) and answer.supervisor in known:
            yield task, answer


def _version(text: str) -> tuple[int, ...]:
    return (int(text.partition(".")[0]),)
