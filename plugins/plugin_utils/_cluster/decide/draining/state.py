# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a drain is about: the pods of a group of workers, their workers in Druid, and what was recorded. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.record import Record

DRAINING, WAITING_FOR_POD, BLOCKED = "Draining", "WaitingForPod", "Blocked"


class TaskGroup(NamedTuple):
    """A task group of a supervisor, whose task reads a stream."""

    supervisor: str
    number: int


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

    `replicas` and `partition` are those of the live object, `desired` and `requested` those of the spec. `is_drained`:
    the spec requests draining. `restarts`: the write that lets pods be replaced has yet to be done, in its turn.
    `is_observed`: the controller has observed the live object. `is_ordered`: it replaces a pod only while those before
    it are ready. `unreachable`: why the workers are not known; `is_refused`: that lasts until the resource or Druid is
    changed.
    """

    name: str
    replicas: int
    desired: int
    partition: int = 0
    requested: int = 0
    is_drained: bool = True
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
        found = self.pod(name)
        first = next((_ordinal(pod.name) - pod.index for pod in self.pods), 0)
        return _ordinal(name) - first if found is None else found.index


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
class Request:
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
    requests: tuple[Request, ...] = ()
    awaited: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str = ""
