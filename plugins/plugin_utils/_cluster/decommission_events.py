# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The events of a decommissioning: a Historical whose segments are moved, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.findings import size_text
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decommission_record import Entry, recorded
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText


def decommission_texts(change: StatusChange, observed: Observed) -> Iterator[EventText]:
    """Yield an event for each name that the record has got, and for each one that is not in Druid's list any more."""
    before, after = _named(change.before), _named(change.after)
    for name, entry in after.items():
        if name not in before and not entry.ended:
            yield EventText("Normal", reasons.HISTORICAL_DECOMMISSIONING, _begun(entry))
    for name, entry in before.items():
        if name not in after:
            yield _ended(entry, ObjectKey("Pod", entry.pod) in observed.objects)


def _named(status: Mapping[str, Any]) -> dict[str, Entry]:
    return {entry.server: entry for entry in recorded(status) if entry.server and not entry.is_removed}


def _begun(entry: Entry) -> str:
    size = f", {size_text(entry.bytes)}" if entry.bytes is not None else ""
    return f"Pod {entry.pod} is being decommissioned ({entry.server}{size})."


def _ended(entry: Entry, exists: bool) -> EventText:
    stays = " Its name was in the list of Druid before, and stays there." if entry.listed_by_others else ""
    if exists:
        message = f"Pod {entry.pod} is not decommissioned any more ({entry.server}).{stays}"
        return EventText("Normal", reasons.HISTORICAL_RECOMMISSIONED, message)
    if entry.bytes == 0:
        message = f"Pod {entry.pod} is decommissioned, and has stopped ({entry.server}).{stays}"
        return EventText("Normal", reasons.HISTORICAL_DECOMMISSIONED, message)
    left = "segments of unknown size" if entry.bytes is None else size_text(entry.bytes)
    message = f"Pod {entry.pod} has stopped before Druid had moved all segments: {left} ({entry.server}).{stays}"
    return EventText("Warning", reasons.HISTORICAL_NOT_DECOMMISSIONED, message)
