# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write a change of single entries of a list in a dynamic configuration, which Druid replaces as a whole.

The list is read immediately before the write, and read back after it. What another client has written in between is in
Druid's audit history, and is written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import error_findings
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.list_change import ListChange, entries_of
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

ATTEMPTS = 3
_AUTHOR = "druidops"
# Ours, and the one before it.
_ENTRIES = 2


def write_list(client: DruidClient, path: str, change: ListChange, comment: str) -> Finding | None:
    """Write the change, repeatedly if others overwrite it. Return a finding if it fails."""
    try:
        return _written(client, path, change, comment)
    except DruidError as error:
        return error_findings.error_finding(error)


def _written(client: DruidClient, path: str, change: ListChange, comment: str) -> Finding | None:
    due = change
    for _attempt in range(ATTEMPTS):
        latest = _history(client, path, 1)
        before = _read(client, path, change.field)
        if due.is_applied(before):
            return None
        body = {change.field: due.applied(before)}
        client.post(path, body, idempotent=True, audit=audit(_AUTHOR, comment))
        overwritten = _overwritten(client, path, change.field, latest)
        due = due if overwritten is None else due.with_lost(before, overwritten)
    if due.is_applied(_read(client, path, change.field)):
        return None
    return Finding(reasons.REJECTED_BY_DRUID, f"{change.field}: other clients have overwritten the change. {comment}")


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
