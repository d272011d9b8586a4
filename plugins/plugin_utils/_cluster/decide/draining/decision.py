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
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.targets import Targets, targets
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
    target = targets(group, going, limits)
    course.awaited += [target.gap] if target.gap else []
    open_records = {each.pod: each for each in group.records if not each.released} | {
        found.resumed.pod: found.resumed for found in replaced if found.resumed
    }
    drains = [drained(group, pod, open_records.pop(pod.name, None), limits, now) for pod in target.pods]
    free = target.free([found.is_done for found in drains], going)
    for pod, found in zip(target.pods, drains, strict=True):
        course.add(_next_state(pod, found, now, is_free=pod.name in free))
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


def _next_state(pod: WorkerPod, found: Draining, now: datetime, *, is_free: bool) -> Draining:
    """Return the drain with its record after this decision: the pod is released, or waits for others."""
    if is_free:
        return replace(found, record=_as_released(found.record, now), requests=())
    if found.is_done:
        return replace(found, requests=(), awaited=f"pod {pod.name} is drained, and waits for others", warning="")
    return found


def _as_released(record: Record | None, now: datetime) -> Record | None:
    return replace(record, released=timestamp(now), idle="", lost="") if record else None


def _is_awaited(group: WorkerGroup, record: Record, target: Targets) -> bool:
    """True for a worker that stays disabled: its pod goes when its revision is known, or when others are ready.

    Its revision will be another one only if a rollout is under way: other groups may have their turn before.
    """
    pod = group.pod(record.pod)
    is_rolling = group.restarts and any(each.is_outdated for each in group.pods)
    is_later = is_rolling or (bool(target.gap) and pod in target.outdated)
    return group.is_drained and is_later and pod is not None and pod.uid == record.uid


def _kept(record: Record) -> Draining:
    return Draining(record=record)


def _partition(group: WorkerGroup, target: Targets, released_names: set[str]) -> int:
    """Return the partition: it keeps all outdated pods but the released ones."""
    if not group.is_drained:
        return group.requested
    if group.restarts:
        return max(group.requested, group.replicas)
    if target.removed:
        has_outdated = any(pod.is_outdated and pod.index >= group.requested for pod in group.pods)
        kept = group.desired if all(pod.name in released_names for pod in target.pods) else group.replicas
        return max(group.requested, kept) if has_outdated else group.requested
    kept_pods = [pod.index + 1 for pod in target.outdated if pod.name not in released_names]
    return max(group.requested, *kept_pods) if kept_pods else group.requested
