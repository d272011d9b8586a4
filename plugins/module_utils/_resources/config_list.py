# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A list in a dynamic configuration, of which each client manages entries of its own.

Druid replaces a list as a whole, so that clients that write at the same time overwrite each other's changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import ListChange, entries_of
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import audit
from ansible_collections.druidops.druid.plugins.module_utils._spec.memory import unmarked_comment
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError

AUTHOR = "druidops"
ATTEMPTS = 3
# Ours, and the one before it.
_ENTRIES = 2
# Of the history that is searched.
_MAX_HISTORY = 100


def change_list(client: DruidClient, path: str, change: ListChange, comment: str, author: str = AUTHOR) -> None:
    """Write the change, repeatedly if others overwrite it. DruidError if it fails.

    Author and comment are for Druid's audit history.
    The list is read immediately before the write, and read back after it. What another client has written in between is
    in Druid's audit history, and is written again.
    """
    due = change
    for _attempt in range(ATTEMPTS):
        latest = _history(client, path, 1)
        before = _read(client, path, change.field)
        if due.is_applied(before):
            return
        body = {change.field: due.applied(before)}
        client.post(path, body, idempotent=True, audit=audit(author, comment))
        overwritten = _overwritten(client, path, change.field, latest, author)
        due = due if overwritten is None else due.with_lost(before, overwritten)
    if not due.is_applied(_read(client, path, change.field)):
        raise DruidError(f"{change.field}: other clients have overwritten the change. {comment}")


def _read(client: DruidClient, path: str, field: str) -> list[str]:
    return entries_of(client.get(path) or {}, field)


def _overwritten(client: DruidClient, path: str, field: str, latest: list[Any], author: str) -> list[str] | None:
    """Return the list that another client has written since `latest`, and that the last write has replaced.

    None if there is none, as far as Druid's history has it.
    """
    found = _history(client, path, _ENTRIES)
    if len(found) < _ENTRIES or _audit(found[0]).get("author") != author or found[1:2] == latest[:1]:
        return None
    return _payload(found[1], field)


def _history(client: DruidClient, path: str, entries: int) -> list[Any]:
    """Return the last entries of Druid's audit history, the latest one first; none if it does not answer."""
    try:
        found = client.get(f"{path}/history", {"count": entries})
    except DruidError:
        return []
    return found if isinstance(found, list) else []


def _audit(entry: Any) -> Mapping[str, Any]:
    return (entry.get("auditInfo") if isinstance(entry, Mapping) else None) or {}


def _payload(entry: Any, field: str) -> list[str] | None:
    try:
        config = json.loads(entry["payload"])
    except (LookupError, TypeError, ValueError):
        return None
    return entries_of(config, field) if isinstance(config, Mapping) else None


class Addition(NamedTuple):
    """Who has added an entry to a list, as Druid's audit history has it."""

    author: str
    comment: str


def addition(client: DruidClient, path: str, field: str, entry: str) -> Addition | None:
    """Return who has added an entry that is in the list now; None if the history does not have that.

    The marker of the module dynamic_config is no part of the comment.
    """
    found = _history(client, path, _MAX_HISTORY)
    lists = [_payload(each, field) or [] for each in found]
    # if the history is shorter, its first change has added what is in it
    first = None if len(found) == _MAX_HISTORY else len(found)
    number = next((index for index, names in enumerate(lists) if entry not in names), first)
    if not number:
        return None
    info = _audit(found[number - 1])
    return Addition(str(info.get("author") or ""), unmarked_comment(str(info.get("comment") or "")))
