# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Historicals that are decommissioned: Druid moves their segments to others of their tier. Pure.

Their names are in the list decommissioningNodes of the dynamic configuration of the Coordinator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    LoadQueue,
    Question,
    Replicated,
    Rule,
    Server,
    replicated_bytes,
)

HISTORICAL = "historical"
LIST = "decommissioningNodes"
# A pod may have segments although Druid reports none, while segments are not available: a Coordinator reports a server
# as empty until it has read it, after a failover or an error.
UNSURE_SECONDS = 120
# Two readings, if each segment is available.
EMPTY_SECONDS = 10
# If that is in doubt, a third one between them, this long after the first and before the last: each of two may be that
# of a Coordinator that has just restarted.
CONFIRM_SECONDS = 30


@dataclass(frozen=True)
class HistoricalServer:
    """A Historical: its name, its tier, the bytes that it has loaded and can load, and the segments in its queue.

    `is_replicated`: each Historical that stays in the tier has all of its segments, so that none can be moved.
    """

    name: str
    tier: str
    used: int
    capacity: int
    queued: int = 0
    is_replicated: bool = False

    @property
    def left(self) -> int:
        """The bytes that are to be moved before it stops."""
        return 0 if self.is_replicated else self.used

    @property
    def is_empty(self) -> bool:
        """True if it has nothing to be moved."""
        return self.left == 0 and self.queued == 0


def historical_servers(servers: Iterable[Server], queues: Mapping[str, LoadQueue]) -> tuple[HistoricalServer, ...]:
    """Return the Historicals among the servers, given the load queues by name of the server."""
    return tuple(_historical(server, queues.get(server.name)) for server in servers if server.type == HISTORICAL)


def _historical(server: Server, queue: LoadQueue | None) -> HistoricalServer:
    queued = queue.to_load + queue.to_drop if queue else 0
    return HistoricalServer(server.name, server.tier, server.size, server.max_size, queued)


def has_moved_all(
    empty_for: float, confirmed_for: float, unavailable: int | None, unsure: float = UNSURE_SECONDS
) -> bool:
    """Return whether a Historical that is empty has moved all of its segments, as far as readings can show that.

    `empty_for`: since when all readings show it as empty, in seconds. `confirmed_for`: since when one has confirmed
    that, CONFIRM_SECONDS after the first. `unavailable`: the number of segments that no server has, None if that is
    unknown: then it has to be empty for longer (`unsure`).
    """
    if unavailable == 0:
        return empty_for >= EMPTY_SECONDS
    return empty_for >= unsure and confirmed_for >= CONFIRM_SECONDS


@dataclass(frozen=True)
class TooSmall:
    """A tier whose remaining Historicals have less room than its segments need, in bytes."""

    tier: str
    used: int
    capacity: int


def too_small_tier(
    tier: str, servers: Iterable[HistoricalServer], leaving: Collection[str], replicated: Collection[str]
) -> TooSmall | None:
    """Return the tier if those of its servers that stay have too little room for all segments.

    Those of the replicated ones, which leave, are on each server that stays already.
    """
    found = [*servers]
    used = sum(server.used for server in found if server.name not in replicated)
    capacity = sum(server.capacity for server in found if server.name not in leaving)
    return TooSmall(tier, used, capacity) if used > capacity else None


class TooFewServers(NamedTuple):
    """A tier in which a rule requires more replicas than Historicals stay: the names of those, and those that leave.

    The rule is the one with the most replicas.
    """

    tier: str
    rule: Rule
    staying: tuple[str, ...]
    leaving: tuple[HistoricalServer, ...]

    def question(self, leaving: HistoricalServer) -> Question[Replicated]:
        """Return the question which part of its segments all that stay have."""
        return replicated_bytes(leaving.name, self.staying)

    @property
    def questions(self) -> tuple[Question[Replicated], ...]:
        """That about each Historical that leaves."""
        return tuple(map(self.question, self.leaving))


def too_few_servers_in(
    tier: str, rules: Iterable[Rule], staying: Iterable[HistoricalServer], leaving: Iterable[HistoricalServer]
) -> TooFewServers | None:
    """Return the tier if Druid may not be able to move each segment: more replicas are required than servers stay."""
    rule = max((each for each in rules if each.tier in (tier, None)), key=_replicas, default=None)
    names = tuple(server.name for server in staying)
    if rule is None or not names or _replicas(rule) <= len(names):
        return None
    return TooFewServers(tier, rule, names, tuple(sorted(leaving, key=lambda server: server.name)))


def _replicas(rule: Rule) -> float:
    return float("inf") if rule.replicas is None else rule.replicas


def is_replicated(server: HistoricalServer, answer: Any) -> bool:
    """Return whether each server that stays has all segments of this one, by the answer to the question about it."""
    return isinstance(answer, Replicated) and answer.replicated == server.used


class ListChange(NamedTuple):
    """The entries to add to the list in a field of a configuration, and those to remove.

    Druid replaces a list as a whole, and others may change it at the same time, so the change is not the list that it
    leads to.
    """

    field: str
    added: frozenset[str]
    removed: frozenset[str]

    def applied(self, entries: Iterable[str]) -> list[str]:
        """Return the list after the change; its order has no meaning."""
        return sorted((set(entries) - self.removed) | self.added)

    def is_applied(self, entries: Collection[str]) -> bool:
        """True if nothing of the change is missing in the list."""
        return self.applied(entries) == sorted(set(entries))

    def with_lost(self, before: Collection[str], overwritten: Collection[str]) -> ListChange:
        """Return the change with that of another client, which a write from `before` has overwritten."""
        added = frozenset(overwritten) - frozenset(before) - self.removed
        removed = frozenset(before) - frozenset(overwritten) - self.added
        return self._replace(added=self.added | added, removed=self.removed | removed)


def entries_of(config: Mapping[str, Any], field: str) -> list[str]:
    """Return the list; Druid also accepts a text with commas."""
    value = config.get(field) or ()
    texts = value.split(",") if isinstance(value, str) else value
    return [text for each in texts if (text := str(each).strip())]


# How many segments a Coordinator moves; it ignores them with smartSegmentLoading (Druid 27 and newer).
_LIMITS = ("maxSegmentsToMove", "decommissioningMaxPercentOfMaxSegmentsToMove")


def stops_moves(config: Mapping[str, Any]) -> str | None:
    """Return the setting of the Coordinator because of which it moves no segment now, if there is one."""
    if config.get("pauseCoordination") is True:
        return "pauseCoordination: true"
    # Without a value, it is a release that does not compute the numbers itself.
    limits = () if config.get("smartSegmentLoading", False) is True else _LIMITS
    return next((f"{name}: 0" for name in limits if name in config and config[name] == 0), None)


def standstill(setting: str) -> str:
    """Return a sentence about that setting."""
    return f"The Coordinator moves no segment, because its dynamic configuration has {setting}: change that."
