# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a drain is about: the pods of a group of workers, their workers in Druid, its record, and its limits. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import TaskGroup
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import seconds_of

DRAINING, WAITING_FOR_POD, BLOCKED = "Draining", "WaitingForPod", "Blocked"
STRATEGY = "middleManagerDrainStrategy"
_WORKERS = ("middleManager", "indexer")


@dataclass(frozen=True)
class Record:
    """A pod whose worker is drained: its name, uid, since when, and when it was released, so that it may be replaced.

    `handed_off`: when the handoff of its task groups was requested. `idle`: since when it was disabled and without a
    task in every reading. `lost`: since when it was not registered, and its pod not ready, in every reading.
    `is_ours`: it was enabled before, and is disabled by us. Otherwise it is not known to be so, or others have disabled
    it: then it stays disabled if its pod stays.
    """

    pod: str
    uid: str
    since: str
    released: str = ""
    handed_off: str = ""
    idle: str = ""
    is_ours: bool = False
    lost: str = ""


@dataclass(frozen=True)
class Worker:
    """A worker as the Overlord knows it. `tasks` are those that it runs, `reading` the task groups among them.

    `refusal`: why Druid does not tell which task groups it reads, and will not.
    """

    host: str
    is_enabled: bool = True
    tasks: tuple[str, ...] = ()
    reading: tuple[TaskGroup, ...] = ()
    refusal: str = ""


@dataclass(frozen=True)
class WorkerPod:
    """A pod of a StatefulSet with its worker, if it is registered. `index` is its position, counted from 0.

    `is_running`: one of its containers runs, so there may be tasks. `is_broken`: it is not ready, and is not expected
    to be so again in its revision.
    """

    index: int
    name: str
    uid: str
    is_ready: bool = True
    is_outdated: bool = False
    is_terminating: bool = False
    is_running: bool = True
    is_broken: bool = False
    worker: Worker | None = None


@dataclass(frozen=True)
class WorkerGroup:
    """A StatefulSet of workers.

    `replicas` and `partition` are those of the live object, `desired` and `requested` those of the spec, and so is
    `requests_drain`. `restarts`: the write that lets pods be replaced has yet to be done, in its turn.
    `is_observed`: the controller has observed the live object. `is_ordered`: it replaces a pod only while those before
    it are ready. `unreachable`: why the workers are not known; `is_refused`: that lasts until the resource or Druid is
    changed.
    """

    name: str
    replicas: int
    desired: int
    partition: int = 0
    requested: int = 0
    requests_drain: bool = True
    restarts: bool = False
    is_observed: bool = True
    is_ordered: bool = False
    pods: tuple[WorkerPod, ...] = ()
    records: tuple[Record, ...] = ()
    unreachable: str = ""
    is_refused: bool = False

    def pod(self, name: str) -> WorkerPod | None:
        """Return the pod of this name."""
        return next((pod for pod in self.pods if pod.name == name), None)

    def index(self, name: str) -> int:
        """Return the position of the pod of this name, also if it does not exist."""
        existing = self.pod(name)
        first = next((_ordinal(pod.name) - pod.index for pod in self.pods), 0)
        return _ordinal(name) - first if existing is None else existing.index


def _ordinal(name: str) -> int:
    return int(name.rpartition("-")[2])


class Limits(NamedTuple):
    """The time for the tasks of a worker, and for the pod that replaces it, in seconds.

    `max_unavailable`: how many workers a rollout drains or replaces at the same time, or a percentage of the pods.
    """

    drain: float = 3600
    pod_ready: float = 1800
    max_unavailable: int | str = 1

    def at_once(self, pods: int) -> int:
        """Return how many of these pods a rollout drains or replaces at the same time."""
        text = str(self.max_unavailable)
        number = int(text.removesuffix("%"))
        return max(1, number * pods // 100 if text.endswith("%") else number)


@dataclass(frozen=True)
class DrainRequest:
    """A request to Druid: disable or enable the worker of a pod, or hand the task groups of a supervisor off."""

    verb: Literal["disable", "enable", "handoff"]
    target: str
    pod: str
    task_groups: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        if self.verb == "handoff":
            numbers = ", ".join(map(str, self.task_groups))
            return f"hand off task groups {numbers} of supervisor {self.target}, which pod {self.pod} reads"
        return f"{self.verb} worker {self.target} of pod {self.pod}"


@dataclass(frozen=True)
class Drain:
    """What follows for a StatefulSet: its partition, its replicas, what is recorded; then the requests to Druid.

    `awaited` are sentences about what the drain waits for; `warnings` about what was given up; `problem` is why it
    cannot go on.
    """

    partition: int
    replicas: int
    records: tuple[Record, ...] = ()
    requests: tuple[DrainRequest, ...] = ()
    awaited: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str = ""


class GroupDrain(NamedTuple):
    """The drain of a group: what it is based on, and what follows."""

    group: Group
    workers: WorkerGroup
    drain: Drain


def requests_drain(group: Group) -> bool:
    """True if the workers of the group are drained before their pods are replaced or removed."""
    return is_requested(group) and not group.is_deployment and not group.stopped


def limits(cluster: Cluster) -> Limits:
    """Return the limits; as in the Go operator, 0 is the default."""
    strategy, default = cluster.spec.get(STRATEGY) or {}, Limits()
    return Limits(
        seconds_of(str(strategy.get("drainTimeout") or "")) or default.drain,
        seconds_of(str(strategy.get("podReadyTimeout") or "")) or default.pod_ready,
        strategy.get("maxUnavailable") or default.max_unavailable,
    )


def is_replaced_by_controller(group: Group) -> bool:
    """True unless the pods of the group are replaced only once they are deleted."""
    return bool(_update_strategy(group).get("type") != "OnDelete")


def is_requested(group: Group) -> bool:
    """True if the spec requests that the workers of the group are drained, whether that is possible or not."""
    return group.cluster.spec.get(STRATEGY) is not None and group.node_type in _WORKERS


def _update_strategy(group: Group) -> Manifest:
    return dict(group.first_present("updateStrategy") or {})
