# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random histories of a group of workers: whatever happens, and wherever the operator is stopped, it ends well.

No pod with running tasks is replaced before its time is over. No worker stays disabled, unless others have disabled it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ansible_collections.druidops.druid.plugins.module_utils._resources.handoff import TaskGroup
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.drain import drain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    DrainRequest,
    Limits,
    Worker,
    WorkerGroup,
    WorkerPod,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import (
    from_annotation,
    to_annotation,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since
from hypothesis import given, settings
from hypothesis import strategies as st

LIMITS = Limits(drain=600, pod_ready=300)
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Pod:
    uid: str
    revision: int
    is_ready: bool = False
    is_running: bool = False
    is_enabled: bool = True
    disabled_by_others: bool = False
    tasks: int = 0
    # Its process has started after it was released: until it is disabled, it may get tasks.
    is_late: bool = False


@dataclass
class World:
    """A StatefulSet of workers with its controller, and the Druid that they belong to."""

    now: datetime = START
    revision: int = 0
    current: int = 0
    desired_revision: int = 0
    replicas: int = 2
    desired: int = 2
    partition: int = 0
    annotation: str = ""
    is_observed: bool = True
    requests_drain: bool = True
    is_reachable: bool = True
    pods: dict[int, Pod] = field(default_factory=dict)
    created: int = 0
    # Written while draining was not requested, and the controller has yet to act on it.
    is_exempt: bool = False
    max_unavailable: int | str = 1
    # podManagementPolicy: OrderedReady
    is_ordered: bool = False

    def create(self, index: int, revision: int) -> None:
        self.created += 1
        self.pods[index] = Pod(f"uid-{self.created}", revision)

    def group(self) -> WorkerGroup:
        return WorkerGroup(
            "mm",
            self.replicas,
            self.desired,
            self.partition,
            requests_drain=self.requests_drain,
            restarts=self.desired_revision != self.revision,
            is_observed=self.is_observed,
            is_ordered=self.is_ordered,
            pods=tuple(self._pod(index, pod) for index, pod in self.pods.items()),
            records=from_annotation(self.annotation),
            unreachable="" if self.is_reachable else "unreachable",
        )

    def _pod(self, index: int, pod: Pod) -> WorkerPod:
        tasks = tuple(f"t{number}" for number in range(pod.tasks))
        reading = (TaskGroup("s", 0),) if tasks else ()
        worker = Worker(str(index), pod.is_enabled, tasks, reading) if pod.is_running and self.is_reachable else None
        is_outdated = pod.revision != self.revision
        name, running = f"mm-{index}", pod.is_running
        return WorkerPod(index, name, pod.uid, pod.is_ready, is_outdated, worker=worker, is_running=running)

    def reconcile(self, writes: int = 100) -> None:
        """Reconcile; the operator is stopped after this number of writes."""
        found = drain(self.group(), LIMITS._replace(max_unavailable=self.max_unavailable), self.now)
        if not writes:
            return
        before = (self.revision, self.replicas, self.partition)
        self.revision, self.replicas, self.partition = self.desired_revision, found.replicas, found.partition
        self.annotation = to_annotation(found.records) if found.records else ""
        self.is_observed = self.is_observed and before == (self.revision, self.replicas, self.partition)
        self.is_exempt = self.is_exempt or not self.requests_drain
        for request in found.requests[: writes - 1]:
            self._send(request)

    def _send(self, request: DrainRequest) -> None:
        assert self.is_reachable
        if request.verb == "handoff":
            return
        pod = self.pods[int(request.target)]
        if request.verb == "enable":
            assert not pod.disabled_by_others or pod.is_enabled
        pod.is_enabled = request.verb == "enable"

    def control(self) -> None:
        """Let the controller of the StatefulSet look once."""
        self.is_observed = True
        if self._is_creating():
            return
        for index in [index for index in self.pods if index >= self.replicas]:
            self._stop(index)
        for index in reversed(range(self.partition, self.replicas)):
            if self.pods[index].revision != self.revision:
                self._stop(index)
                return
            if not self.pods[index].is_ready:
                return
        if all(pod.revision == self.revision for pod in self.pods.values()):
            self.current, self.is_exempt = self.revision, False

    def _is_creating(self) -> bool:
        """Create what is missing; an ordered update waits for each pod."""
        for index in range(self.replicas):
            if index not in self.pods:
                self.create(index, self.current if index < self.partition else self.revision)
            if self.is_ordered and not self.pods[index].is_ready:
                return True
        return False

    def _stop(self, index: int) -> None:
        pod = self.pods.pop(index)
        record = next((each for each in from_annotation(self.annotation) if each.pod == f"mm-{index}"), None)
        if pod.tasks and not self.is_exempt and not pod.is_late:
            assert record is not None
            assert record.released, "a pod with tasks was replaced before it was released"
            late = seconds_since(record.since, datetime.fromisoformat(record.released)) >= LIMITS.drain
            assert late, "a pod with tasks was released before its time was over"

    def start(self) -> None:
        released = {each.uid for each in from_annotation(self.annotation) if each.released}
        for pod in self.pods.values():
            pod.is_late = pod.is_late or (not pod.is_running and pod.uid in released)
            pod.is_ready = pod.is_running = True

    def work(self) -> None:
        for pod in self.pods.values():
            pod.tasks += pod.is_running and pod.is_enabled

    def finish(self) -> None:
        for pod in self.pods.values():
            pod.tasks = 0

    def change(self, revision: int) -> None:
        self.desired_revision = revision

    def disable(self, index: int) -> None:
        """A person disables a worker, unless it is disabled already."""
        pod = self.pods.get(index)
        if pod is not None and pod.is_ready and pod.is_enabled and not self._is_recorded(index):
            pod.is_enabled, pod.disabled_by_others = False, True

    def _is_recorded(self, index: int) -> bool:
        return any(each.pod == f"mm-{index}" for each in from_annotation(self.annotation))

    def crash(self, index: int) -> None:
        self.pods.pop(index, None)

    def restart_process(self, index: int) -> None:
        pod = self.pods.get(index)
        if pod is not None:
            self.pods[index] = Pod(pod.uid, pod.revision)

    def stall(self, index: int) -> None:
        """Let a process be too slow for its probe: its tasks go on."""
        if index in self.pods:
            self.pods[index].is_ready = False

    def is_at_rest(self) -> bool:
        is_written = (self.revision, self.replicas, self.partition) == (self.desired_revision, self.desired, 0)
        are_new = all(pod.revision == self.revision and pod.is_ready for pod in self.pods.values())
        return is_written and are_new and not self.annotation and len(self.pods) == self.desired


def _reachable(value: bool) -> Callable[[World], None]:
    return lambda world: setattr(world, "is_reachable", value)


def _drained(value: bool) -> Callable[[World], None]:
    return lambda world: setattr(world, "requests_drain", value)


def _later(seconds: int) -> Callable[[World], None]:
    return lambda world: setattr(world, "now", world.now + timedelta(seconds=seconds))


def tick(world: World) -> None:
    """Let the operator, the controller and the pods act once."""
    world.reconcile()
    world.control()
    world.start()
    _later(5)(world)


indexes = st.integers(0, 3)
ordinary: st.SearchStrategy[Callable[[World], None]] = st.sampled_from(
    [tick, tick, World.reconcile, World.control, World.start, World.work, World.work, World.finish]
)
changes: st.SearchStrategy[Callable[[World], None]] = st.one_of(
    st.integers(0, 2).map(lambda revision: lambda world: world.change(revision)),
    st.integers(1, 4).map(lambda number: lambda world: setattr(world, "desired", number)),
)
disturbances: st.SearchStrategy[Callable[[World], None]] = st.one_of(
    st.integers(0, 4).map(lambda writes: lambda world: world.reconcile(writes)),
    indexes.map(lambda index: lambda world: world.disable(index)),
    indexes.map(lambda index: lambda world: world.crash(index)),
    indexes.map(lambda index: lambda world: world.restart_process(index)),
    indexes.map(lambda index: lambda world: world.stall(index)),
    st.booleans().map(_reachable),
    st.booleans().map(_drained),
    st.sampled_from([1, 2, 3, "50%"]).map(lambda limit: lambda world: setattr(world, "max_unavailable", limit)),
    st.sampled_from([61, 301, 601]).map(_later),
)
actions = st.one_of(ordinary, ordinary, ordinary, ordinary, changes, disturbances)


def settle(world: World) -> None:
    """Let the first pods start."""
    for _index in range(world.replicas):
        world.control()
        world.start()


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(actions, min_size=20, max_size=60), st.booleans())
def test_every_history_ends_well(history: list[Callable[[World], None]], is_ordered: bool) -> None:
    world = World(is_ordered=is_ordered)
    settle(world)
    for action in history:
        action(world)
    world.is_reachable = True
    for _round in range(60):
        world.finish()
        tick(world)
        if world.is_at_rest():
            break
    assert world.is_at_rest(), world
    for pod in world.pods.values():
        assert pod.is_enabled or pod.disabled_by_others


