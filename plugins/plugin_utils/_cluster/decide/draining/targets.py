# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which pods of a group are drained now, in the order in which the controller replaces them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.state import (
    Limits,
    WorkerGroup,
    WorkerPod,
)


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

    def free(self, done: Sequence[bool], going: Collection[str]) -> set[str]:
        """Return the names of the pods that may go now; `done`: which ones of the pods are drained.

        The controller replaces the last one first, and one at a time; so does the partition, and each has its time to
        be ready.
        """
        if self.goes_together:
            return {pod.name for pod in self.pods} if all(done) else set()
        return {self.pods[0].name} if self.pods and done[0] and not going else set()


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
    found = [pod for pod in group.pods if group.desired <= pod.index < group.replicas and pod.name not in going]
    return sorted(found, key=lambda pod: -pod.index) if group.is_drained else []


def _outdated(group: WorkerGroup) -> list[WorkerPod]:
    """Return the pods that a rollout replaces, the last one first."""
    last = min(group.replicas, group.desired)
    found = [pod for pod in group.pods if group.requested <= pod.index < last and pod.is_outdated]
    return sorted(found, key=lambda pod: -pod.index) if group.is_drained and not group.restarts else []


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
