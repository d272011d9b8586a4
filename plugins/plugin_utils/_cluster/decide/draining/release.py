# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A released pod: it is replaced, and its successor must be ready, registered and enabled. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.record import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.state import (
    Limits,
    Request,
    WorkerGroup,
    WorkerPod,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since


@dataclass(frozen=True)
class Released:
    """What is known of the replacement. `record`: it is not finished. `is_replacing`: no other pod may follow yet.

    `resumed`: the pod stays after all, since the change was undone; its worker may be disabled.
    """

    record: Record | None = None
    is_replacing: bool = False
    requests: tuple[Request, ...] = ()
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
    found = _successor(group, record, pod)
    if found.record is None or seconds_since(record.released, now) < limits.pod_ready:
        return found
    if group.unreachable and pod is not None and pod.uid != record.uid and pod.is_ready:
        text = f"whether the worker of pod {pod.name} is enabled is not known ({group.unreachable})"
        return Released(warning=f"{text}; the drain was continued after {limits.pod_ready:.0f} s")
    return replace(found, problem=f"{found.awaited}, {limits.pod_ready:.0f} s after its predecessor was drained.")


def _stays(group: WorkerGroup, pod: WorkerPod) -> bool:
    """True if nothing replaces the pod now: the change was undone, or a later one begins with another pod."""
    if group.restarts:
        return False
    released_pods = {record.pod for record in group.records if record.released}
    others = (each for each in group.pods if each.is_outdated and each.index < min(group.replicas, group.desired))
    return not pod.is_outdated or any(each.index > pod.index and each.name not in released_pods for each in others)


def _removal(record: Record, pod: WorkerPod | None) -> Released:
    if pod is None:
        return Released()
    return _going(Released(record, awaited=f"pod {record.pod} is terminating"), record, pod)


def _going(found: Released, record: Record, pod: WorkerPod | None) -> Released:
    """Return what is known; if the process of the released pod has started again since, it must not get tasks."""
    if pod is None or pod.uid != record.uid or pod.is_terminating or pod.worker is None or not pod.worker.is_enabled:
        return found
    request = Request("disable", pod.worker.host, pod.name)
    return replace(found, record=replace(record, is_ours=True), requests=(request,))


def _successor(group: WorkerGroup, record: Record, pod: WorkerPod | None) -> Released:
    if pod is None or pod.uid == record.uid or pod.is_terminating:
        found = Released(record, is_replacing=True, awaited=f"pod {record.pod} is being replaced")
        return _going(found, record, pod)
    if not pod.is_ready:
        return Released(record, is_replacing=True, awaited=f"the new pod {record.pod} is not ready")
    if group.unreachable:
        text = f"whether the worker of the new pod {record.pod} is enabled is not known ({group.unreachable})"
        return Released(record, is_replacing=True, awaited=text)
    if pod.worker is None:
        return Released(record, is_replacing=True, awaited=f"the worker of the new pod {record.pod} is not registered")
    if pod.worker.is_enabled or not record.is_ours:
        return Released()
    request = Request("enable", pod.worker.host, pod.name)
    text = f"the worker of the new pod {record.pod} is not enabled"
    return Released(record, is_replacing=True, requests=(request,), awaited=text)
