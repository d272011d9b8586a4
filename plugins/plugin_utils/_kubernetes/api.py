# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Kubernetes API: get, list, apply, delete. The only module with URLs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    FORBIDDEN,
    NOT_FOUND,
    UNPROCESSABLE,
    ApiError,
    TooDeep,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    FIELD_MANAGER,
    KINDS,
    ApiResource,
    Manifest,
)

# connection.connect reports a missing library, and nothing is sent without it.
with suppress(ImportError):
    import urllib3
CONNECT_TIMEOUT_SECONDS = 10
READ_TIMEOUT_SECONDS = 60
TOO_MANY_REQUESTS = 429
# In the response to an eviction that a PodDisruptionBudget does not allow: that can last, and the server is not busy.
_OF_BUDGET = b'"DisruptionBudget"'
# The kind of the list of an API version's kinds.
_DISCOVERY = "APIResourceList"
MAX_ATTEMPTS = 4
# Characters of a text that is not from a Kubernetes API.
_MAX_FOREIGN = 500
MAX_RETRY_AFTER_SECONDS = 10.0

JSON = "application/json"
# A list as kubectl prints it: a few columns per object, whatever the object contains.
TABLE = f"{JSON};as=Table;v=v1;g=meta.k8s.io"
# A log; an error about it is JSON. The API server asks the kubelet for it, whose node may be down.
TEXT = f"text/plain, {JSON}"
LOG_TIMEOUT_SECONDS = 5

# The server parses apply patches as YAML, which folds or rejects these characters. A lone surrogate can only be sent as
# an escape.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
# A possible object name: anything else would change the path of the request.
_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^/%]+")


class Transport(Protocol):
    """Sends requests: urllib3's pool manager."""

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send a request; the response has status, headers and data. urllib3's HTTPError if there is none."""


