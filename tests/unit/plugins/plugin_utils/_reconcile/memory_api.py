# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server in memory: it stores objects, deletes them after their finalizers, and rejects configured requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    UNPROCESSABLE,
    ApiError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest

Key = tuple[str, str]


@dataclass
class MemoryApi(KubernetesApi):
    """The objects by kind and name; `rejected` maps a request (method, kind) to the message of its rejection."""

    server: str = "memory"
    transport: Any = None
    objects: dict[Key, Manifest] = field(default_factory=dict)
    rejected: dict[tuple[str, str], str] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)

    def of_kind(self, kind: str) -> list[Manifest]:
        """Return the objects of a kind."""
        return [each for (found, _name), each in self.objects.items() if found == kind]

    def _request(self, method: str, kind: str, namespace: str | None, *arguments: Any, **named: Any) -> Manifest:
        name, query, body = (*arguments, None, None, None)[:3]
        body = named.get("body", body)
        if (method, kind) in self.rejected:
            raise self._error(method, kind, namespace, str(name), FORBIDDEN, self.rejected[method, kind])
        if method == "GET" and name is None:
            return {"items": self.of_kind(kind)}
        name = name or (body or {})["metadata"]["name"]
        live = self.objects.get((kind, name))
        is_creation = method == "POST" or "force" in (query or {})
        if live is None and not is_creation:
            raise self._error(method, kind, namespace, name, NOT_FOUND, "not found")
        if live is not None and method == "POST":
            raise self._error(method, kind, namespace, name, CONFLICT, "exists")
        if method == "GET":
            return live or {}
        after = self._written(method, live, body)
        if "dryRun" not in (query or {}):
            self.writes.append(f"{method} {kind}")
            self._store((kind, name), after)
        return after

    def _written(self, method: str, live: Manifest | None, body: Any) -> Manifest:
        if live is not None and method == "DELETE":
            return {**live, "metadata": {**live["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
        return self._patched(live, body) if live and isinstance(body, list) else self._stored(live, body)

    def _store(self, key: Key, after: Manifest) -> None:
        self.objects[key] = after
        if after["metadata"].get("deletionTimestamp") and not after["metadata"].get("finalizers"):
            del self.objects[key]

    def _error(self, method: str, kind: str, namespace: str | None, name: str, status: int, message: str) -> ApiError:
        rejection = {"message": message, "details": {"name": name}}
        return ApiError(method, KINDS[kind].resource, kind, namespace, name, status, rejection)

    def _stored(self, live: Manifest | None, body: Manifest) -> Manifest:
        before = live or {"metadata": {"uid": f"uid-{len(self.writes)}", "generation": 0, "resourceVersion": "1"}}
        is_new = before.get("spec") != body.get("spec")
        generation = before["metadata"]["generation"] + is_new
        return {**before, **body, "metadata": {**before["metadata"], **body["metadata"], "generation": generation}}

    def _patched(self, live: Manifest, operations: list[dict[str, Any]]) -> Manifest:
        after = {**live, "metadata": dict(live["metadata"])}
        for each in operations:
            *parents, last = each["path"].strip("/").split("/")
            target = after["metadata"] if parents else after
            if each["op"] == "test" and target[last] != each["value"]:
                raise self._error("PATCH", live["kind"], "ns", live["metadata"]["name"], UNPROCESSABLE, "test failed")
            if each["op"] != "test":
                target[last] = each["value"]
        return after
