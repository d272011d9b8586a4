# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the module query: a query by SQL that changes nothing, with limits of time and of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked_parts
from ansible_collections.druidops.druid.plugins.module_utils._spec.sql_statement import require_query
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput

_SQL = path("druid", "v2", "sql")
# The schema in which Druid shows its own documents, such as the specifications of supervisors.
_SYSTEM = re.compile(r"\bsys\b", re.IGNORECASE)
# What a response may have is limited in the number of its objects, too (_http/shapes.py).
_MAX_LIMIT = 50_000
# The response has to arrive before the connection times out.
_SECONDS_FOR_RESPONSE = 2.0


def run_query(client: DruidClient, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows as mappings, and whether there are more. InvalidInput for what is surely no query."""
    limit = params["limit"]
    if not 1 <= limit <= _MAX_LIMIT:
        raise InvalidInput("limit", limit, f"set a number from 1 to {_MAX_LIMIT}, and LIMIT and OFFSET in the query")
    if require_query(params["query"]) == "EXPLAIN":
        # the plan of the query as it is
        limits: dict[str, Any] = {}
    else:
        # one more, which shows that there are more
        limits = {"sqlOuterLimit": limit + 1}
    context = {"timeout": _milliseconds(params["read_timeout"]), **_context(params), **limits}
    body = {"query": params["query"], "parameters": _parameters(params), "context": context, "resultFormat": "object"}
    rows = client.post(_SQL, body, idempotent=True)
    found = masked_parts(rows[:limit]) if _SYSTEM.search(params["query"]) else rows[:limit]
    return {"changed": False, "rows": found, "truncated": len(rows) > limit}


def _milliseconds(read_timeout: float) -> int:
    """Return the time after which Druid stops the query: the module does not wait longer for its response."""
    return max(1, int(1000 * max(read_timeout - _SECONDS_FOR_RESPONSE, read_timeout / 2)))


def _context(params: Mapping[str, Any]) -> dict[str, Any]:
    context: dict[str, Any] = document_of(params, "context") or {}
    if "sqlOuterLimit" in context:
        raise InvalidInput("context.sqlOuterLimit", context["sqlOuterLimit"], "limit the rows with the option limit")
    return context


def _parameters(params: Mapping[str, Any]) -> list[Any]:
    parameters: list[Any] = document_of(params, "parameters") or []
    for index, each in enumerate(parameters):
        if not (isinstance(each, Mapping) and isinstance(each.get("type"), str) and "value" in each):
            remedy = "must be a mapping with type and value, such as {type: VARCHAR, value: clicks}"
            raise InvalidInput(f"parameters[{index}]", HIDDEN, remedy)
    return parameters
