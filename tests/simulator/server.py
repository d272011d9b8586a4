# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server: answers HTTP requests of `KubernetesApi` from the store.

`interrupt` is called before and after each request: there a test injects failures, or lets others act in between.
`admit` may reject an object, as an admission webhook does; `stored` may drop fields whose feature gate is off.
`evicted` are the uids of evicted pods.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qs, urlsplit

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, is_terminating
from ansible_collections.druidops.druid.tests.simulator import disruption, managed_fields, schema
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store

_KIND_OF = {kind.plural: name for name, kind in KINDS.items()}
PATCH_FAILED = "the server rejected our request due to an error in our request"


class Refused(Exception):
    """The request is rejected, with this code and message."""

    def __init__(self, code: int, message: str, field_path: str = "") -> None:
        self.code, self.message = code, message
        self.causes = [{"field": field_path, "message": message}] if field_path else []
        super().__init__(message)


class Request(NamedTuple):
    """One request."""

    method: str
    kind: str
    namespace: str
    name: str
    subresource: str
    query: dict[str, str]
    body: Any
    is_apply: bool

    @property
    def manager(self) -> str:
        return self.query.get("fieldManager", "unknown")

    @property
    def is_dry_run(self) -> bool:
        body = self.body if isinstance(self.body, dict) else {}
        return "dryRun" in self.query or "dryRun" in body


class Response(NamedTuple):
    """One response, as urllib3 returns it."""

    status: int
    data: bytes
    headers: dict[str, str]


def uninterrupted(request: Request, when: Literal["before", "after"]) -> None:
    """Do not interrupt."""


def store_all(manifest: Manifest) -> Manifest:
    """Drop nothing."""
    return manifest


def admit_all(manifest: Manifest) -> str | None:
    """Admit everything."""
    return None


@dataclass
class Server:
    """A transport for `KubernetesApi`."""

    store: Store
    interrupt: Callable[[Request, Literal["before", "after"]], None] = field(default=uninterrupted)
    admit: Callable[[Manifest], str | None] = field(default=admit_all)
    stored: Callable[[Manifest], Manifest] = field(default=store_all)
    evicted: set[str] = field(default_factory=set)

    def request(self, method: str, url: str, **arguments: Any) -> Response:
        """Answer one request."""
        request = _parse(method, url, arguments.get("body"), arguments["headers"])
        try:
            self.interrupt(request, "before")
            answer = self.answer(request)
        except Refused as refusal:
            return _refusal(request, refusal)
        self.interrupt(request, "after")
        return Response(200, json.dumps(answer).encode(), {})

    def answer(self, request: Request) -> Manifest:
        """Carry out the request and return the document; Refused if it is not permitted."""
        if request.method == "GET":
            return self._read(request)
        if request.method == "DELETE":
            return self._delete(request)
        if request.subresource == "eviction":
            return self._evict(request)
        if request.method == "POST":
            return self._create(request)
        live = self._live(request)
        if request.is_apply:
            return self._apply(request, live)
        if live is None:
            raise Refused(404, f'{KINDS[request.kind].plural} "{request.name}" not found')
        after = request.body if request.method == "PUT" else json_patch(live, request.body)
        if request.subresource == "status":
            after = {**live, "status": after.get("status")}
        _require_identity(live, after["metadata"])
        return self._write(request, live, managed_fields.updated(live, after, request.manager))

    def _live(self, request: Request) -> Manifest | None:
        return self.store.get(request.kind, request.namespace, request.name)

    def _read(self, request: Request) -> Manifest:
        if not request.name:
            return {"items": [*self._matching(request)]}
        live = self._live(request)
        if live is None:
            raise Refused(404, f'{KINDS[request.kind].plural} "{request.name}" not found')
        return live

    def _matching(self, request: Request) -> list[Manifest]:
        label, _equals, value = request.query.get("labelSelector", "").partition("=")
        found = self.store.of_kind(request.kind)
        if label:
            found = [live for live in found if (live["metadata"].get("labels") or {}).get(label) == value]
        return [live for live in found if request.namespace in ("", live["metadata"].get("namespace"))]

    def _delete(self, request: Request) -> Manifest:
        live = self._live(request)
        if live is None:
            raise Refused(404, f'{KINDS[request.kind].plural} "{request.name}" not found')
        if request.body["preconditions"]["uid"] != live["metadata"]["uid"]:
            raise Refused(409, "Precondition failed: UID in precondition does not match")
        version = live["metadata"]["resourceVersion"]
        if request.body["preconditions"].get("resourceVersion", version) != version:
            raise Refused(409, "Precondition failed: ResourceVersion in precondition does not match")
        if not request.is_dry_run:
            self.store.delete(live, request.body["propagationPolicy"])
        return {"kind": "Status", "status": "Success"}

    def _evict(self, request: Request) -> Manifest:
        live = self._live(request)
        if live is None:
            raise Refused(404, f'pods "{request.name}" not found')
        if request.body["deleteOptions"]["preconditions"]["uid"] != live["metadata"]["uid"]:
            raise Refused(409, "Precondition failed: UID in precondition does not match")
        refusal = disruption.refusal(self.store, live)
        if refusal is not None:
            raise Refused(*refusal)
        self.store.delete(live)
        self.evicted.add(live["metadata"]["uid"])
        return {"kind": "Status", "status": "Success"}

    def _create(self, request: Request) -> Manifest:
        name = request.body["metadata"]["name"]
        if self.store.get(request.kind, request.namespace, name) is not None:
            raise Refused(409, f'{KINDS[request.kind].plural} "{name}" already exists')
        return self._write(request, None, managed_fields.updated(None, request.body, request.manager))

    def _apply(self, request: Request, live: Manifest | None) -> Manifest:
        metadata = request.body["metadata"]
        if live is None and "uid" in metadata:
            raise Refused(409, "uid mismatch: the provided object specified a uid, and no existing object was found")
        if live is not None:
            _require_identity(live, metadata)
        return self._write(request, live, managed_fields.applied(live, request.body, request.manager))

    def _write(self, request: Request, live: Manifest | None, after: Manifest) -> Manifest:
        after = schema.with_defaults(self.stored(after))
        rejection = None if request.subresource else self.admit(after)
        if rejection is not None:
            raise Refused(422, rejection, "spec")
        if live is None:
            return self.store.created(after) if request.is_dry_run else self.store.create(after)
        for path in schema.immutable_changes(live, after):
            raise Refused(422, f"{path}: field is immutable", path)
        if is_terminating(live) and set(after["metadata"].get("finalizers") or ()) - set(
            live["metadata"]["finalizers"]
        ):
            raise Refused(422, "no new finalizers can be added if the object is being deleted", "metadata.finalizers")
        return self.store.updated(after) if request.is_dry_run else self.store.update(after)


