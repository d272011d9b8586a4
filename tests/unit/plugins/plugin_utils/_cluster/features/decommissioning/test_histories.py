# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Histories of a group of Historicals: reconciles that stop anywhere, and changes of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    EMPTY_SECONDS,
    HistoricalServer,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.decommission import (
    decommission,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    Entry,
    from_annotation,
    recorded,
    to_annotation,
    united,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import (
    InDruid,
    LeavingPod,
    ShrinkingGroup,
    Situation,
)
from hypothesis import given
from hypothesis import strategies as st

TIMEOUT = 3600
SEGMENTS = 100
POLL_SECONDS = 60
MOST = 4


@dataclass
class World:
    """A StatefulSet, its pods with their addresses, Druid, and the stored status."""

    shrinks: bool = False
    now: datetime = datetime(2026, 11, 24, tzinfo=UTC)
    specified: int = MOST
    replicas: int = MOST
    pods: dict[int, str] = field(default_factory=lambda: {number: f"10.0.0.{number}:8083" for number in range(MOST)})
    used: dict[str, int] = field(default_factory=lambda: {f"10.0.0.{number}:8083": SEGMENTS for number in range(MOST)})
    listed: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    status: Mapping[str, object] = field(default_factory=dict)
    annotation: str = ""
    is_reachable: bool = True
    starting: set[int] = field(default_factory=set)
    blind_until: datetime = datetime(2000, 1, 1, tzinfo=UTC)
    polled: frozenset[str] = frozenset()
    polled_at: datetime = datetime(2026, 11, 24, tzinfo=UTC)
    stale_until: datetime = datetime(2000, 1, 1, tzinfo=UTC)

    @property
    def record(self) -> tuple[Entry, ...]:
        """What the next reconcile reads."""
        return united(from_annotation(self.annotation), recorded(self.status))

    def reconcile(self, stops_after: int) -> None:
        """Decide, write the StatefulSet, Druid, and the status; `stops_after` that many of the three."""
        record = self.record
        decided = decommission(self.situation(record))
        replicas = decided.replicas.get("h", max(self.specified, 0))
        self.verify_scaling(replicas, record)
        assert decided.added <= {entry.server for entry in from_annotation(self.annotation)}
        if stops_after > 0:
            self.replicas, self.annotation = replicas, to_annotation(decided.record)
        staying = {name for number, name in self.pods.items() if number < self.specified}
        assert not decided.added & staying
        if stops_after > 1 and self.is_reachable:
            is_latest = self.read() == self.listed
            if decided.removed or decided.added:
                self.write((self.listed - decided.removed) | decided.added)
            assert not (is_latest and self.listed & staying)
        if stops_after > 2:
            self.status = {"historicalDecommission": [entry.document for entry in decided.record]}
        assert self.others <= self.listed

    def situation(self, record: tuple[Entry, ...]) -> Situation:
        """What the reconcile finds."""
        known = (name for number, name in self.pods.items() if number not in self.starting)
        servers = {name: HistoricalServer(name, "hot", self.seen(name), 10_000) for name in known}
        leaving = range(self.specified, self.replicas)
        ready = self.pods.keys() - self.starting
        pods = tuple(LeavingPod(f"h-{n}", n, n in ready, servers.get(self.pods.get(n, ""))) for n in leaving)
        lost = sum(self.used[name] for name in self.pods.values()) if self.now < self.blind_until else 0
        druid = (
            InDruid(tuple(servers.values()), frozenset(self.read()), unavailable=lost) if self.is_reachable else None
        )
        if druid is None:
            pods = tuple(LeavingPod(pod.name, pod.ordinal, pod.is_ready) for pod in pods)
        groups = (ShrinkingGroup("h", self.specified, pods, TIMEOUT, self.shrinks),) if pods else ()
        existing = frozenset(f"h-{number}" for number in self.pods if number >= self.specified)
        staying = frozenset(name for number, name in self.pods.items() if number < self.specified)
        ours = frozenset(each.server for each in from_annotation(self.annotation) if each.server and each.is_ours)
        return Situation(groups, existing, record, druid, self.now, staying, ours)

    def read(self) -> set[str]:
        """The list as the Coordinator reports it: one that has just become the leader reads it again soon."""
        return {*self.polled} if self.now < self.stale_until else self.listed

    def write(self, listed: set[str]) -> None:
        """Change the list; the Coordinator knows it then."""
        self.listed, self.stale_until = listed, self.now

    def seen(self, name: str) -> int:
        """What the Coordinator reports: at first nothing, when it has just become the leader."""
        return 0 if self.now < self.blind_until else self.used[name]

    def verify_scaling(self, replicas: int, record: tuple[Entry, ...]) -> None:
        """No pod with segments stops before the time is over, and none stays that may stop."""
        assert replicas >= min(self.specified, self.replicas)
        assert replicas <= max(self.specified, self.replicas)
        started = {entry.pod: entry.started_at for entry in record}
        for number in range(max(replicas, self.specified), self.replicas):
            if number in self.pods and number not in self.starting and self.used[self.pods[number]]:
                since = datetime.fromisoformat(started[f"h-{number}"])
                assert self.shrinks
                assert (self.now - since).total_seconds() >= TIMEOUT

    # What others do.

    def stop_pods(self) -> None:
        """The StatefulSet controller: pods that are not desired are deleted, missing ones are created."""
        for number in [number for number in self.pods if number >= self.replicas]:
            del self.used[self.pods.pop(number)]
            self.starting -= {number}
        for number in range(self.replicas):
            if number not in self.pods:
                self.create(number)

    def replace_pods(self, numbers: set[int]) -> None:
        """These pods are deleted, and come back with addresses that are free, and their PVCs."""
        used = {number: self.used.pop(self.pods.pop(number)) for number in sorted(numbers & self.pods.keys())}
        # Each one gets the address of another.
        for number, size in reversed(used.items()):
            self.used[self.create(number)] = size
        self.starting |= used.keys()

    def start_pods(self) -> None:
        """The pods are ready, and Druid knows them."""
        self.starting.clear()

    def create(self, number: int) -> str:
        """A new pod."""
        free = (f"10.0.0.{address}:8083" for address in range(2 * MOST))
        name = self.pods[number] = next(each for each in free if each not in self.pods.values())
        self.used[name] = 0
        return name

    def move_segments(self) -> None:
        """The Coordinator: from the Historicals in the list to one that is not."""
        targets = [name for name in self.pods.values() if name not in self.listed]
        for name in [name for name in self.pods.values() if name in self.listed and targets]:
            self.used[targets[0]] += self.used[name]
            self.used[name] = 0

    def balance(self) -> None:
        """The Coordinator: to Historicals that are not in the list."""
        for name in self.pods.values():
            self.used[name] += 0 if name in self.listed else 1

    def others_write(self) -> None:
        """Another client decommissions a server, or ends that."""
        other = "other:8083"
        self.others ^= {other}
        self.write(self.listed ^ {other})

    def poll(self) -> None:
        """The Coordinator that is not the leader reads the list."""
        self.polled, self.polled_at = frozenset(self.listed), self.now

    def restart_coordinator(self) -> None:
        """Another Coordinator becomes the leader."""
        self.blind_until = self.now + timedelta(seconds=EMPTY_SECONDS - 1)
        self.stale_until = self.polled_at + timedelta(seconds=POLL_SECONDS)

    def lose_status(self) -> None:
        """The resource is replaced, or restored from a backup, which has no status."""
        self.status = {}

    def toggle_druid(self) -> None:
        """Druid stops answering, or answers again."""
        self.is_reachable = not self.is_reachable


def specify(replicas: int) -> Callable[[World], None]:
    """A change of the specification."""

    def change(world: World) -> None:
        world.specified = replicas
        world.replicas = max(world.replicas, replicas)

    return change


def replace_pods(numbers: set[int]) -> Callable[[World], None]:
    """A node is drained, or a person deletes pods."""
    return lambda world: world.replace_pods(numbers)


def wait(seconds: int) -> Callable[[World], None]:
    """Time passes."""

    def change(world: World) -> None:
        world.now += timedelta(seconds=seconds)

    return change


def reconcile(stops_after: int) -> Callable[[World], None]:
    """A reconcile of the operator, which may be stopped."""
    return lambda world: world.reconcile(stops_after)


ACTIONS = st.one_of(
    st.builds(reconcile, st.just(3)),
    st.builds(reconcile, st.integers(0, 3)),
    st.builds(specify, st.integers(1, MOST)),
    st.builds(replace_pods, st.sets(st.integers(0, MOST - 1), min_size=1, max_size=2)),
    st.builds(wait, st.sampled_from([1, 5, 10, 60, 130, TIMEOUT])),
    st.sampled_from(
        [
            World.stop_pods,
            World.start_pods,
            World.move_segments,
            World.balance,
            World.others_write,
            World.poll,
            World.restart_coordinator,
            World.toggle_druid,
            World.lose_status,
        ]
    ),
)


def settled(shrinks: bool, actions: list[Callable[[World], None]]) -> World:
    """Return the world after the actions, when Druid answers, pods start, and segments have been moved."""
    world = World(shrinks)
    for act in actions:
        act(world)
    world.is_reachable = True
    world.start_pods()
    for _attempt in range(24):
        world.now += timedelta(seconds=EMPTY_SECONDS)
        world.move_segments()
        world.reconcile(3)
        world.stop_pods()
    return world


@given(st.booleans(), st.lists(ACTIONS, min_size=20, max_size=60))
def test_any_history_ends_with_the_specified_pods_and_only_the_names_of_others(
    shrinks: bool, actions: list[Callable[[World], None]]
) -> None:
    world = settled(shrinks, actions)
    assert (world.replicas, len(world.pods)) == (world.specified, world.specified)
    assert world.listed == world.others
    assert (world.record, world.annotation) == ((), "")


@given(st.booleans(), st.lists(ACTIONS, min_size=20, max_size=60))
def test_what_is_settled_writes_nothing(shrinks: bool, actions: list[Callable[[World], None]]) -> None:
    world = settled(shrinks, actions)
    before = (world.replicas, {*world.listed}, world.status, world.annotation)
    world.reconcile(3)
    assert (world.replicas, world.listed, world.status, world.annotation) == before


@given(st.lists(ACTIONS, min_size=20, max_size=60))
def test_the_record_does_not_change_while_druid_does_not_answer(actions: list[Callable[[World], None]]) -> None:
    world = World()
    for act in actions:
        act(world)
    world.is_reachable = False
    world.reconcile(3)
    world.now += timedelta(seconds=5)
    before = (world.record, world.annotation)
    world.reconcile(3)
    assert (world.record, world.annotation) == before
