# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
A Historical that should be decommissioned, or active.

Its name is in the list decommissioningNodes of the dynamic configuration of the Coordinator
(``/druid/coordinator/v1/config``), which then moves its segments to others of its tier. It serves them meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.answers import answer, answers
from ansible_collections.druidops.druid.plugins.module_utils._resources.config_list import (
    Addition,
    addition,
    change_list,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    CONFIRM_SECONDS,
    HISTORICAL,
    LIST,
    HistoricalServer,
    ListChange,
    entries_of,
    has_moved_all,
    historical_servers,
    is_replicated,
    standstill,
    stops_moves,
    too_few_servers_in,
    too_small_tier,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Document
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import (
    COORDINATOR_CONFIG,
    LOAD_QUEUES,
    LOAD_STATUS,
    RULES,
    SERVERS,
    Unavailable,
    segments_alone,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.services import matching, one_of
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import CLOCK
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

REDUNDANT, DECOMMISSIONED, ACTIVE = "redundant", "decommissioned", "active"


def historical_named(client: DruidClient, server: str | None, state: str) -> str:
    """Return the name of the Historical that is meant: one that runs, or is in the list. InvalidInput if none is.

    One that neither runs nor is in the list is active, so that this can be desired of one that was removed.
    """
    running = [each.name for each in answer(client, SERVERS) if each.type == HISTORICAL]
    known = {*running, *entries_of(answer(client, COORDINATOR_CONFIG), LIST)}
    if state == ACTIVE and server and not matching(server, known):
        return server
    return one_of(server, known, HISTORICAL)


class _Found(NamedTuple):
    """The Historicals by name, and the configuration of the Coordinator, with the names in the list."""

    servers: Mapping[str, HistoricalServer]
    config: Mapping[str, Any]

    @property
    def listed(self) -> frozenset[str]:
        return frozenset(entries_of(self.config, LIST))

    def in_tier_of(self, server: HistoricalServer) -> list[HistoricalServer]:
        """The server, and others of its tier that are not decommissioned."""
        tier = (each for each in self.servers.values() if each.tier == server.tier)
        return [each for each in tier if each.name == server.name or each.name not in self.listed]

    def staying(self, server: HistoricalServer) -> list[HistoricalServer]:
        """Those others."""
        return [each for each in self.in_tier_of(server) if each.name != server.name]


class HistoricalState(Document):
    """
    Whether a Historical is decommissioned, as ``{"decommissioned": true}``.

    ``server``: what the Coordinator knows of it, None if it does not run. ``left``: the bytes that it has yet to move.
    ``added_by``: who had added it to the list before, None if it was not there, or Druid's audit history lacks that.
    """

    is_merged = False

    def __init__(self, client: DruidClient, name: str, state: str, author: str, comment: str) -> None:
        super().__init__(client, f"Historical {name}")
        self._server, self._state, self._is_decommissioned = name, state, state == DECOMMISSIONED
        self._author, self._comment = author, comment
        self._empty_since: float | None = None
        self._confirmed_at: float | None = None
        self.server: HistoricalServer | None = None
        self.left: int | None = None
        self.added_by: Addition | None = None

    @property
    def goal(self) -> str:
        """What it waits for before it is stopped."""
        return "to be redundant" if self._state == REDUNDANT else "to be empty"

    @property
    def remedy(self) -> str:
        """What to do if it does not get there."""
        if self._state == REDUNDANT:
            return (
                "Wait until Druid has loaded all replicas, require more of them by retention rules, or move its "
                "segments by state: decommissioned."
            )
        return (
            f"It stays in {LIST}, and serves its segments. Run the module again to wait on, or set state: active to "
            "give up."
        )

    @property
    def _specified(self) -> Any:
        return self._is_decommissioned

    def _fetch(self) -> dict[str, Any]:
        return {"decommissioned": self._server in self._found().listed}

    def _found(self) -> _Found:
        # the list first: a server that is empty before it is in the list may load segments until then
        config = answer(self._client, COORDINATOR_CONFIG)
        servers, queues = answer(self._client, SERVERS), answer(self._client, LOAD_QUEUES)
        found = _Found({each.name: each for each in historical_servers(servers, queues)}, config)
        self.server = found.servers.get(self._server)
        self.left = self.server.left if self.server else None
        return found

    def _merged(self, before: Any) -> dict[str, Any]:
        return dict(before) if self._state == REDUNDANT else {"decommissioned": self._is_decommissioned}

    def read(self) -> Any:
        """Return the current state. DruidError if its segments have no place to move to."""
        found = self._found()
        before = {"decommissioned": self._server in found.listed}
        if before["decommissioned"]:
            self.added_by = addition(self._client, COORDINATOR_CONFIG.path, LIST, self._server)
        if self._is_decommissioned and not before["decommissioned"]:
            self._require_destination(found)
        return before

    def _require_destination(self, found: _Found) -> None:
        server = self.server
        if server is None:
            raise DruidError(f"{self._name} does not run, so that it has no segments to move. Start it, or stop here.")
        if server.is_empty:
            return
        staying = found.staying(server)
        if not staying:
            others = sorted(each for each in found.listed if each in found.servers and each != server.name)
            reason = f": {', '.join(others)} are decommissioned, too" if others else ""
            raise DruidError(
                f"{self._name} is the only one of tier {server.tier} that is active{reason}. Its segments have no "
                "place to move to. Add a Historical to the tier first."
            )
        replicated = {server.name} if self._is_replicated(found, server) else set[str]()
        small = too_small_tier(server.tier, found.in_tier_of(server), {server.name}, replicated)
        if small is not None:
            raise DruidError(
                f"{self._name} cannot be decommissioned: tier {small.tier} has {small.used:,} bytes of segments, and "
                f"the Historicals that stay have room for {small.capacity:,} (druid.segmentCache.locations). Add a "
                "Historical to the tier, enlarge the others, or require fewer replicas by retention rules."
            )

    def _is_replicated(self, found: _Found, server: HistoricalServer) -> bool:
        """Return whether each one that stays has all of its segments, so that Druid cannot move any."""
        rules = answer(self._client, RULES)
        few = too_few_servers_in(server.tier, rules, found.staying(server), [server])
        if few is None:
            return False
        question = few.question(server)
        reply = answers(self._client, [question])[question]
        if isinstance(reply, Unavailable):
            self._warn(
                f"Load rules of {few.rule.datasource} require more replicas than Historicals stay, and it is not known "
                f"which segments these have, so that it may never be empty. {reply.message}"
            )
        return is_replicated(server, reply)

    def _send(self, before: Any, after: Any) -> None:
        name = frozenset({self._server})
        added, removed = (name, frozenset[str]()) if self._is_decommissioned else (frozenset[str](), name)
        change_list(
            self._client, COORDINATOR_CONFIG.path, ListChange(LIST, added, removed), self._comment, self._author
        )

    def awaited(self) -> str:
        """Return what it waits for, as a part of a sentence; an empty text if it can be stopped."""
        return self._not_redundant() if self._state == REDUNDANT else self._not_empty()

    def _not_redundant(self) -> str:
        """Return which segments no other server has, as a Broker knows them now."""
        self._found()
        if self.server is None:
            return "the Coordinator does not know it at the moment"
        alone = answer(self._client, segments_alone(self._server))
        if alone.number:
            listed = ", ".join(f"{number} of datasource {name}" for name, number in sorted(alone.number.items()))
            return f"no other server has some of its segments ({listed})"
        if alone.known < self.server.used:
            return (
                f"a Broker reports {alone.known:,} bytes of its segments, of {self.server.used:,}: it does not know "
                "the others yet, or the user may not read their datasources (READ on DATASOURCE), or it does not watch "
                "their tier (druid.broker.segment.watchedTiers)"
            )
        return ""

    def _not_empty(self) -> str:
        """Return what the decommissioned Historical waits for, an empty text if it has moved all of its segments.

        One reading does not show that: a Coordinator reports a server as empty until it has read it.
        """
        found, now = self._found(), CLOCK.monotonic()
        if self._server not in found.listed:
            raise DruidError(
                f"{self._name} is not in {LIST} any more: another client has removed it. Run the module again to "
                "decommission it."
            )
        server = self.server
        if server is None:
            self._empty_since = self._confirmed_at = None
            return "the Coordinator does not know it at the moment"
        if not server.is_empty and not (server.queued == 0 and self._is_replicated(found, server)):
            self._empty_since = self._confirmed_at = None
            setting = stops_moves(found.config)
            remark = f". {standstill(setting).rstrip('.')}" if setting else ""
            if not found.staying(server):
                remark = f". No other one of tier {server.tier} is active: other clients have decommissioned them"
            return f"it still has {server.used:,} bytes of segments, and {server.queued} segments in its queue{remark}"
        self.left = 0
        self._empty_since = now if self._empty_since is None else self._empty_since
        if self._confirmed_at is None and now - self._empty_since >= CONFIRM_SECONDS:
            self._confirmed_at = now
        unavailable = sum(answer(self._client, LOAD_STATUS).values())
        confirmed_for = 0.0 if self._confirmed_at is None else now - self._confirmed_at
        is_moved = has_moved_all(now - self._empty_since, confirmed_for, unavailable)
        return "" if is_moved else "it is empty, and further readings have to confirm that"