def _require_identity(live: Manifest, metadata: Manifest) -> None:
    """Refused if the request is for another object, or another version of it."""
    if metadata.get("uid", live["metadata"]["uid"]) != live["metadata"]["uid"]:
        raise Refused(409, "the UID in the request does not match the stored object", "metadata.uid")
    if metadata.get("resourceVersion", live["metadata"]["resourceVersion"]) != live["metadata"]["resourceVersion"]:
        raise Refused(409, "the object has been modified; please apply your changes to the latest version")


def json_patch(live: Manifest, operations: list[Manifest]) -> Manifest:
    """Return the object after the operations `test`, `add`, `replace` and `remove` on fields of mappings."""
    after: Manifest = json.loads(json.dumps(live))
    for operation in operations:
        *path, last = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:])
        parent: Any = after
        for part in path:
            if part not in parent:
                raise Refused(422, PATCH_FAILED)
            parent = parent[part]
        if operation["op"] == "test":
            if parent.get(last) != operation["value"]:
                raise Refused(422, PATCH_FAILED)
        elif operation["op"] == "remove":
            del parent[last]
        else:
            parent[last] = operation["value"]
    return after


def _parse(method: str, url: str, body: bytes | None, headers: Any) -> Request:
    address = urlsplit(url)
    _empty, root, *parts = address.path.split("/")
    parts = parts[1:] if root == "api" else parts[2:]
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 2:
        namespace, parts = parts[1], parts[2:]
    plural, name, subresource = (*parts, "", "")[:3]
    query = {key: values[0] for key, values in parse_qs(address.query, keep_blank_values=True).items()}
    document = json.loads(body) if body else None
    is_apply = "apply-patch" in headers.get("Content-Type", "")
    return Request(method, _KIND_OF[plural], namespace, name, subresource, query, document, is_apply)


def _refusal(request: Request, refusal: Refused) -> Response:
    name = request.name or (request.body or {}).get("metadata", {}).get("name", "")
    details = {"name": name, "kind": KINDS[request.kind].plural, "causes": refusal.causes}
    status = {"kind": "Status", "code": refusal.code, "message": refusal.message, "details": details}
    return Response(refusal.code, json.dumps(status).encode(), {})
