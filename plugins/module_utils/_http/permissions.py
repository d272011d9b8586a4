# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The permissions that Druid requires for a request: type and name of a resource, and READ or WRITE. Pure.

From the resource filters in the source of Druid 27 and 33. docs/permissions.md has those of each module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, value_at


class Rule(NamedTuple):
    """The resource of all paths below ``below``. ``{name}``: a segment of the path."""

    below: str
    resource: str


# The first rule whose path matches applies.
RULES = tuple(
    Rule(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", below), resource)
    for below, resource in (
        ("/druid-ext/basic-security", "CONFIG security"),
        ("/druid/indexer/v1/worker/[^/]+/(?:enable|disable)", "STATE STATE"),
        ("/druid/indexer/v1/worker", "CONFIG CONFIG"),
        ("/druid/indexer/v1/workers", "STATE STATE"),
        ("/druid/indexer/v1/leader", "STATE STATE"),
        ("/druid/indexer/v1/k8s", "CONFIG CONFIG"),
        ("/druid/indexer/v1/supervisor/{name}", "DATASOURCE, that of supervisor {name}"),
        ("/druid/indexer/v1/supervisor", "DATASOURCE {datasource}"),
        ("/druid/indexer/v1/task/{name}", "DATASOURCE, that of task {name}"),
        ("/druid/indexer/v1/task", "DATASOURCE {datasource}"),
        ("/druid/indexer/v1/tasks", "DATASOURCE {datasource}"),
        ("/druid/indexer/v1/datasources/{name}", "DATASOURCE {name}"),
        ("/druid/indexer/v1/compaction/config/datasources/{name}", "DATASOURCE {name}"),
        ("/druid/indexer/v1/compaction/status/datasources/{name}", "DATASOURCE {name}"),
        ("/druid/indexer/v1/compaction", "CONFIG CONFIG"),
        ("/druid/coordinator/v1/datasources/{name}", "DATASOURCE {name}"),
        ("/druid/coordinator/v1/metadata/datasources/{name}", "DATASOURCE {name}"),
        ("/druid/coordinator/v1/rules/{name}", "DATASOURCE {name}"),
        ("/druid/coordinator/v1/rules", "STATE STATE"),
        ("/druid/coordinator/v1/compaction", "STATE STATE"),
        ("/druid/coordinator/v1/(?:cluster|leader|loadqueue|loadstatus|servers)", "STATE STATE"),
        ("/druid/coordinator/v1", "CONFIG CONFIG"),
        ("/status", "STATE STATE"),
    )
)
_DATASOURCES: tuple[Path, ...] = (
    ("dataSource",),
    ("dataSources",),
    ("spec", "dataSchema", "dataSource"),
    ("dataSchema", "dataSource"),
    ("spec", "dataSource"),
)


def required(method: str, path: str, document: Any, query: str = "") -> list[str]:
    """Return the permissions that a request needs: ``READ on STATE STATE``; an empty list if that is unknown."""
    if path in ("/druid/v2/sql", "/druid/v2/sql/task") and method == "POST":
        query = str(value_at(document, ("query",)) or "")
        return list(_of_statement(query) if path.endswith("/task") else _of_query(query))
    action = "READ" if method == "GET" else "WRITE"
    for rule in RULES:
        if found := re.match(rf"{rule.below}(?:/|$)", path):
            names = {"datasource": _datasource(document, query)}
            names.update((name, unquote(value)) for name, value in found.groupdict().items())
            return [f"{action} on {rule.resource.format(**names)}"]
    return []


def _datasource(document: Any, query: str) -> str:
    """Return the datasource in a specification, or that by which a list is filtered (``?datasource=``)."""
    filters = parse_qs(query.removeprefix("?")).get("datasource", [])
    values = [*filters, *(value_at(document, path) for path in _DATASOURCES)]
    names = [value for value in values if isinstance(value, str)]
    lists = [", ".join(map(str, value)) for value in values if isinstance(value, list)]
    return next(iter((*names, *lists)), "of the spec")


_TARGET = re.compile(
    r"\b(?:INSERT|REPLACE)\s+INTO\s+(?P<quote>\"?)(?P<name>(?!EXTERN\b)[^\s\"(]+)(?P=quote)", re.IGNORECASE
)
_EXTERNAL = re.compile(r"\b(?:EXTERN|HTTP|INLINE|LOCALFILES|S3)\s*\(", re.IGNORECASE)


# Druid omits from other tables of this schema what the user may not read.
_SERVERS = re.compile(r"\bsys\"?\s*\.\s*\"?server", re.IGNORECASE)
_TABLES = "READ on DATASOURCE of each table that it reads"


def _of_query(query: str) -> Iterator[str]:
    yield "READ on STATE STATE" if _SERVERS.search(query) else _TABLES


def _of_statement(query: str) -> Iterator[str]:
    target = _TARGET.search(query)
    yield f"WRITE on DATASOURCE {target['name']}" if target else "WRITE on the target"
    if _EXTERNAL.search(query):
        yield "READ on EXTERNAL EXTERNAL"
    yield _TABLES


def as_text(permissions: list[str]) -> str:
    """Return the permissions as a part of a sentence."""
    if len(permissions) == 1:
        return f"the permission {permissions[0]}"
    return f"the permissions {', '.join(permissions[:-1])} and {permissions[-1]}"
