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
        before = _read(client, path, change.field)
        if due.is_applied(before):
            return None
        body = {change.field: due.applied(before)}
        client.post(path, body, idempotent=True, audit=audit(_AUTHOR, comment))
        due = due.with_lost(before, _overwritten(client, path, change.field))
    if due.is_applied(_read(client, path, change.field)):
        return None
    return Finding(reasons.REJECTED_BY_DRUID, f"{change.field}: other clients have overwritten the change. {comment}")


def _read(client: DruidClient, path: str, field: str) -> list[str]:
    return entries_of(client.get(path) or {}, field)


def _overwritten(client: DruidClient, path: str, field: str) -> list[str]:
    """Return the list that the last write has replaced, as far as Druid's history has it."""
    try:
        history = client.get(f"{path}/history", {"count": _ENTRIES})
    except DruidError:
        return []
    if not isinstance(history, list) or len(history) < _ENTRIES or not _is_ours(history[0]):
        return []
    return _payload(history[1], field)


def _is_ours(entry: Any) -> bool:
    return isinstance(entry, Mapping) and (entry.get("auditInfo") or {}).get("author") == _AUTHOR


def _payload(entry: Any, field: str) -> list[str]:
    try:
        config = json.loads(entry["payload"])
    except (LookupError, TypeError, ValueError):
        return []
    return entries_of(config, field) if isinstance(config, Mapping) else []
