# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The decommissioning of Historicals: which pods stay, which names are in Druid's list, and what is recorded.

Each reconcile decides again, from the pods, from Druid, and from the record. A name is written to Druid when it is in
the annotation of the StatefulSet, and leaves the record when it is not in Druid's list any more: after a reconcile that
was stopped in between, the next one finds the same names, even if the status is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    CONFIRM_SECONDS,
    TooSmall,
    has_moved_all,
    too_small_tier,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import Entry
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import (
    LeavingPod,
    ShrinkingGroup,
    Situation,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp


@dataclass(frozen=True)
class Decommission:
    """The decision: replicas by group, the record, the names to add to Druid's list and to remove, and what is wrong.

    `replicas` is higher than specified while pods stay. `added` are names of the annotations; `due`: those of the new
    record, too. `ours`: those that have to be in Druid's list because of us. `too_small`: the tiers that have too
    little room, by group. `late`: the pods whose time is over, and which stay, by group. `staying`: the names of all
    pods that stay. `unknown`: other pods that Druid does not know.
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


def decommission(situation: Situation) -> Decommission:
    """Return what to do about the groups that shrink, and about the names in the record."""
    crowded = {group.key: tier for group in situation.groups if (tier := too_small(group, situation))}
    entries = {
        group.key: tuple(entry_of(pod, group, situation, group.key not in crowded) for pod in group.pods)
        for group in situation.groups
    }
    staying = {group.key: _staying(group, entries[group.key], situation) for group in situation.groups}
    current = tuple(entry for group in entries.values() for entry in group)
    names = Names.of(current, situation)
    return Decommission(
        {group.key: _replicas(group, staying[group.key]) for group in situation.groups},
        (*current, *kept(current, names, situation)),
        names.missing & situation.annotated,
        names.missing,
        names.obsolete & situation.listed,
        names.desired & names.stored & (situation.annotated | situation.listed),
        crowded,
        {
            group.key: late
            for group in situation.groups
            if (late := _late(group, staying[group.key], current, situation))
        },
        frozenset(pod.name for pods in staying.values() for pod in pods),
        _awaited(situation, bool(crowded)),
    )


def _awaited(situation: Situation, is_too_small: bool) -> tuple[str, ...]:
    """Return the pods that Druid has to know first; those that are not ready may be the room that is missing."""
    if situation.druid is None:
        return ()
    return situation.druid.unknown or (situation.druid.absent if is_too_small else ())


def _staying(group: ShrinkingGroup, entries: Iterable[Entry], situation: Situation) -> tuple[LeavingPod, ...]:
    """Return the pods that must not stop yet."""
    if has_no_destination(group, situation):
        return ()
    pods = zip(group.pods, entries, strict=True)
    return tuple(pod for pod, entry in pods if not may_stop(pod, entry, group, situation))


def _replicas(group: ShrinkingGroup, staying: Iterable[LeavingPod]) -> int:
    """Return the number of pods with which those that stay do so: a StatefulSet stops its last pods first."""
    return max([group.replicas, *(pod.ordinal - group.first + 1 for pod in staying)])


def _late(
    group: ShrinkingGroup, staying: Iterable[LeavingPod], current: Iterable[Entry], situation: Situation
) -> tuple[str, ...]:
    starts = {entry.pod: entry.started_at for entry in current}
    names = (pod.name for pod in staying)
    return tuple(name for name in names if seconds_since(starts[name], situation.now) >= group.timeout)


def entry_of(pod: LeavingPod, group: ShrinkingGroup, situation: Situation, has_room: bool) -> Entry:
    """Return the entry of a pod that is to stop."""
    earlier = situation.recorded(pod.name)
    started = min((each.started_at for each in earlier if not each.ended), default=timestamp(situation.now))
    name = pod.server.name if pod.server else None
    last = _last(earlier, name, has_room)
    entry = replace(last or Entry(pod.name, group.key, started), started_at=started, ended=False)
    if entry.is_ours:
        entry = replace(entry, unlisted_since=None)
    if pod.server is None:
        is_absent = situation.is_complete and not pod.is_ready
        absent = (each for each in earlier if each.bytes is None)
        return _with_time(replace(entry, bytes=None), absent, is_absent, situation.now)
    entry = replace(entry, bytes=pod.server.left)
    if last is not None:
        is_empty = name in situation.listed and pod.server.is_empty and situation.is_complete
        empty = (each for each in [last] if each.bytes == 0)
        return _with_owner(_with_time(entry, empty, is_empty, situation.now), situation)
    is_over = group.shrinks and seconds_since(started, situation.now) >= group.timeout
    if not has_room or not situation.is_complete or is_over or has_no_destination(group, situation):
        return entry
    return replace(entry, server=name, listed_by_others=name in situation.listed - situation.ours)


def _last(earlier: Iterable[Entry], name: str | None, has_room: bool) -> Entry | None:
    """Return the entry of the pod that goes on; one that has ended begins again, for which there must be room."""
    entries = (entry for entry in earlier if entry.server and name in (entry.server, None))
    return next((entry for entry in entries if has_room or not entry.ended), None)


def _with_owner(entry: Entry, situation: Situation) -> Entry:
    """Return the entry; a name that others have removed is ours when we add it again."""
    if not entry.listed_by_others:
        return entry
    of_others = not situation.is_removal_certain(entry)
    return replace(
        entry, listed_by_others=of_others, unlisted_since=situation.unlisted_since(entry) if of_others else None
    )


def _with_time(entry: Entry, earlier: Iterable[Entry], holds: bool, now: datetime) -> Entry:
    """Return the entry with the times since which it holds, if it does; for `earlier` entries it was the same.

    A Historical that was unknown to Druid for minutes is not empty as soon as it is known: it may be about to announce
    its segments.
    """
    if not holds:
        return replace(entry, empty_since=None, confirmed_at=None)
    last = next((each for each in earlier if each.empty_since), None)
    since, confirmed = (last.empty_since, last.confirmed_at) if last else (None, None)
    since = since or timestamp(now)
    if confirmed is None and seconds_since(since, now) >= CONFIRM_SECONDS:
        confirmed = timestamp(now)
    return replace(entry, empty_since=since, confirmed_at=confirmed)


def may_stop(pod: LeavingPod, entry: Entry, group: ShrinkingGroup, situation: Situation) -> bool:
    if group.shrinks and seconds_since(entry.started_at, situation.now) >= group.timeout:
        return True
    if entry.empty_since is None:
        return False
    since = seconds_since(entry.empty_since, situation.now)
    confirmed = seconds_since(entry.confirmed_at, situation.now) if entry.confirmed_at else 0
    if pod.server is None:
        return has_moved_all(since, confirmed, None, group.restart)
    return has_moved_all(since, confirmed, situation.unavailable)


def too_small(group: ShrinkingGroup, situation: Situation) -> TooSmall | None:
    """Return the tier that has too little room for the segments of pods whose decommissioning has not begun."""
    if not situation.is_complete or has_no_destination(group, situation):
        return None
    begun = {entry.server for entry in situation.record if not entry.ended}
    waiting = {pod.server.tier for pod in group.pods if pod.server and pod.server.name not in begun}
    replicated = {
        pod.server.name for each in situation.groups for pod in each.pods if pod.server and pod.server.is_replicated
    }
    tiers = (
        too_small_tier(tier, situation.servers_in(tier), situation.leaving, replicated) for tier in sorted(waiting)
    )
    return next(filter(None, tiers), None)


def has_no_destination(group: ShrinkingGroup, situation: Situation) -> bool:
    """True if the whole group stops, and its tier has no other Historical: there is nothing to move segments to.

    A Historical that Druid does not know now may be one of the tier, and one that has begun to move had another.
    """
    if group.replicas or not situation.knows_what_stays or any(pod.is_ready and not pod.server for pod in group.pods):
        return False
    if any(entry.server and not entry.ended for pod in group.pods for entry in situation.recorded(pod.name)):
        return False
    tiers = {pod.server.tier for pod in group.pods if pod.server}
    return bool(tiers) and not any(situation.remaining_in(tier) for tier in tiers)


@dataclass(frozen=True)
class Names:
    """Names of servers: those that have to be in Druid's list, ours of the stored record, and those to remove.

    `missing`: the first ones that are not in the list, which is known.
    """

    desired: frozenset[str]
    stored: frozenset[str]
    obsolete: frozenset[str]
    missing: frozenset[str]

    @classmethod
    def of(cls, current: Sequence[Entry], situation: Situation) -> Names:
        leaving = {entry.pod for entry in current}
        # A StatefulSet that has been scaled already has its pods for a while.
        stopping = (entry for entry in situation.record if entry.pod in situation.existing - leaving)
        # Its address may be that of a pod that stays.
        desired = frozenset(entry.server for entry in (*current, *stopping) if entry.server) - situation.staying
        stored = situation.ours
        specified = situation.druid.specified if situation.druid else frozenset()
        missing = desired - situation.listed if situation.druid else frozenset()
        return cls(desired, stored, stored - desired - specified, missing)


def kept(current: Iterable[Entry], names: Names, situation: Situation) -> Iterator[Entry]:
    """Yield the other entries of the stored record that are needed: until it is certain that their name is removed."""
    leaving = {entry.pod for entry in current}
    known = {(entry.pod, entry.server) for entry in current}
    for entry in situation.record:
        if (entry.pod, entry.server) in known or entry.server is None:
            continue
        if entry.server in names.desired:
            yield replace(entry, unlisted_since=None) if entry.is_ours else entry
        elif entry.server in names.obsolete and not situation.is_removal_certain(entry):
            ended, since = entry.ended or entry.pod not in leaving, situation.unlisted_since(entry)
            yield replace(entry, empty_since=None, confirmed_at=None, ended=ended, unlisted_since=since)
