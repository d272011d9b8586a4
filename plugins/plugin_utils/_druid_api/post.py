# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write to Druid by POST: a request, or a change of single entries of a list in a dynamic configuration.

Druid replaces a list as a whole, so it is read immediately before the write, and read back after it. What another
client has written in between is in Druid's audit history, and is written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.list_change import ListChange, entries_of

ATTEMPTS = 3
_AUTHOR = "druidops"
# Ours, and the one before it.
_ENTRIES = 2


def post(client: DruidClient, path: str, body: Any, comment: str, *, idempotent: bool) -> None:
    """Send a POST, again if Druid does not respond and it is idempotent. DruidError if it fails.

    The comment is for the audit history of Druid.
    """
    client.post(path, body, idempotent=idempotent, audit=audit(_AUTHOR, comment))


def change_list(client: DruidClient, path: str, change: ListChange, comment: str) -> None:
    """Write the change, repeatedly if others overwrite it. DruidError if it fails."""
    due = change
    for _attempt in range(ATTEMPTS):
        latest = _history(client, path, 1)
        before = _read(client, path, change.field)
        if due.is_applied(before):
            return
        post(client, path, {change.field: due.applied(before)}, comment, idempotent=True)
        overwritten = _overwritten(client, path, change.field, latest)
        due = due if overwritten is None else due.with_lost(before, overwritten)
    if not due.is_applied(_read(client, path, change.field)):
        raise DruidError(f"{change.field}: other clients have overwritten the change. {comment}")


def _read(client: DruidClient, path: str, field: str) -> list[str]:
    return entries_of(client.get(path) or {}, field)


def _overwritten(client: DruidClient, path: str, field: str, latest: list[Any]) -> list[str] | None:
    """Return the list that another client has written since `latest`, and that the last write has replaced.

    None if there is none, as far as Druid's history has it.
    """
    found = _history(client, path, _ENTRIES)
    if len(found) < _ENTRIES or not _is_ours(found[0]) or found[1:2] == latest[:1]:
        return None
    return _payload(found[1], field)


def _history(client: DruidClient, path: str, entries: int) -> list[Any]:
    """Return the last entries of Druid's audit history, the latest one first; none if it does not answer."""
    try:
        found = client.get(f"{path}/history", {"count": entries})
    except DruidError:
        return []
    return found if isinstance(found, list) else []


def _is_ours(entry: Any) -> bool:
    return isinstance(entry, Mapping) and (entry.get("auditInfo") or {}).get("author") == _AUTHOR


def _payload(entry: Any, field: str) -> list[str] | None:
    try:
        config = json.loads(entry["payload"])
    except (LookupError, TypeError, ValueError):
        return None
    return entries_of(config, field) if isinstance(config, Mapping) else None