def to_json(body: Any) -> bytes:
    """Return ``body`` as UTF-8 JSON that YAML parsers read identically."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text).encode("utf-8")


@dataclass
class KubernetesApi:
    """A connection to one API server. ``warnings`` collects the server's warnings."""

    server: str
    transport: Transport
    headers: Callable[[], MutableMapping[str, str]] = field(default=dict)
    sleep: Callable[[float], None] = time.sleep
    warnings: list[str] = field(default_factory=list)
    kinds: Mapping[str, ApiResource] = field(default_factory=lambda: KINDS)

    @property
    def api_server(self) -> str:
        """The URL of the API server itself."""
        return self.server

    def kinds_of(self, api_version: str) -> dict[str, ApiResource]:
        """Return the kinds that the server has in an API version, by name; none if it does not have the version."""
        discovery = replace(self, kinds={_DISCOVERY: ApiResource(api_version, "", namespaced=False)})
        try:
            document = discovery._request("GET", _DISCOVERY, None)
        except ApiError as error:
            if error.status == NOT_FOUND:
                return {}
            raise
        served = (resource for resource in document.get("resources") or () if "/" not in resource["name"])
        return {each["kind"]: ApiResource(api_version, each["name"], each["namespaced"]) for each in served}

    def with_kinds(self, kinds: Mapping[str, ApiResource]) -> KubernetesApi:
        """Return the same connection, which also knows these kinds."""
        return replace(self, kinds={**self.kinds, **kinds})

    def acting_as(self, user: str) -> KubernetesApi:
        """Return the same connection, whose requests have the permissions of this user."""

        def headers() -> MutableMapping[str, str]:
            headers = self.headers()
            headers["Impersonate-User"] = user
            return headers

        return replace(self, headers=headers)

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        """Return the object, or None if there is none of that name; ApiError if the kind is unknown."""
        if not all(_SEGMENT.fullmatch(part) for part in (namespace, name) if part is not None):
            return None
        try:
            return self._request("GET", kind, namespace, name)
        except ApiError as error:
            if error.is_missing_object:
                return None
            raise

    def list_objects(
        self, kind: str, namespace: str | None, label_selector: str = "", field_selector: str = ""
    ) -> list[Manifest]:
        """Return the objects of ``kind`` that match the selectors, each with its apiVersion and kind.

        All namespaces if ``namespace`` is None.
        """
        fields = {"fieldSelector": field_selector} if field_selector else {}
        answer = self._request("GET", kind, namespace, query={"labelSelector": label_selector, **fields})
        head = {"apiVersion": self.kinds[kind].api_version, "kind": kind}
        return [{**head, **item} for item in answer.get("items") or ()]

    def list_names(self, kind: str, namespace: str | None) -> list[str]:
        """Return the names of the objects of ``kind``, including those that are nested too deeply to be read."""
        table = self._request("GET", kind, namespace, query={"includeObject": "None"}, accept=TABLE)
        column = [each["format"] for each in table["columnDefinitions"]].index("name")
        return [row["cells"][column] for row in table.get("rows") or ()]

    def pod_log(self, namespace: str, pod: str, container: str, *, previous: bool, lines: int, limit: int) -> str:
        """Return the last lines that a container has printed, and at most `limit` bytes of them, from the first one.

        `previous`: before its last restart. KubernetesError if there is no such log, or the kubelet does not respond.
        """
        query = {"container": container, "tailLines": str(lines), "limitBytes": str(limit)}
        query |= {"previous": "true"} if previous else {}
        text: str = self._request("GET", "Pod", namespace, pod, query, subresource="log", accept=TEXT)["text"]
        return text

    def apply(self, manifest: Manifest, dry_run: bool = False, manager: str = FIELD_MANAGER) -> Manifest:
        """Return the object after a forced server-side apply; ``metadata.uid``, if set, must be the live one's."""
        query = {"fieldManager": manager, "force": "true"}
        return self._write("PATCH", manifest, query, dry_run, "application/apply-patch+yaml")

    def create(self, manifest: Manifest, dry_run: bool = False, manager: str = FIELD_MANAGER) -> Manifest:
        """Return the created object; ApiError 409 if the name exists."""
        return self._write("POST", manifest, {"fieldManager": manager}, dry_run)

    def replace(self, manifest: Manifest, dry_run: bool = False) -> Manifest:
        """Return the object after a PUT; ``metadata.resourceVersion`` must be the stored one."""
        return self._write("PUT", manifest, {"fieldManager": FIELD_MANAGER}, dry_run)

    def json_patch(
        self, kind: str, namespace: str | None, name: str, operations: list[dict[str, Any]], dry_run: bool = False
    ) -> Manifest:
        """Return the object after a JSON patch (RFC 6902)."""
        query = {"fieldManager": FIELD_MANAGER, **_dry_run(dry_run)}
        return self._request("PATCH", kind, namespace, name, query, operations, "application/json-patch+json")

    def patch_status(self, kind: str, namespace: str, name: str, operations: list[dict[str, Any]]) -> Manifest:
        """Return the object after a JSON patch of its status subresource."""
        query = {"fieldManager": FIELD_MANAGER}
        return self._request(
            "PATCH", kind, namespace, name, query, operations, "application/json-patch+json", subresource="status"
        )

    def delete(
        self,
        kind: str,
        namespace: str | None,
        name: str,
        uid: str,
        propagation: str = "Background",
        dry_run: bool = False,
        resource_version: str | None = None,
    ) -> None:
        """Delete the object with that uid, and with that version if one is given; nothing if it is deleted already."""
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": uid, **({"resourceVersion": resource_version} if resource_version else {})},
            "propagationPolicy": propagation,
            **({"dryRun": ["All"]} if dry_run else {}),
        }
        try:
            # The server reads the body; the audit log has only the query.
            self._request("DELETE", kind, namespace, name, _dry_run(dry_run), body)
        except ApiError as error:
            if not error.is_missing_object:
                raise

    def evict(self, namespace: str, name: str, uid: str) -> None:
        """Delete the pod with that uid if its disruption budgets allow it; nothing if it is deleted already."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": {"preconditions": {"uid": uid}},
        }
        try:
            self._request("POST", "Pod", namespace, name, body=body, subresource="eviction")
        except ApiError as error:
            if not error.is_missing_object:
                # Only a cause has the name of the budget that does not allow it.
                texts = (error.message, *(text for _field, text in error.causes))
                status, document = error.status, {**error.document, "message": " ".join(filter(None, texts))}
                raise ApiError(error.verb, error.resource, "Eviction", namespace, name, status, document) from None

    def _write(
        self,
        method: str,
        manifest: Manifest,
        query: dict[str, str],
        dry_run: bool,
        content_type: str = "application/json",
    ) -> Manifest:
        metadata = manifest["metadata"]
        query = {**query, **_dry_run(dry_run)}
        # The name of an event is a digest: it does not help in an error message.
        name = None if manifest["kind"] == "Event" else metadata.get("name")
        return self._request(method, manifest["kind"], metadata.get("namespace"), name, query, manifest, content_type)

    def _request(
        self,
        method: str,
        kind: str,
        namespace: str | None,
        name: str | None = None,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        subresource: str = "",
        accept: str = JSON,
    ) -> Manifest:
        is_created = method == "POST" and not subresource
        path = _path(self.kinds[kind], namespace, None if is_created else name) + (
            f"/{subresource}" if subresource else ""
        )
        url = self.server + path + (f"?{urlencode(query)}" if query else "")
        call = Call(method, kind, namespace, name, accept)
        answer = self._send(call, url, None if body is None else to_json(body), content_type)
        self.warnings.extend(_warnings(answer.headers))
        try:
            is_log = accept == TEXT and answer.status < 400
            document = {"text": _text(answer.data)} if is_log else _document(answer.data)
        except RecursionError:
            # The traceback of a RecursionError is of no use.
            raise TooDeep(call.verb, kind, namespace, name) from None
        if answer.status >= 400 or document is None:
            resource = self.kinds[kind].resource + (f"/{subresource}" if subresource else "")
            refusal = _foreign(answer.data) if document is None else document
            raise ApiError(call.verb, resource, kind, namespace, name, answer.status, refusal)
        return document

    def _send(self, call: Call, url: str, body: bytes | None, content_type: str) -> Any:
        """Send, and retry a request that the server rejected with 429, since it was not processed."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            answer = self._send_once(call, url, body, content_type)
            is_busy = answer.status == TOO_MANY_REQUESTS and _OF_BUDGET not in answer.data
            if not is_busy or attempt == MAX_ATTEMPTS:
                return answer
            self.sleep(min(_retry_after(answer.headers), MAX_RETRY_AFTER_SECONDS))
        raise AssertionError("unreachable")

    def _send_once(self, call: Call, url: str, body: bytes | None, content_type: str) -> Any:
        headers = self.headers()
        headers.update({"Accept": call.accept, "User-Agent": "druidops"})
        if body is not None:
            headers["Content-Type"] = content_type
        limits = _limits(is_read=call.method == "GET") if call.accept != TEXT else _limits_of_log()
        try:
            return self.transport.request(call.method, url, body=body, headers=headers, **limits)
        except urllib3.exceptions.HTTPError as error:
            raise Unreachable(call.verb, self.kinds[call.kind].resource, call.name, self.server, error) from error


