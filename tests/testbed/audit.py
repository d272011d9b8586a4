# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the audit log of the API server, so that tests can count requests by user and verb."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from os import SEEK_END
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

_LONGEST_LINE = 1024 * 1024


@dataclass(frozen=True)
class Mark:
    """A point in the log."""

    offset: int


@dataclass(frozen=True)
class AuditEvent:
    """One request with a response of the API server (a watch: a started one); received at seconds since the epoch."""

    user: str
    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    user_agent: str
    uri: str
    dry_run: bool
    received: float


class Audit:
    """The audit log of one control plane."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def mark(self) -> Mark:
        """The present end of the log: of its last whole line, since one may be half written."""
        with self._path.open("rb") as log:
            end = log.seek(0, SEEK_END)
            start = log.seek(max(0, end - _LONGEST_LINE))
            # not what has been written since
            return Mark(end - len(log.read(end - start).rpartition(b"\n")[2]))

    def since(self, mark: Mark, user: str | None = None) -> list[AuditEvent]:
        """The requests with a response after the mark, of one user or of all, in the order of the responses."""
        with self._path.open("rb") as log:
            log.seek(mark.offset)
            # the last line may be half written
            lines = log.read().rpartition(b"\n")[0].splitlines()
        events = map(event, map(json.loads, lines))
        return [each for each in events if each is not None and user in (None, each.user)]


def event(line: dict[str, Any]) -> AuditEvent | None:
    """The request of a line of the log, None for other lines."""
    # a watch has a line when it opens and one when it ends, which may be much later
    if line["stage"] not in (("ResponseStarted",) if line["verb"] == "watch" else ("ResponseComplete", "Panic")):
        return None
    target = line.get("objectRef", {})
    return AuditEvent(
        user=line["user"]["username"],
        verb=line["verb"],
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        code=line.get("responseStatus", {}).get("code", 0),
        user_agent=line.get("userAgent", ""),
        uri=line["requestURI"],
        dry_run="dryRun" in parse_qs(urlsplit(line["requestURI"]).query),
        received=datetime.fromisoformat(line["requestReceivedTimestamp"]).timestamp(),
    )
