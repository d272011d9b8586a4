# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which Historicals are being decommissioned, as the status of a resource records it.

An entry with a server is stored before its name is written to Druid: the list there does not show whose a name is, and
an operator that is stopped in between must find its own names again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FIELD = "historicalDecommission"


@dataclass(frozen=True)
class Entry:
    """A pod that is to stop, or has stopped.

    `server`: its name in Druid, None until the decommissioning may begin. `bytes`: the size of its segments, None if
    that is unknown. `empty_since`: since when it has none. `listed_by_others`: the name was in Druid's list before, so
    it is not ours. `ended`: the pod stays, or has stopped; only its name has to be removed. If the pod is to stop
    again, that is another decommissioning, with a limit of its own.
    """

    pod: str
    group: str
    started_at: str
    server: str | None = None
    bytes: int | None = None
    empty_since: str | None = None
    listed_by_others: bool = False
    ended: bool = False

    @property
    def is_ours(self) -> bool:
        """True if the name may be in Druid's list because of us."""
        return self.server is not None and not self.listed_by_others

    @property
    def document(self) -> dict[str, Any]:
        """The entry as an element of the field of the status."""
        document = {
            "pod": self.pod,
            "group": self.group,
            "startedAt": self.started_at,
            "server": self.server,
            "bytes": self.bytes,
            "emptySince": self.empty_since,
            "listedByOthers": self.listed_by_others or None,
            "ended": self.ended or None,
        }
        return {name: value for name, value in document.items() if value is not None}


def recorded(status: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Return the entries in a status, without those that nothing can be concluded from."""
    found: Iterable[Mapping[str, Any]] = status.get(FIELD) or ()
    return tuple(_entry(each) for each in found if each.get("pod") and each.get("group") and each.get("startedAt"))


def _entry(document: Mapping[str, Any]) -> Entry:
    return Entry(
        document["pod"],
        document["group"],
        document["startedAt"],
        document.get("server"),
        document.get("bytes"),
        document.get("emptySince"),
        bool(document.get("listedByOthers")),
        bool(document.get("ended")),
    )
