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

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    Drain,
    DrainRequest,
    Limits,
    Record,
    WorkerGroup,
    WorkerPod,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.workers import (
    Progress,
    Released,
    drain_progress,
    enabled_again,
    released,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp


@dataclass
class _Course:
    """What has been decided so far."""

    records: list[Record] = field(default_factory=list)
    requests: list[DrainRequest] = field(default_factory=list)
    awaited: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, progress: Released | Progress) -> None:
        self.records += [progress.record] if progress.record else []
        self.requests += progress.requests
        self.awaited += [progress.awaited] if progress.awaited else []
        self.warnings += [progress.warning] if progress.warning else []
        self.problems += [progress.problem] if isinstance(progress, Released) and progress.problem else []


def drain(group: WorkerGroup, limits: Limits, now: datetime) -> Drain:
    """Return what follows for the StatefulSet and its workers."""
    if group.requests_drain and not group.restarts and not group.is_observed:
        return Drain(group.partition, max(group.replicas, group.desired), group.records)
    course = _Course()
    replaced = [released(group, each, limits, now) for each in group.records if each.released]
    going = {found.record.pod for found in replaced if found.record and found.is_replacing}
    for replacement in replaced:
        course.add(replacement)
    target = targets(group, going, limits)
    course.awaited += [target.gap] if target.gap else []
    open_records = {each.pod: each for each in group.records if not each.released} | {
        found.resumed.pod: found.resumed for found in replaced if found.resumed
    }
    drains = [drain_progress(group, pod, open_records.pop(pod.name, None), limits, now) for pod in target.pods]
    free = target.free([found.is_done for found in drains], going)
    for pod, progress in zip(target.pods, drains, strict=True):
        course.add(_next_state(pod, progress, now, is_free=pod.name in free))
    for record in open_records.values():
        course.add(_kept(record) if _is_awaited(group, record, target) else enabled_again(group, record))
    return Drain(
        partition=_partition(group, target, going | free),
        replicas=group.desired if not target.removed or free else max(group.replicas, group.desired),
        records=tuple(sorted(course.records, key=lambda each: -group.index(each.pod))),
        requests=tuple(course.requests),
        awaited=tuple(course.awaited),
        warnings=tuple(course.warnings),
        problem=" ".join(course.problems),
    )


def _next_state(pod: WorkerPod, progress: Progress, now: datetime, *, is_free: bool) -> Progress:
    """Return the drain with its record after this decision: the pod is released, or waits for others."""
    if is_free:
        return replace(progress, record=_as_released(progress.record, now), requests=())
    if progress.is_done:
        return replace(progress, requests=(), awaited=f"pod {pod.name} is drained, and waits for others", warning="")
    return progress


def _as_released(record: Record | None, now: datetime) -> Record | None:
    return replace(record, released=timestamp(now), idle="", lost="") if record else None


def _is_awaited(group: WorkerGroup, record: Record, target: Targets) -> bool:
    """True for a worker that stays disabled: its pod goes when its revision is known, or when others are ready.

    Its revision will be another one only if a rollout is under way: other groups may have their turn before.
    """
    pod = group.pod(record.pod)
    is_rolling = group.restarts and any(each.is_outdated for each in group.pods)
    is_later = is_rolling or (bool(target.gap) and pod in target.outdated)
    return group.requests_drain and is_later and pod is not None and pod.uid == record.uid


def _kept(record: Record) -> Progress:
    return Progress(record=record)


def _partition(group: WorkerGroup, target: Targets, released_names: set[str]) -> int:
    """Return the partition: it keeps all outdated pods but the released ones."""
    if not group.requests_drain:
        return group.requested
    if group.restarts:
        return max(group.requested, group.replicas)
    if target.removed:
        has_outdated = any(pod.is_outdated and pod.index >= group.requested for pod in group.pods)
        kept = group.desired if all(pod.name in released_names for pod in target.pods) else group.replicas
        return max(group.requested, kept) if has_outdated else group.requested
    partitions = [pod.index + 1 for pod in target.outdated if pod.name not in released_names]
    return max(group.requested, *partitions) if partitions else group.requested


@dataclass(frozen=True)
class Targets:
    """The pods that are drained now, the last one first.

    `outdated`: all pods that the rollout has yet to replace. `removed`: fewer replicas remove the pods.
    `goes_together`: they are released only when all of them are done. `gap`: why the controller replaces none now.
    """

    pods: Sequence[WorkerPod]
    outdated: Sequence[WorkerPod] = ()
    removed: bool = False
    goes_together: bool = False
    gap: str = ""

    def free(self, are_drained: Sequence[bool], going: Collection[str]) -> set[str]:
        """Return the names of the pods that may go now; `are_drained`: whether the drain of each pod has ended.

        The controller replaces the last one first, and one at a time; so does the partition, and each has its time to
        be ready.
        """
        if self.goes_together:
            return {pod.name for pod in self.pods} if all(are_drained) else set()
        return {self.pods[0].name} if self.pods and are_drained[0] and not going else set()


def targets(group: WorkerGroup, going: Collection[str], limits: Limits) -> Targets:
    """Return what is drained now, while the pods with these names are being replaced."""
    outdated = _outdated(group)
    if removed := _removed(group, going):
        return Targets(removed, outdated, removed=True, goes_together=True)
    blocked = [] if going else _blocked(group, outdated)
    if gap := _gap(group, outdated, {*going, *(pod.name for pod in blocked)}):
        return Targets((), outdated, gap=gap)
    number = limits.at_once(min(group.replicas, group.desired)) - len(going)
    waiting = [pod for pod in outdated if pod.name not in going]
    return Targets(blocked or waiting[: max(0, number)], outdated, goes_together=bool(blocked))


def _removed(group: WorkerGroup, going: Collection[str]) -> list[WorkerPod]:
    """Return the pods that fewer replicas remove, the last one first."""
    pods = [pod for pod in group.pods if group.desired <= pod.index < group.replicas and pod.name not in going]
    return sorted(pods, key=lambda pod: -pod.index) if group.requests_drain else []


def _outdated(group: WorkerGroup) -> list[WorkerPod]:
    """Return the pods that a rollout replaces, the last one first."""
    last = min(group.replicas, group.desired)
    pods = [pod for pod in group.pods if group.requested <= pod.index < last and pod.is_outdated]
    return sorted(pods, key=lambda pod: -pod.index) if group.requests_drain and not group.restarts else []


def _blocked(group: WorkerGroup, outdated: Sequence[WorkerPod]) -> list[WorkerPod]:
    """Return the pods from a broken one on: an ordered update replaces none of them before that one is replaced."""
    broken = [pod.index for pod in outdated if pod.is_broken] if group.is_ordered else []
    return [pod for pod in outdated if broken and pod.index >= min(broken)]


def _gap(group: WorkerGroup, outdated: Sequence[WorkerPod], known: Collection[str]) -> str:
    """Return which pod the controller waits for: one above the outdated ones, in an ordered update also one below.

    Of the known ones it is clear that they are not ready. The pod that goes next may be so too.
    """
    if not outdated:
        return ""
    pods, first = {pod.index: pod for pod in group.pods}, outdated[0].index
    numbers = range(0 if group.is_ordered else first + 1, min(group.replicas, group.desired))
    for index in sorted({*numbers} - {first, *map(group.index, known)}):
        pod = pods.get(index)
        if pod is None or not pod.is_ready or pod.is_terminating:
            return f"pod {pod.name if pod else f'number {index}'} is not ready"
    return ""
