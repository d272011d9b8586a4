# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names in Druid's list that are ours, and the entries of the record that are needed until they are removed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.situation import Situation
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_record import Entry


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
    def of(cls, current: Sequence[Entry], found: Situation) -> Names:
        leaving = {entry.pod for entry in current}
        # A StatefulSet that has been scaled already has its pods for a while.
        stopping = (entry for entry in found.record if entry.pod in found.existing - leaving)
        # Its address may be that of a pod that stays.
        desired = frozenset(entry.server for entry in (*current, *stopping) if entry.server) - found.staying
        stored = found.ours
        specified = found.druid.specified if found.druid else frozenset()
        missing = desired - found.listed if found.druid else frozenset()
        return cls(desired, stored, stored - desired - specified, missing)


def kept(current: Iterable[Entry], names: Names, found: Situation) -> Iterator[Entry]:
    """Yield the other entries of the stored record that are needed: until it is certain that their name is removed."""
    leaving = {entry.pod for entry in current}
    known = {(entry.pod, entry.server) for entry in current}
    for entry in found.record:
        if (entry.pod, entry.server) in known or entry.server is None:
            continue
        if entry.server in names.desired:
            yield replace(entry, unlisted_since=None) if entry.is_ours else entry
        elif entry.server in names.obsolete and not found.is_removal_certain(entry):
            ended, since = entry.ended or entry.pod not in leaving, found.unlisted_since(entry)
            yield replace(entry, empty_since=None, confirmed_at=None, ended=ended, unlisted_since=since)