def test_a_process_that_starts_after_its_release_is_disabled() -> None:
    """The controller of an ordered group waits for the first pod before it removes the last one."""
    world = World(is_ordered=True)
    settle(world)
    world.desired = 1
    world.crash(0)
    world.restart_process(1)
    world.reconcile()
    world.control()
    world.start()
    assert (world.replicas, world.pods[1].is_enabled) == (1, True)
    world.reconcile()
    assert not world.pods[1].is_enabled
    # The number is raised again.
    world.desired = 2
    for _round in range(20):
        tick(world)
    assert world.is_at_rest()
    assert all(pod.is_enabled for pod in world.pods.values())


@given(st.lists(actions, min_size=10, max_size=30))
def test_at_rest_nothing_is_written(history: list[Callable[[World], None]]) -> None:
    world = World()
    world.control()
    world.start()
    for action in history:
        action(world)
    if world.is_at_rest() and world.is_observed:
        found = drain(world.group(), LIMITS, world.now)
        assert (found.partition, found.replicas, found.records, found.requests) == (0, world.desired, (), ())


rollout_actions: st.SearchStrategy[Callable[[World], None]] = st.sampled_from(
    [tick, tick, World.reconcile, World.control, World.start, World.work, World.finish]
)


@given(st.integers(1, 6), st.integers(1, 6), st.lists(rollout_actions, max_size=60))
def test_no_more_workers_are_unavailable_than_the_limit_permits(
    pods: int, limit: int, history: list[Callable[[World], None]]
) -> None:
    world = World(replicas=pods, desired=pods, max_unavailable=limit)
    world.control()
    world.start()
    world.change(1)
    found = set()
    for action in [*history, *([tick] * 80)]:
        action(world)
        available = [pod for pod in world.pods.values() if pod.is_ready and pod.is_enabled]
        found.add(pods - len(available))
        if not history:
            world.finish()
    assert max(found) <= min(limit, pods)
    # Without tasks that prevent it, the limit is reached.
    assert history or max(found) == min(limit, pods)
