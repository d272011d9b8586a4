# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The partitions of the stream that a supervisor reads. Druid accepts offsets of any partition, and ignores unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor import supervisor_path
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput


def check_partitions(client: DruidClient, supervisor: str, offsets: Mapping[str, Any]) -> str:
    """Return a warning if Druid does not report the partitions (yet). InvalidInput for one that does not exist."""
    try:
        kind = client.get(supervisor_path(supervisor)).get("type")
        payload = client.get(supervisor_path(supervisor, "status")).get("payload") or {}
    except NotFound:
        # it is created in this run
        kind, payload = None, {}
    existing = partitions(kind, payload)
    if not existing:
        return (
            f"Supervisor {supervisor!r}: Druid does not report the partitions of its stream (yet), so it was not "
            f"checked whether those of reset_offsets exist: {', '.join(map(str, offsets))}. Druid ignores unknown ones."
        )
    unknown = [str(each) for each in offsets if str(each) not in existing]
    if unknown:
        remedy = f"the stream has no partition {', '.join(unknown)}. Its partitions: {_listed(existing)}"
        raise InvalidInput("reset_offsets", dict(offsets), remedy)
    return ""


def partitions(kind: str | None, payload: Mapping[str, Any]) -> list[str]:
    """Return the partitions in the status of a supervisor, an empty list if it does not name them all.

    For Kafka Druid reports their number (``partitions``), and Kafka counts them from 0. For other streams Druid names
    them where it reports the offsets (``latestOffsets``), for some types only.
    """
    count = payload.get("partitions")
    if not isinstance(count, int):
        return []
    if kind == "kafka":
        return [str(number) for number in range(count)]
    named = payload.get("latestOffsets")
    return sorted(map(str, named)) if isinstance(named, Mapping) and len(named) == count else []


_SHOWN = 10


def _listed(existing: list[str]) -> str:
    more = f" and {len(existing) - _SHOWN} more, the last one {existing[-1]}" if len(existing) > _SHOWN else ""
    return ", ".join(existing[:_SHOWN]) + more
