# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the Historicals that stay in a tier have room for its segments. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.situation import (
    ShrinkingGroup,
    Situation,
)


@dataclass(frozen=True)
class TooSmall:
    """A tier whose remaining Historicals have less room than its segments need, in bytes."""

    tier: str
    used: int
    capacity: int


def too_small(group: ShrinkingGroup, found: Situation) -> TooSmall | None:
    """Return the tier that has too little room for the segments of pods whose decommissioning has not begun."""
    if not found.is_complete or has_no_destination(group, found):
        return None
    begun = {entry.server for entry in found.record if not entry.ended}
    waiting = {pod.server.tier for pod in group.pods if pod.server and pod.server.name not in begun}
    replicated = {
        pod.server.name for each in found.groups for pod in each.pods if pod.server and pod.server.is_replicated
    }
    tiers = (
        TooSmall(
            tier,
            sum(each.used for each in found.servers_in(tier) if each.name not in replicated),
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
    if any(entry.server and not entry.ended for pod in group.pods for entry in found.recorded(pod.name)):
        return False
    tiers = {pod.server.tier for pod in group.pods if pod.server}
    return bool(tiers) and not any(found.remaining_in(tier) for tier in tiers)