@cache
def _limits(*, is_read: bool) -> Mapping[str, Any]:
    """Return retries and timeouts. A read is retried after a connection error; a write may have taken effect."""
    retries = urllib3.Retry(
        total=3,
        connect=3,
        read=2 if is_read else 0,
        redirect=0,
        backoff_factor=0.1,
        # urllib3 would not limit the delay; _send does.
        respect_retry_after_header=False,
    )
    return {"retries": retries, "timeout": urllib3.Timeout(connect=CONNECT_TIMEOUT_SECONDS, read=READ_TIMEOUT_SECONDS)}


@cache
def _limits_of_log() -> Mapping[str, Any]:
    """Return limits without retries: a log only explains."""
    return {"retries": urllib3.Retry(total=0, redirect=0), "timeout": urllib3.Timeout(LOG_TIMEOUT_SECONDS)}


class Call(NamedTuple):
    """One request, with the parts that an error message names, and the accepted content type."""

    method: str
    kind: str
    namespace: str | None
    name: str | None
    accept: str = JSON

    @property
    def verb(self) -> str:
        """The verb as RBAC and the audit log name it."""
        if self.method == "GET":
            return "get" if self.name else "list"
        return {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[self.method]


def _path(kind: ApiResource, namespace: str | None, name: str | None) -> str:
    api_version, plural, namespaced = kind
    root = "/api/" if "/" not in api_version else "/apis/"
    parts = [plural] if not namespaced or namespace is None else ["namespaces", quote(namespace, safe=""), plural]
    if name:
        parts.append(quote(name, safe=""))
    return root + api_version + "/" + "/".join(parts)


def _dry_run(dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _document(data: bytes) -> Manifest | None:
    """Return the JSON document, or None if the response is not one; RecursionError if it is nested too deeply."""
    try:
        document = json.loads(data)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _foreign(data: bytes) -> Manifest:
    """Return a response that is not from a Kubernetes API (such as a proxy's page) as a Status with its text.

    Of a long one only its length: part of a secret would not be recognized, and masked, where the message is reported.
    """
    text = _text(data).strip()
    message = text if len(text) <= _MAX_FOREIGN else f"(a text of {len(text):,} characters)"
    return {"kind": "Status", "message": message}


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds of Retry-After; one if it is a date or invalid."""
    seconds = headers.get("Retry-After", "")
    return float(seconds) if re.fullmatch("[0-9]{1,9}", seconds) else 1.0


def _warnings(headers: Any) -> list[str]:
    """Return the texts of the Warning headers (RFC 7234: ``299 - "text"``)."""
    values = headers.getlist("Warning") if hasattr(headers, "getlist") else []
    texts = [re.match(r'\d{3} \S+ "(.*)"$', value) for value in values]
    return [text.group(1).replace('\\"', '"') for text in texts if text]


def is_namespace_terminating(api: KubernetesApi, namespace: str) -> bool:
    """Return whether the namespace is terminating, by a dry run of a create."""
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "generateName": "druidops-"}}
    try:
        api.create(probe, dry_run=True)
    except ApiError as error:
        # A quota, a missing permission, a policy: the server checks for a terminating namespace before any of them.
        if error.status not in (FORBIDDEN, UNPROCESSABLE):
            raise
        return error.is_namespace_terminating
    return False
