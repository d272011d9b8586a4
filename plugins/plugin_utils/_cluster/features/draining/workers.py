# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workers of pods: which worker of Druid runs in which pod, and which task groups it reads. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    Record,
    TaskGroup,
    Worker,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.worker import is_handoff_due
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import questions
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import (
    LASTING,
    UNSUPPORTED,
    DruidState,
    Question,
    Unavailable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The first version with the API for handoffs.
_WITH_HANDOFF = (31,)
# The types of the tasks of a supervisor that reads a stream.
_OF_STREAMS = ("index_kafka", "index_kinesis", "index_rabbit")
VERSION: Question[tuple[int, ...]] = Question("version", "/status", lambda document: _version(str(document["version"])))
FOR_HANDOFF: tuple[Question[Any], ...] = (questions.RUNNING_TASKS, questions.SUPERVISORS, VERSION)


def worker_of(pod: Manifest, port: int, workers: Iterable[questions.Worker]) -> questions.Worker | None:
    """Return the worker that announces the address of the pod; on the network of the node, also its port."""
    addresses = {*_addresses(pod)}
    found = [worker for worker in workers if _is_at(worker.name, addresses)]
    if len(found) > 1 or (pod.get("spec") or {}).get("hostNetwork"):
        found = [worker for worker in found if worker.name.rpartition(":")[2] == str(port)]
    return found[0] if len(found) == 1 else None


def _addresses(pod: Manifest) -> Iterator[str]:
    """Yield the addresses that a Druid in the pod can announce: its IP, or its name, in DNS or without a domain."""
    spec, status, metadata = pod.get("spec") or {}, pod.get("status") or {}, pod["metadata"]
    yield from filter(None, (status.get("podIP"), *(each.get("ip") for each in status.get("podIPs") or ())))
    hostname = spec.get("hostname") or metadata["name"]
    yield hostname
    if spec.get("subdomain"):
        name = f"{hostname}.{spec['subdomain']}"
        yield from (name, f"{name}.{metadata['namespace']}", f"{name}.{metadata['namespace']}.svc")


def _is_at(name: str, addresses: set[str]) -> bool:
    """True if the host is one of the addresses, or that in DNS with the domain of the Kubernetes cluster."""
    host = name.rpartition(":")[0].strip("[]").lower()
    in_dns, found, _domain = host.partition(".svc.")
    return host in addresses or (bool(found) and f"{in_dns}.svc" in addresses)


def reads_streams(worker: questions.Worker, record: Record | None, now: datetime) -> bool:
    """True if the task groups of the worker may have to be handed off now: it is drained, and has tasks."""
    return record is not None and not worker.is_enabled and bool(worker.running_tasks) and is_handoff_due(record, now)


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


def as_worker(worker: questions.Worker, druid: DruidState, *, is_read: bool) -> Worker:
    """Return the worker for the decision; `is_read`: with the task groups that it reads."""
    reading = tuple(_reading(druid, worker)) if is_read else ()
    refusal = _refusal(druid, worker) if is_read else ""
    return Worker(worker.name, worker.is_enabled, worker.running_tasks, reading, refusal)


def _refusal(druid: DruidState, worker: questions.Worker) -> str:
    """Return why the task groups that the worker reads are not known, if that lasts; empty if it may read none."""
    if isinstance(tasks := druid.answer(questions.RUNNING_TASKS), Unavailable):
        return tasks.message if tasks.cause in LASTING else ""
    if not any(task.id in worker.running_tasks and task.type in _OF_STREAMS for task in tasks):
        return ""
    # A task or a supervisor may have ended since the lists were read.
    of_one: tuple[Question[Any], ...] = (*payloads(druid, worker), *statuses(druid, worker))
    causes = {**dict.fromkeys(FOR_HANDOFF, LASTING), **dict.fromkeys(of_one, LASTING - {UNSUPPORTED})}
    found = ((druid.answer(question), refusals) for question, refusals in causes.items())
    refused = (each.message for each, refusals in found if isinstance(each, Unavailable) and each.cause in refusals)
    return next(refused, "")


def _reading(druid: DruidState, worker: questions.Worker) -> Iterator[TaskGroup]:
    """Yield the task groups that the worker reads.

    If its task publishes already, another worker reads the task group: that one must not be handed off once more.
    """
    for task, found in _task_groups(druid, worker):
        active = druid.answer(active_tasks(found.supervisor))
        if not isinstance(active, Unavailable) and task in active:
            yield found


def _task_groups(druid: DruidState, worker: questions.Worker) -> Iterator[tuple[str, TaskGroup]]:
    """Yield the tasks of the worker that belong to a supervisor, with their task groups."""
    supervisors = druid.answer(questions.SUPERVISORS)
    if isinstance(supervisors, Unavailable):
        return
    known = {supervisor.id for supervisor in supervisors}
    for task in _stream_tasks(druid, worker):
        found = druid.answer(task_payload(task))
        if not isinstance(found, Unavailable) and found.supervisor in known:
            yield task, found


def _version(text: str) -> tuple[int, ...]:
    return (int(text.partition(".")[0]),)
