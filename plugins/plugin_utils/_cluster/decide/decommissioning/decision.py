# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The decommissioning of Historicals: which pods stay, which names are in Druid's list, and what is recorded.

Each reconcile decides again, from the pods, from Druid, and from the record. A name is written to Druid when it is in
the annotation of the StatefulSet, and leaves the record when it is not in Druid's list any more: after a reconcile that
was stopped in between, the next one finds the same names, even if the status is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.entries import (
    entry_of,
    may_stop,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.names import Names, kept
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.room import (
    TooSmall,
    has_no_destination,
    too_small,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.situation import (
    LeavingPod,
    ShrinkingGroup,
    Situation,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_record import Entry
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since


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


def decommission(found: Situation) -> Decommission:
    """Return what to do about the groups that shrink, and about the names in the record."""
    crowded = {group.key: tier for group in found.groups if (tier := too_small(group, found))}
    entries = {
        group.key: tuple(entry_of(pod, group, found, group.key not in crowded) for pod in group.pods)
        for group in found.groups
    }
    staying = {group.key: _staying(group, entries[group.key], found) for group in found.groups}
    current = tuple(entry for group in entries.values() for entry in group)
    names = Names.of(current, found)
    return Decommission(
        {group.key: _replicas(group, staying[group.key]) for group in found.groups},
        (*current, *kept(current, names, found)),
        names.missing & found.annotated,
        names.missing,
        names.obsolete & found.listed,
        names.desired & names.stored & (found.annotated | found.listed),
        crowded,
        {group.key: late for group in found.groups if (late := _late(group, staying[group.key], current, found))},
        frozenset(pod.name for pods in staying.values() for pod in pods),
        _awaited(found, bool(crowded)),
    )


def _awaited(found: Situation, is_too_small: bool) -> tuple[str, ...]:
    """Return the pods that Druid has to know first; those that are not ready may be the room that is missing."""
    if found.druid is None:
        return ()
    return found.druid.unknown or (found.druid.absent if is_too_small else ())


def _staying(group: ShrinkingGroup, entries: Iterable[Entry], found: Situation) -> tuple[LeavingPod, ...]:
    """Return the pods that must not stop yet."""
    if has_no_destination(group, found):
        return ()
    pods = zip(group.pods, entries, strict=True)
    return tuple(pod for pod, entry in pods if not may_stop(pod, entry, group, found))


def _replicas(group: ShrinkingGroup, staying: Iterable[LeavingPod]) -> int:
    """Return the number of pods with which those that stay do so: a StatefulSet stops its last pods first."""
    return max([group.replicas, *(pod.ordinal - group.first + 1 for pod in staying)])


def _late(
    group: ShrinkingGroup, staying: Iterable[LeavingPod], current: Iterable[Entry], found: Situation
) -> tuple[str, ...]:
    starts = {entry.pod: entry.started_at for entry in current}
    names = (pod.name for pod in staying)
    return tuple(name for name in names if seconds_since(starts[name], found.now) >= group.timeout)
