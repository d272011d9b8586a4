# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module segment_info: used segments by SQL, in which Druid groups them, and unused ones by pages."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound
from ansible_collections.druidops.druid.plugins.module_utils._operations.query import run_query
from ansible_collections.druidops.druid.plugins.module_utils._resources.segments import unused_segments
from ansible_collections.druidops.druid.plugins.module_utils._spec.segments import interval_of, valid_datasource
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput

# The columns that identify an entry.
_KEYS = {
    "datasource": ("datasource",),
    "interval": ("datasource", "start", "end", "version"),
    "segment": ("datasource", "start", "end", "version", "segment_id"),
}
_SUMS = 'COUNT(*) AS "count", SUM("size") AS "size", SUM(num_rows) AS "rows", SUM(is_available) AS available'
_MAX_ENTRIES = 10_000
# Druid has no totals of unused segments, and describes each in up to some kilobytes.
MAX_UNUSED = 100_000


def segment_info(client: DruidClient, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry for each datasource, interval or segment, those of used segments first, and the warnings."""
    if not 1 <= params["limit"] <= _MAX_ENTRIES:
        raise InvalidInput("limit", params["limit"], f"set a number from 1 to {_MAX_ENTRIES}")
    if params["datasource"] is not None:
        valid_datasource(params["datasource"])
    elif params["used"] is False:
        raise InvalidInput("datasource", NOT_SET, "Druid lists the unused segments of one datasource; set its name")
    interval = interval_of(params["interval"])
    warnings: list[str] = []
    used = [] if params["used"] is False else _used(client, params, interval)
    unused = [] if params["used"] or not params["datasource"] else _unused(client, params, interval, warnings)
    limit = params["limit"]
    if len(used) > limit or len(unused) > limit:
        warnings.append(f"There are more entries than {limit}. Set a larger limit, a datasource or an interval.")
    return {"changed": False, "segments": used[:limit] + unused[:limit], "warnings": warnings}


def _used(client: DruidClient, params: Mapping[str, Any], interval: str | None) -> list[dict[str, Any]]:
    columns = ", ".join(f'"{name}"' for name in _KEYS[params["by"]])
    conditions, values = ["is_published = 1"], []
    if params["datasource"] is not None:
        conditions.append("datasource = ?")
        values.append(params["datasource"])
    if interval is not None:
        conditions += ['"start" >= ?', '"end" <= ?']
        values += interval.split("/")
    query = f"SELECT {columns}, {_SUMS} FROM sys.segments WHERE {' AND '.join(conditions)}"
    limited = {
        "query": f"{query} GROUP BY {columns} ORDER BY {columns}",
        "parameters": [{"type": "VARCHAR", "value": value} for value in values],
        "context": None,
        "limit": params["limit"] + 1,
        "read_timeout": params["read_timeout"],
    }
    rows = run_query(client, limited)["rows"]
    if any(not {*_KEYS[params["by"]], "count"} <= row.keys() for row in rows):
        raise DruidError("The response to a query of sys.segments is in no form of Druid's. Check the option url.")
    return [_entry(row, params["by"], is_used=True) for row in rows]


def _unused(
    client: DruidClient, params: Mapping[str, Any], interval: str | None, warnings: list[str]
) -> list[dict[str, Any]]:
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    try:
        for each in islice(unused_segments(client, params["datasource"], interval), MAX_UNUSED):
            start, _slash, end = each["interval"].partition("/")
            columns = {
                "datasource": params["datasource"],
                "start": start,
                "end": end,
                "version": each["version"],
                "segment_id": each["identifier"],
                "count": 0,
                "size": 0,
            }
            row = rows.setdefault(tuple(columns[key] for key in _KEYS[params["by"]]), columns)
            row["count"] += 1
            row["size"] += each.get("size") or 0
            if len(rows) > params["limit"]:
                break
    except NotFound:
        problem = f"{client.product} does not list unused segments, Druid 29 and newer do"
        if params["used"] is False:
            raise InvalidInput("used", False, problem) from None
        warnings.append(f"{problem}.")
    if sum(row["count"] for row in rows.values()) == MAX_UNUSED:
        warnings.append(f"Only {MAX_UNUSED} unused segments were counted. Set an interval.")
    return [_entry(row, params["by"], is_used=False) for row in rows.values()]


def _entry(row: Mapping[str, Any], by: str, *, is_used: bool) -> dict[str, Any]:
    identity = {"datasource": row["datasource"]}
    if by != "datasource":
        identity.update(interval=f"{row['start']}/{row['end']}", version=row["version"])
    if by == "segment":
        identity["id"] = row["segment_id"]
    totals = {name: row.get(name) for name in ("count", "size", "rows", "available")}
    return {**identity, "used": is_used, **totals, "available": totals["available"] or 0}
