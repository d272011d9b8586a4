# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The entry of a pod that is to stop: since when that is so, and since when it has no segments. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.room import (
    has_no_destination,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.situation import (
    UNSURE_SECONDS,
    LeavingPod,
    ShrinkingGroup,
    Situation,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_record import Entry
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp

# Two readings, if each segment is available.
EMPTY_SECONDS = 10
# If that is in doubt, a third one between them, this long after the first and before the last: each of two may be that
# of a Coordinator that has just restarted.
CONFIRM_SECONDS = 30


def entry_of(pod: LeavingPod, group: ShrinkingGroup, found: Situation, has_room: bool) -> Entry:
    """Return the entry of a pod that is to stop."""
    earlier = found.recorded(pod.name)
    started = min((each.started_at for each in earlier if not each.ended), default=timestamp(found.now))
    name = pod.server.name if pod.server else None
    last = _last(earlier, name, has_room)
    entry = replace(last or Entry(pod.name, group.key, started), started_at=started, ended=False)
    if entry.is_ours:
        entry = replace(entry, unlisted_since=None)
    if pod.server is None:
        is_absent = found.is_complete and not pod.is_ready
        absent = (each for each in earlier if each.bytes is None)
        return _with_time(replace(entry, bytes=None), absent, is_absent, found.now)
    entry = replace(entry, bytes=pod.server.left)
    if last is not None:
        is_empty = name in found.listed and pod.server.is_empty and found.is_complete
        empty = (each for each in [last] if each.bytes == 0)
        return _with_owner(_with_time(entry, empty, is_empty, found.now), found)
    is_over = group.shrinks and seconds_since(started, found.now) >= group.timeout
    if not has_room or not found.is_complete or is_over or has_no_destination(group, found):
        return entry
    return replace(entry, server=name, listed_by_others=name in found.listed - found.ours)


def _last(earlier: Iterable[Entry], name: str | None, has_room: bool) -> Entry | None:
    """Return the entry of the pod that goes on; one that has ended begins again, for which there must be room."""
    found = (entry for entry in earlier if entry.server and name in (entry.server, None))
    return next((entry for entry in found if has_room or not entry.ended), None)


def _with_owner(entry: Entry, found: Situation) -> Entry:
    """Return the entry; a name that others have removed is ours when we add it again."""
    if not entry.listed_by_others:
        return entry
    of_others = not found.is_removal_certain(entry)
    return replace(entry, listed_by_others=of_others, unlisted_since=found.unlisted_since(entry) if of_others else None)


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


def may_stop(pod: LeavingPod, entry: Entry, group: ShrinkingGroup, found: Situation) -> bool:
    if group.shrinks and seconds_since(entry.started_at, found.now) >= group.timeout:
        return True
    if entry.empty_since is None:
        return False
    since = seconds_since(entry.empty_since, found.now)
    if pod.server is not None and found.unavailable == 0:
        return since >= EMPTY_SECONDS
    confirmed = seconds_since(entry.confirmed_at, found.now) if entry.confirmed_at else 0
    needed = UNSURE_SECONDS if pod.server is not None else group.restart
    return since >= needed and confirmed >= CONFIRM_SECONDS
