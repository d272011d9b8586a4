# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The workers of pods: which task groups they read, and how each is drained, released, replaced or enabled. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.module_utils._resources import questions
from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import (
    HANDOFF_SECONDS,
    IDLE_SECONDS,
    TaskGroup,
    reading,
    refusal,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import DruidState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    DrainRequest,
    Limits,
    Record,
    Worker,
    WorkerGroup,
    WorkerPod,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

# Longer than a worker needs to be registered again after it has lost ZooKeeper, with its tasks.
LOST_SECONDS = 60


@dataclass(frozen=True)
class Progress:
    """How far a worker is. `is_done`: its pod may go. `awaited`: what it waits for."""

    record: Record | None
    is_done: bool = False
    requests: tuple[DrainRequest, ...] = ()
    awaited: str = ""
    warning: str = ""


def drain_progress(
    group: WorkerGroup, pod: WorkerPod, record: Record | None, limits: Limits, now: datetime
) -> Progress:
    """Return how far the drain of a pod's worker is."""
    record = _record(pod, record, now)
    progress = _unlimited_progress(group, pod, record, now)
    if progress.is_done or seconds_since(record.since, now) < limits.drain:
        return progress
    text = f"pod {pod.name} was released after {limits.drain:.0f} s although {progress.awaited}"
    return Progress(record, is_done=True, warning=text)


def is_handoff_due(record: Record, now: datetime) -> bool:
    """True unless a handoff was requested that may not have taken effect yet."""
    return not record.handed_off or seconds_since(record.handed_off, now) >= HANDOFF_SECONDS


def enabled_again(group: WorkerGroup, record: Record) -> Progress:
    """Return how far a worker is whose pod stays: it is enabled, and only then forgotten."""
    pod = group.pod(record.pod)
    if pod is None or pod.uid != record.uid or not record.is_ours:
        return Progress(None)
    if pod.is_terminating or pod.index >= group.desired:
        return Progress(record)
    if group.unreachable:
        return Progress(record, awaited=f"worker of pod {pod.name} has to be enabled again ({group.unreachable})")
    if pod.worker is None:
        return Progress(record, awaited=f"the worker of pod {pod.name} is not registered, and has to be enabled again")
    if pod.worker.is_enabled:
        return Progress(None)
    request = DrainRequest("enable", pod.worker.host, pod.name)
    record = replace(record, idle="")
    return Progress(record, requests=(request,), awaited=f"the worker of pod {pod.name} is being enabled again")


def _record(pod: WorkerPod, record: Record | None, now: datetime) -> Record:
    """Return the record of the drain; a worker that was started again since is enabled."""
    if record is not None and record.uid == pod.uid:
        return record
    return Record(pod.name, pod.uid, record.since if record else timestamp(now))


def _unlimited_progress(group: WorkerGroup, pod: WorkerPod, record: Record, now: datetime) -> Progress:
    if pod.is_terminating or _has_no_process(group, pod):
        return Progress(record, is_done=True)
    if group.unreachable:
        return Progress(record, awaited=f"the tasks of pod {pod.name} are not known ({group.unreachable})")
    if pod.worker is None:
        return _unregistered(pod, replace(record, idle=""), now)
    record = replace(record, lost="")
    if pod.worker.is_enabled:
        request = DrainRequest("disable", pod.worker.host, pod.name)
        ours = replace(record, is_ours=True, idle="")
        return Progress(ours, requests=(request,), awaited=f"the worker of pod {pod.name} is being disabled")
    if not pod.worker.tasks:
        return _idle(pod, record, now)
    return _waiting(pod, pod.worker, replace(record, idle=""), now)


def _idle(pod: WorkerPod, record: Record, now: datetime) -> Progress:
    """Return that the worker is done if it has been so in two readings: the first one may not show a new task yet."""
    idle = record.idle or timestamp(now)
    if seconds_since(idle, now) >= IDLE_SECONDS:
        return Progress(replace(record, idle=idle), is_done=True)
    text = f"the worker of pod {pod.name} was without a task in one reading, and has to be so in another one"
    return Progress(replace(record, idle=idle), awaited=text)


def _unregistered(pod: WorkerPod, record: Record, now: datetime) -> Progress:
    """Return that the worker is done if its pod has not been ready for a while: until then, its tasks may run."""
    text = f"no worker of pod {pod.name} is registered"
    if pod.is_ready:
        return Progress(replace(record, lost=""), awaited=text)
    record = replace(record, lost=record.lost or timestamp(now))
    is_done = seconds_since(record.lost, now) >= LOST_SECONDS
    return Progress(record, is_done, awaited="" if is_done else f"{text}, and it is not ready since {record.lost}")


def _has_no_process(group: WorkerGroup, pod: WorkerPod) -> bool:
    """True if nothing in the pod runs tasks. If Druid is unreachable, only Kubernetes knows whether a process runs."""
    if group.unreachable or pod.worker is not None:
        return bool(group.unreachable) and not pod.is_running
    return not pod.is_ready and (pod.is_broken or not pod.is_running)


def _waiting(pod: WorkerPod, worker: Worker, record: Record, now: datetime) -> Progress:
    requests: tuple[DrainRequest, ...] = ()
    if worker.reading and is_handoff_due(record, now):
        record, requests = replace(record, handed_off=timestamp(now)), tuple(_handoffs(pod, worker.reading))
    verb = "runs" if len(worker.tasks) == 1 else "run"
    return Progress(record, requests=requests, awaited=f"{join_limited(worker.tasks)} still {verb} on pod {pod.name}")


def _handoffs(pod: WorkerPod, reading: Iterable[TaskGroup]) -> Iterator[DrainRequest]:
    by_supervisor: dict[str, set[int]] = {}
    for each in reading:
        by_supervisor.setdefault(each.supervisor, set()).add(each.number)
    for supervisor, numbers in sorted(by_supervisor.items()):
        yield DrainRequest("handoff", supervisor, pod.name, tuple(sorted(numbers)))


@dataclass(frozen=True)
class Released:
    """What is known of the replacement. `record`: it is not finished. `is_replacing`: no other pod may follow yet.

    `resumed`: the pod stays after all, since the change was undone; its worker may be disabled.
    """

    record: Record | None = None
    is_replacing: bool = False
    requests: tuple[DrainRequest, ...] = ()
    awaited: str = ""
    warning: str = ""
    problem: str = ""
    resumed: Record | None = None


def released(group: WorkerGroup, record: Record, limits: Limits, now: datetime) -> Released:
    """Return how far the replacement of a released pod is."""
    pod, index = group.pod(record.pod), group.index(record.pod)
    if index >= group.replicas:
        return _removal(record, pod)
    if pod is not None and pod.uid == record.uid and not pod.is_terminating and _stays(group, pod):
        return Released(resumed=replace(record, released=""))
    if pod is not None and pod.uid != record.uid and (pod.is_outdated or index >= group.desired):
        # It was created again in its old revision, or is removed: it is drained like any other one.
        return Released()
    successor = _successor(group, record, pod)
    if successor.record is None or seconds_since(record.released, now) < limits.pod_ready:
        return successor
    if group.unreachable and pod is not None and pod.uid != record.uid and pod.is_ready:
        text = f"whether the worker of pod {pod.name} is enabled is not known ({group.unreachable})"
        return Released(warning=f"{text}; the drain was continued after {limits.pod_ready:.0f} s")
    return replace(
        successor, problem=f"{successor.awaited}, {limits.pod_ready:.0f} s after its predecessor was drained."
    )


def _stays(group: WorkerGroup, pod: WorkerPod) -> bool:
    """True if nothing replaces the pod now: the change was undone, or a later one begins with another pod."""
    if group.restarts:
        return False
    released_pods = {record.pod for record in group.records if record.released}
    others = (each for each in group.pods if each.is_outdated and each.index < min(group.replicas, group.desired))
    return not pod.is_outdated or any(other.index > pod.index and other.name not in released_pods for other in others)


def _removal(record: Record, pod: WorkerPod | None) -> Released:
    if pod is None:
        return Released()
    return _going(Released(record, awaited=f"pod {record.pod} is terminating"), record, pod)


def _going(going: Released, record: Record, pod: WorkerPod | None) -> Released:
    """Return what is known; if the process of the released pod has started again since, it must not get tasks."""
    if pod is None or pod.uid != record.uid or pod.is_terminating or pod.worker is None or not pod.worker.is_enabled:
        return going
    request = DrainRequest("disable", pod.worker.host, pod.name)
    return replace(going, record=replace(record, is_ours=True), requests=(request,))


def _successor(group: WorkerGroup, record: Record, pod: WorkerPod | None) -> Released:
    if pod is None or pod.uid == record.uid or pod.is_terminating:
        progress = Released(record, is_replacing=True, awaited=f"pod {record.pod} is being replaced")
        return _going(progress, record, pod)
    if not pod.is_ready:
        return Released(record, is_replacing=True, awaited=f"the new pod {record.pod} is not ready")
    if group.unreachable:
        text = f"whether the worker of the new pod {record.pod} is enabled is not known ({group.unreachable})"
        return Released(record, is_replacing=True, awaited=text)
    if pod.worker is None:
        return Released(record, is_replacing=True, awaited=f"the worker of the new pod {record.pod} is not registered")
    if pod.worker.is_enabled or not record.is_ours:
        return Released()
    request = DrainRequest("enable", pod.worker.host, pod.name)
    text = f"the worker of the new pod {record.pod} is not enabled"
    return Released(record, is_replacing=True, requests=(request,), awaited=text)


def worker_of(pod: Manifest, port: int, workers: Iterable[questions.Worker]) -> questions.Worker | None:
    """Return the worker that announces the address of the pod; on the network of the node, also its port."""
    addresses = {*_addresses(pod)}
    matching = [worker for worker in workers if _is_at(worker.name, addresses)]
    if len(matching) > 1 or (pod.get("spec") or {}).get("hostNetwork"):
        matching = [worker for worker in matching if worker.name.rpartition(":")[2] == str(port)]
    return matching[0] if len(matching) == 1 else None


def _addresses(pod: Manifest) -> Iterator[str]:
    """Yield the addresses that a Druid in the pod can announce: its IP, or its name, in DNS or without a domain."""
    spec, status, metadata = pod.get("spec") or {}, pod.get("status") or {}, pod["metadata"]
    yield from filter(None, (status.get("podIP"), *(address.get("ip") for address in status.get("podIPs") or ())))
    hostname = spec.get("hostname") or metadata["name"]
    yield hostname
    if spec.get("subdomain"):
        name = f"{hostname}.{spec['subdomain']}"
        yield from (name, f"{name}.{metadata['namespace']}", f"{name}.{metadata['namespace']}.svc")


def _is_at(name: str, addresses: set[str]) -> bool:
    """True if the host is one of the addresses, or that in DNS with the domain of the Kubernetes cluster."""
    host = name.rpartition(":")[0].strip("[]").lower()
    in_dns, namespace, _domain = host.partition(".svc.")
    return host in addresses or (bool(namespace) and f"{in_dns}.svc" in addresses)


def reads_streams(worker: questions.Worker, record: Record | None, now: datetime) -> bool:
    """True if the task groups of the worker may have to be handed off now: it is drained, and has tasks."""
    return record is not None and not worker.is_enabled and bool(worker.running_tasks) and is_handoff_due(record, now)


def as_worker(worker: questions.Worker, druid: DruidState, *, is_read: bool) -> Worker:
    """Return the worker for the decision; `is_read`: with the task groups that it reads."""
    read = tuple(reading(druid, worker)) if is_read else ()
    why_unknown = refusal(druid, worker) if is_read else ""
    return Worker(worker.name, worker.is_enabled, worker.running_tasks, read, why_unknown)
