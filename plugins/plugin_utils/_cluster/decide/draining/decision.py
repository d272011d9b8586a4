# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide how the drain of a group goes on: one pure function of what is live, and of what was recorded.

A rollout: the partition keeps all outdated pods, the worker of the last one is drained, and then the partition releases
exactly that pod. The next one follows when the new pod is ready, and its worker is registered and enabled. Workers of
further pods are drained meanwhile, as far as the limit permits it. Fewer replicas: all pods that they remove are
drained at once, then the replicas are lowered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.record import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.release import Released, released
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.state import (
    Drain,
    Limits,
    Request,
    WorkerGroup,
    WorkerPod,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.worker import (
    Draining,
    drained,
    enabled_again,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp


@dataclass
class _Course:
    """What has been decided so far."""

    records: list[Record] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    awaited: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, found: Released | Draining) -> None:
        self.records += [found.record] if found.record else []
        self.requests += found.requests
        self.awaited += [found.awaited] if found.awaited else []
        self.warnings += [found.warning] if found.warning else []
        self.problems += [found.problem] if isinstance(found, Released) and found.problem else []


def drain(group: WorkerGroup, limits: Limits, now: datetime) -> Drain:
    """Return what follows for the StatefulSet and its workers."""
    if group.is_drained and not group.restarts and not group.is_observed:
        return Drain(group.partition, max(group.replicas, group.desired), group.records)
    course = _Course()
    replaced = [released(group, each, limits, now) for each in group.records if each.released]
    going = {found.record.pod for found in replaced if found.record and found.is_replacing}
    for replacement in replaced:
        course.add(replacement)
    removed = _removed(group, going)
    outdated = _outdated(group)
    targets = removed or ([] if _has_gap(group, outdated, going, course) else _next(group, outdated, going, limits))
    open_records = {each.pod: each for each in group.records if not each.released} | {
        found.resumed.pod: found.resumed for found in replaced if found.resumed
    }
    drains = [drained(group, pod, open_records.pop(pod.name, None), limits, now) for pod in targets]
    free = _free(group, targets, [found.is_done for found in drains], going)
    for pod, found in zip(targets, drains, strict=True):
        course.add(_next_state(pod, found, now, is_free=pod.name in free))
    for record in open_records.values():
        course.add(_kept(record) if _is_awaiting_turn(group, record) else enabled_again(group, record))
    return Drain(
        partition=_partition(group, outdated, removed, going, free),
        replicas=group.desired if not removed or free else max(group.replicas, group.desired),
        records=tuple(sorted(course.records, key=lambda each: -group.index(each.pod))),
        requests=tuple(course.requests),
        awaited=tuple(course.awaited),
        warnings=tuple(course.warnings),
        problem=" ".join(course.problems),
    )


def _removed(group: WorkerGroup, going: set[str]) -> list[WorkerPod]:
    """Return the pods that fewer replicas remove, the last one first."""
    found = [pod for pod in group.pods if group.desired <= pod.index < group.replicas and pod.name not in going]
    return sorted(found, key=lambda pod: -pod.index) if group.is_drained else []


def _outdated(group: WorkerGroup) -> list[WorkerPod]:
    """Return the pods that a rollout replaces, the last one first."""
    last = min(group.replicas, group.desired)
    found = [pod for pod in group.pods if group.requested <= pod.index < last and pod.is_outdated]
    return sorted(found, key=lambda pod: -pod.index) if group.is_drained and not group.restarts else []


def _has_gap(group: WorkerGroup, outdated: Sequence[WorkerPod], going: set[str], course: _Course) -> bool:
    """True if a pod above the outdated ones is missing or not ready: the controller replaces none meanwhile.

    Pods that are being replaced are awaited already.
    """
    if not outdated:
        return False
    pods, known = {pod.index: pod for pod in group.pods}, {group.index(name) for name in going}
    for index in sorted({*range(outdated[0].index + 1, min(group.replicas, group.desired))} - known):
        pod = pods.get(index)
        if pod is None or not pod.is_ready or pod.is_terminating:
            course.awaited.append(f"pod {pod.name if pod else f'number {index}'} is not ready")
            return True
    return False


def _next(group: WorkerGroup, outdated: Sequence[WorkerPod], going: set[str], limits: Limits) -> list[WorkerPod]:
    """Return the pods that are drained now, the last one first."""
    number = limits.at_once(min(group.replicas, group.desired)) - len(going)
    waiting = [pod for pod in outdated if pod.name not in going]
    blocked = [] if going else _blocked(group, outdated)
    return blocked or waiting[: max(0, number)]


def _blocked(group: WorkerGroup, outdated: Sequence[WorkerPod]) -> list[WorkerPod]:
    """Return the pods from one that is not ready on: an ordered update replaces none of them meanwhile."""
    unready = [pod.index for pod in outdated if not pod.is_ready] if group.is_ordered else []
    return [pod for pod in outdated if unready and pod.index >= min(unready)]


def _free(group: WorkerGroup, targets: Sequence[WorkerPod], done: Sequence[bool], going: set[str]) -> set[str]:
    """Return the names of the pods that may go now.

    The controller replaces the last one first, and one at a time; so does the partition, and each has its time to be
    ready. Those that fewer replicas remove, or that block an ordered update, go together.
    """
    goes_together = targets == _blocked(group, targets) or any(pod.index >= group.desired for pod in targets)
    if goes_together:
        return {pod.name for pod in targets} if all(done) else set()
    return {targets[0].name} if targets and done[0] and not going else set()


def _next_state(pod: WorkerPod, found: Draining, now: datetime, *, is_free: bool) -> Draining:
    """Return the drain with its record after this decision: the pod is released, or waits for those after it."""
    if is_free:
        return replace(found, record=_as_released(found.record, now), requests=())
    if found.is_done:
        return replace(found, requests=(), awaited=f"pod {pod.name} waits for those after it", warning="")
    return found


def _as_released(record: Record | None, now: datetime) -> Record | None:
    return replace(record, released=timestamp(now), idle="") if record else None


def _is_awaiting_turn(group: WorkerGroup, record: Record) -> bool:
    """True for a worker that stays disabled: its pod will be of another revision, which is not known yet."""
    pod = group.pod(record.pod)
    return group.is_drained and group.restarts and pod is not None and pod.uid == record.uid


def _kept(record: Record) -> Draining:
    return Draining(record=record)


def _partition(
    group: WorkerGroup, outdated: Sequence[WorkerPod], removed: Sequence[WorkerPod], going: set[str], free: set[str]
) -> int:
    """Return the partition: it keeps all outdated pods but the released ones."""
    if not group.is_drained:
        return group.requested
    if group.restarts:
        return max(group.requested, group.replicas)
    if removed:
        has_outdated = any(pod.is_outdated and pod.index >= group.requested for pod in group.pods)
        kept = group.desired if free else group.replicas
        return max(group.requested, kept) if has_outdated else group.requested
    kept_pods = [pod.index + 1 for pod in outdated if pod.name not in going | free]
    return max(group.requested, *kept_pods) if kept_pods else group.requested
