# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The decommissioning of Historicals: which pods stay, which names are in Druid's list, and what is recorded.

Each reconcile decides again, from the pods, from Druid, and from the record in the status. A name is written to Druid
when it is in the stored record, and leaves the record when it is not in Druid's list any more: after a reconcile
that was stopped in between, the next one finds the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.historical_servers import (
    HistoricalServer,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_record import Entry
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp

# Two readings, if each segment is available.
EMPTY_SECONDS = 10
# Otherwise the pod may have segments: a Coordinator reports a server as empty until it has read it, after a failover or
# an error, and a pod that Druid does not know may be restarting.
UNSURE_SECONDS = 120


@dataclass(frozen=True)
class LeavingPod:
    """A pod of an ordinal that is no longer specified; `server` is what Druid knows of it.

    `is_ready`: Kubernetes reports that it is ready.
    """

    name: str
    ordinal: int
    is_ready: bool = True
    server: HistoricalServer | None = None


@dataclass(frozen=True)
class ShrinkingGroup:
    """A StatefulSet that has more pods than specified, with those that are to stop.

    `first`: the ordinal of its first pod. `replicas`: the specified number. `timeout`: in seconds. `shrinks`: the pods
    stop when the time is over.
    """

    key: str
    replicas: int
    pods: tuple[LeavingPod, ...]
    timeout: float
    shrinks: bool = False
    first: int = 0


@dataclass(frozen=True)
class InDruid:
    """What the Coordinator knows.

    `listed`: the names in decommissioningNodes. `specified`: those of the resource. `unknown`: pods that are ready and
    stay, but that it does not know. `absent`: the same, ready or not, and also if they do not exist. `unavailable`: the
    number of segments that no server has loaded, None if it is unknown. `staying`: the names of the pods that the spec
    keeps, as far as it knows them.
    """

    servers: tuple[HistoricalServer, ...]
    listed: frozenset[str] = frozenset()
    specified: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unavailable: int | None = 0
    staying: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Situation:
    """What a decision is based on.

    `existing`: the names of all pods that exist and whose ordinal is not specified, also after the StatefulSet has been
    scaled. `druid`: None if it did not answer.
    """

    groups: tuple[ShrinkingGroup, ...]
    existing: frozenset[str]
    record: tuple[Entry, ...]
    druid: InDruid | None
    now: datetime

    @cached_property
    def leaving(self) -> frozenset[str]:
        """The names of the servers that are to stop."""
        return frozenset(pod.server.name for group in self.groups for pod in group.pods if pod.server)

    @property
    def listed(self) -> frozenset[str]:
        """The names in Druid's list, as far as they are known."""
        return self.druid.listed if self.druid else frozenset()

    @property
    def unavailable(self) -> int | None:
        """The number of segments that no server has loaded, None if it is unknown."""
        return self.druid.unavailable if self.druid else None

    @property
    def is_complete(self) -> bool:
        """True if the Coordinator has answered, and knows all pods that it must know."""
        return self.druid is not None and not self.druid.unknown

    @property
    def knows_what_stays(self) -> bool:
        """True if it also knows the pods that are not ready."""
        return self.is_complete and self.druid is not None and not self.druid.absent

    def recorded(self, pod: str) -> list[Entry]:
        """Return the entries of a pod."""
        return [entry for entry in self.record if entry.pod == pod]

    @property
    def returning(self) -> frozenset[str]:
        """The names of servers that stay, and whose entry in Druid's list is ours: it is removed."""
        ours = frozenset(entry.server for entry in self.record if entry.server and entry.is_ours)
        return ours & self.druid.staying - self.druid.specified if self.druid else frozenset()

    def servers_in(self, tier: str) -> list[HistoricalServer]:
        """Return all Historicals of a tier that are not decommissioned by others."""
        servers = self.druid.servers if self.druid else ()
        others = self.listed - self.leaving - self.returning
        return [each for each in servers if each.tier == tier and each.name not in others]

    def remaining_in(self, tier: str) -> list[HistoricalServer]:
        """Return those of them that stay."""
        return [each for each in self.servers_in(tier) if each.name not in self.leaving]


@dataclass(frozen=True)
class TooSmall:
    """A tier whose remaining Historicals have less room than its segments need, in bytes."""

    tier: str
    used: int
    capacity: int


@dataclass(frozen=True)
class Decommission:
    """The decision: replicas by group, the record, the names to add to Druid's list and to remove, and what is wrong.

    `replicas` is higher than specified while pods stay. `added` are names of the stored record; `due`: those of the new
    one, too. `ours`: those that have to be in Druid's list because of us. `too_small`: the tiers that have too little
    room, by group. `late`: the pods whose time is over, and which stay, by group. `staying`: the names of all pods that
    stay. `unknown`: other pods that Druid does not know.
    """

    replicas: Mapping[str, int] = field(default_factory=dict)
    record: tuple[Entry, ...] = ()
    added: frozenset[str] = frozenset()
    due: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()
    too_small: Mapping[str, TooSmall] = field(default_factory=dict)
    late: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    staying: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


def decommission(found: Situation) -> Decommission:
    """Return what to do about the groups that shrink, and about the names in the record."""
    too_small = {group.key: tier for group in found.groups if (tier := _too_small(group, found))}
    entries = {
        group.key: tuple(_entry(pod, group, found, group.key not in too_small) for pod in group.pods)
        for group in found.groups
    }
    staying = {group.key: _staying(group, entries[group.key], found) for group in found.groups}
    current = tuple(entry for group in entries.values() for entry in group)
    names = _Names.of(current, found)
    return Decommission(
        {group.key: _replicas(group, staying[group.key]) for group in found.groups},
        (*current, *_kept(current, names, found)),
        names.missing & names.stored,
        names.missing,
        names.obsolete & found.listed,
        names.desired & names.stored,
        too_small,
        {group.key: late for group in found.groups if (late := _late(group, staying[group.key], found))},
        frozenset(pod.name for pods in staying.values() for pod in pods),
        _awaited(found, bool(too_small)),
    )


def _awaited(found: Situation, is_too_small: bool) -> tuple[str, ...]:
    """Return the pods that Druid has to know first; those that are not ready may be the room that is missing."""
    if found.druid is None:
        return ()
    return found.druid.unknown or (found.druid.absent if is_too_small else ())


@dataclass(frozen=True)
class _Names:
    """Names of servers: those that have to be in Druid's list, ours of the stored record, and those to remove.

    `missing`: the first ones that are not in the list, which is known.
    """

    desired: frozenset[str]
    stored: frozenset[str]
    obsolete: frozenset[str]
    missing: frozenset[str]

    @classmethod
    def of(cls, current: Sequence[Entry], found: Situation) -> _Names:
        moved = {entry.pod for entry in current if entry.server}
        # A StatefulSet that has been scaled already has its pods for a while.
        stopping = (entry for entry in found.record if entry.pod in found.existing - moved)
        desired = frozenset(entry.server for entry in (*current, *stopping) if entry.server)
        stored = frozenset(entry.server for entry in found.record if entry.server and entry.is_ours)
        specified = found.druid.specified if found.druid else frozenset()
        missing = desired - found.listed if found.druid else frozenset()
        return cls(desired, stored, stored - desired - specified, missing)


def _kept(current: Iterable[Entry], names: _Names, found: Situation) -> Iterator[Entry]:
    """Yield the other entries of the stored record that are needed: until their name is not in Druid's list."""
    known = {(entry.pod, entry.server) for entry in current}
    for entry in found.record:
        if (entry.pod, entry.server) in known or entry.server is None:
            continue
        if entry.server in names.desired:
            yield entry
        elif entry.server in names.obsolete and (found.druid is None or entry.server in found.listed):
            # If its pod is to stop again, that is another decommissioning.
            yield replace(entry, started_at=timestamp(found.now), bytes=None, empty_since=None)


def _entry(pod: LeavingPod, group: ShrinkingGroup, found: Situation, has_room: bool) -> Entry:
    """Return the entry of a pod that is to stop."""
    earlier = found.recorded(pod.name)
    started = min((entry.started_at for entry in earlier), default=timestamp(found.now))
    name = pod.server.name if pod.server else None
    last = next((entry for entry in earlier if entry.server and name in (entry.server, None)), None)
    entry = last or Entry(pod.name, group.key, started)
    if pod.server is None:
        is_absent = found.is_complete and not pod.is_ready
        return replace(entry, bytes=None, empty_since=_since(earlier, is_absent, found.now))
    entry = replace(entry, bytes=pod.server.used)
    if last is not None:
        is_listed = name in found.listed
        is_empty = is_listed and pod.server.is_empty and found.is_complete
        # A name that others have removed is ours when we add it again.
        of_others = entry.listed_by_others and is_listed
        return replace(entry, empty_since=_since([last], is_empty, found.now), listed_by_others=of_others)
    is_over = group.shrinks and seconds_since(started, found.now) >= group.timeout
    if not has_room or not found.is_complete or is_over or has_no_destination(group, found):
        return entry
    return replace(entry, server=name, listed_by_others=name in found.listed)


def _since(earlier: Iterable[Entry], holds: bool, now: datetime) -> str | None:
    """Return since when it holds, if it does."""
    return next((each.empty_since for each in earlier if each.empty_since), timestamp(now)) if holds else None


def _too_small(group: ShrinkingGroup, found: Situation) -> TooSmall | None:
    """Return the tier that has too little room for the segments of pods whose decommissioning has not begun."""
    if not found.is_complete or has_no_destination(group, found):
        return None
    begun = {entry.server for entry in found.record}
    waiting = {pod.server.tier for pod in group.pods if pod.server and pod.server.name not in begun}
    tiers = (
        TooSmall(
            tier,
            sum(each.used for each in found.servers_in(tier)),
            sum(each.capacity for each in found.remaining_in(tier)),
        )
        for tier in sorted(waiting)
    )
    return next((tier for tier in tiers if tier.used > tier.capacity), None)


def has_no_destination(group: ShrinkingGroup, found: Situation) -> bool:
    """True if the whole group stops, and its tier has no other Historical: there is nothing to move segments to.

    A Historical that Druid does not know now may be one of the tier, and one that has begun to move had another.
    """
    if group.replicas or not found.knows_what_stays or any(pod.is_ready and not pod.server for pod in group.pods):
        return False
    if any(entry.server for pod in group.pods for entry in found.recorded(pod.name)):
        return False
    tiers = {pod.server.tier for pod in group.pods if pod.server}
    return bool(tiers) and not any(found.remaining_in(tier) for tier in tiers)


def _staying(group: ShrinkingGroup, entries: Iterable[Entry], found: Situation) -> tuple[LeavingPod, ...]:
    """Return the pods that must not stop yet."""
    if has_no_destination(group, found):
        return ()
    pods = zip(group.pods, entries, strict=True)
    return tuple(pod for pod, entry in pods if not _may_stop(pod, entry, group, found))


def _may_stop(pod: LeavingPod, entry: Entry, group: ShrinkingGroup, found: Situation) -> bool:
    if group.shrinks and seconds_since(entry.started_at, found.now) >= group.timeout:
        return True
    is_sure = pod.server is not None and found.unavailable == 0
    needed = EMPTY_SECONDS if is_sure else UNSURE_SECONDS
    return entry.empty_since is not None and seconds_since(entry.empty_since, found.now) >= needed


def _replicas(group: ShrinkingGroup, staying: Iterable[LeavingPod]) -> int:
    """Return the number of pods with which those that stay do so: a StatefulSet stops its last pods first."""
    return max([group.replicas, *(pod.ordinal - group.first + 1 for pod in staying)])


def _late(group: ShrinkingGroup, staying: Iterable[LeavingPod], found: Situation) -> tuple[str, ...]:
    starts = {pod.name: [entry.started_at for entry in found.recorded(pod.name)] for pod in staying}
    return tuple(
        name for name, since in starts.items() if since and seconds_since(min(since), found.now) >= group.timeout
    )
