# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A job: a task that runs once for each specification, however often it is declared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.identity import datasource_of
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

_DIGITS = 16
# What Druid puts before the id of a query to name its task (MSQTasks.controllerTaskId).
_OF_QUERY = "query-"


@dataclass(frozen=True)
class Job:
    """
    A job of which each attempt is a task with an id of its own: Druid never takes an id twice.

    ``id``: that of the first attempt. ``body``: what is posted, without an id. ``is_query``: SQL, not a native task.
    """

    id: str
    body: Mapping[str, Any]
    is_query: bool = False

    def task_id(self, attempt: int) -> str:
        """Return the id of the task of an attempt, counted from 1."""
        own_id = self._own_id(attempt)
        return _OF_QUERY + own_id if self.is_query else own_id

    def submission(self, attempt: int) -> dict[str, Any]:
        """Return what is posted for an attempt."""
        own_id = self._own_id(attempt)
        if self.is_query:
            return {**self.body, "context": {**(self.body.get("context") or {}), "sqlQueryId": own_id}}
        return {**self.body, "id": own_id}

    def _own_id(self, attempt: int) -> str:
        return self.id if attempt == 1 else f"{self.id}_{attempt}"


def native_job(spec: Mapping[str, Any], specified: str | None) -> Job:
    """Return the job of a native task; ``specified``: the module's option id. InvalidInput if it cannot be a task."""
    kind = spec.get("type")
    if not isinstance(kind, str) or not kind:
        raise InvalidInput("spec.type", kind, "say which type of task it is, such as index_parallel")
    own_id = _own_id_of(spec)
    if specified is not None and own_id not in ("", specified):
        raise InvalidInput("id", specified, f"the spec names another task, {own_id!r}; state one of them")
    body = {name: value for name, value in spec.items() if name != "id"}
    generated = "_".join(part for part in ("druidops", kind, datasource_of(spec), _digest(body)) if part)
    return Job(specified or own_id or generated, body)


def query_job(query: str, context: Mapping[str, Any], parameters: list[Any], specified: str | None) -> Job:
    """Return the job of an SQL statement that ingests (INSERT or REPLACE)."""
    if "sqlQueryId" in context:
        raise InvalidInput("context.sqlQueryId", context["sqlQueryId"], "state the id by the option id")
    body = {"query": query, "context": dict(context), **({"parameters": parameters} if parameters else {})}
    return Job(specified or f"druidops_{_digest(body)}", body, is_query=True)


def _own_id_of(spec: Mapping[str, Any]) -> str:
    """Return the id that the specification states, empty if it states none."""
    own_id = spec.get("id")
    if own_id is not None and not isinstance(own_id, str):
        raise InvalidInput("spec.id", own_id, "the id of a task has to be a text; put it in quotes, or leave it out")
    return own_id or ""


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
