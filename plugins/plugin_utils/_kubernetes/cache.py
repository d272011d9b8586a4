# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-operator's cache: reads through its proxy, whether they are up to date, and the connection.

A cache may have stopped, so that what it has is compared with what the API server has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from http.client import HTTPConnection, HTTPException, HTTPMessage
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import without_credentials
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    SERVER_ERROR,
    ApiError,
    KubernetesError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

# connection.connect reports a missing library, and nothing is sent without it.
with suppress(ImportError):
    import urllib3

# A Secret that is read through the cache makes it watch all Secrets of the watched namespaces. Of StorageClasses and
# EndpointSlices, the operator may only read single ones.
READ_DIRECTLY = ("Secret", "StorageClass", "EndpointSlice")
# A cache of all events would be large.
LISTED_DIRECTLY = ("Event",)
# Read only if there is something to do.
NOT_LISTED = ("ReplicaSet", "ResourceQuota")


class SomethingToDo(Exception):
    """A reconcile that reads the cache would write: the one that reads the API server decides."""


class Query(NamedTuple):
    """A read: of the object with this name, or a LIST with this label selector."""

    kind: str
    namespace: str | None
    name: str = ""
    label_selector: str = ""


Versions = Mapping[str, str]


@dataclass
class RecordingApi(KubernetesApi):
    """A connection that records what each query has read first: the resourceVersion of each object, by name."""

    readings: dict[Query, Versions] = field(default_factory=dict, kw_only=True)

    @classmethod
    def of(cls, api: KubernetesApi, **fields: Any) -> Self:
        """Return the same connection as one of this class."""
        return cls(api.server, api.transport, api.headers, api.sleep, kinds=api.kinds, **fields)

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        """Return the object, or None if there is none of that name."""
        live = super().get(kind, namespace, name)
        self.readings.setdefault(Query(kind, namespace, name), _versions(() if live is None else (live,)))
        return live

    def list_objects(
        self, kind: str, namespace: str | None, label_selector: str = "", field_selector: str = ""
    ) -> list[Manifest]:
        """Return the objects of ``kind`` that match the selectors."""
        listed = super().list_objects(kind, namespace, label_selector, field_selector)
        if not field_selector:
            self.readings.setdefault(Query(kind, namespace, label_selector=label_selector), _versions(listed))
        return listed

    def versions_now(self, query: Query) -> Versions:
        """Return what the query reads now."""
        if not query.name:
            return _versions(KubernetesApi.list_objects(self, query.kind, query.namespace, query.label_selector))
        live = KubernetesApi.get(self, query.kind, query.namespace, query.name)
        return _versions(() if live is None else (live,))


def _versions(objects: Iterable[Manifest]) -> Versions:
    return {live["metadata"]["name"]: live["metadata"].get("resourceVersion", "") for live in objects}


@dataclass
class CachedApi(RecordingApi):
    """Reads from ansible-operator's proxy, and Secrets by ``connect`` from the API server; SomethingToDo for a write.

    ansible-operator watches a kind for ``owner``, the kind of the reconciled resource, after a GET by name of an object
    that one of these owns, so one of each kind is read by name. ``error`` is set if the cache did not respond: then
    nothing is watched either.
    """

    connect: Callable[[], KubernetesApi] = field(kw_only=True)
    owner: str = field(kw_only=True)
    error: KubernetesError | None = None

    @cached_property
    def direct(self) -> KubernetesApi:
        """The connection to the API server, which a reconcile with nothing to do seldom needs."""
        return self.connect()

    @property
    def api_server(self) -> str:
        """The URL of the API server, not of the cache."""
        return self.direct.server

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        """Return the object, or None if there is none of that name."""
        if kind in READ_DIRECTLY:
            return self.direct.get(kind, namespace, name)
        return super().get(kind, namespace, name)

    def list_objects(
        self, kind: str, namespace: str | None, label_selector: str = "", field_selector: str = ""
    ) -> list[Manifest]:
        """Return the objects of ``kind`` that match the selectors, and make the cache watch the kind."""
        if kind in LISTED_DIRECTLY:
            return self.direct.list_objects(kind, namespace, label_selector, field_selector)
        if kind in NOT_LISTED:
            raise SomethingToDo
        listed = super().list_objects(kind, namespace, label_selector)
        owned = next(filter(self._is_owned, listed), None)
        if owned:
            self.get(kind, namespace, owned["metadata"]["name"])
        return listed

    def pod_log(self, *args: Any, **kwargs: Any) -> str:
        """Return the end of a log, which is in no cache."""
        return self.direct.pod_log(*args, **kwargs)

    def list_names(self, kind: str, namespace: str | None) -> list[str]:
        """SomethingToDo: the cache does not support tables."""
        raise SomethingToDo

    def _is_owned(self, live: Manifest) -> bool:
        """True if a resource of the kind owns the object: not a pod, for example."""
        kind = (KINDS[self.owner].api_version, self.owner)
        return any(
            (owner["apiVersion"], owner["kind"]) == kind for owner in live["metadata"].get("ownerReferences") or ()
        )

    def _request(self, method: str, *args: Any, **kwargs: Any) -> Manifest:
        if method != "GET":
            raise SomethingToDo
        try:
            return super()._request(method, *args, **kwargs)
        except KubernetesError as error:
            if isinstance(error, Unreachable) or (isinstance(error, ApiError) and error.status >= SERVER_ERROR):
                self.error = error
            raise


# A cache is some milliseconds late, on a busy machine more. One that has not changed in this time does not refresh.
_PAUSES_SECONDS = (0.0, 0.1, 0.4, 1.0, 1.5)
GRACE_SECONDS = 3


class StaleCache(KubernetesError):
    """The cache still has versions of objects that the API server has replaced."""

    def __init__(self, objects: Iterable[tuple[Query, str]]) -> None:
        names = join_limited(sorted({f"{query.kind} {query.namespace}/{name}" for query, name in objects}))
        super().__init__(
            f"ansible-operator's cache is not refreshed: after {GRACE_SECONDS} s, it lacks what the API server has "
            f"of {names}. The operator needs the verbs list and watch on these kinds in all watched namespaces (RBAC). "
            "Then delete its pod."
        )


def stale_objects(cached: CachedApi, server: RecordingApi) -> list[tuple[Query, str]]:
    """Return the objects that the server had already replaced, and that the cache still has after the grace.

    Both were read before; where they do not differ, nothing is read again. KubernetesError if that fails.
    """
    stale = [(query, name) for query in cached.readings for name in _differing(query, cached.readings, server.readings)]
    for pause in _PAUSES_SECONDS:
        if not stale:
            return []
        cached.sleep(pause)
        now = {query: cached.versions_now(query) for query, _name in stale}
        stale = [(query, name) for query, name in stale if now[query].get(name) == cached.readings[query].get(name)]
    # The object may be as it was in the cache: deleted by this reconcile, for example.
    latest = {query: server.versions_now(query) for query, _name in stale}
    return [(query, name) for query, name in stale if latest[query].get(name) != cached.readings[query].get(name)]


def _differing(query: Query, *both: Mapping[Query, Versions]) -> Iterable[str]:
    """Return the names of the objects of which the readings have different versions, if both have this query."""
    one, other = (readings.get(query) for readings in both)
    if one is None or other is None:
        return ()
    return (name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


# PyYAML without libyaml has no other loader.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def connect_cache(kubeconfig: str) -> KubernetesApi:
    """Return the connection to the server in the kubeconfig that ansible-operator writes; KubernetesError names it."""
    try:
        document = yaml.load(Path(kubeconfig).read_text(encoding="utf-8"), Loader=_LOADER)
        server = document["clusters"][0]["cluster"]["server"]
        address, user = without_credentials(server)
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError) as error:
        raise KubernetesError(f"Cannot connect to ansible-operator's cache: {kubeconfig}: {error!r}.") from error
    return KubernetesApi(address, PlainHttp(address), partial(dict, user))


class Response(NamedTuple):
    """A response with its whole body."""

    status: int
    headers: HTTPMessage
    data: bytes


@dataclass
class PlainHttp:
    """Sends requests over one connection, without TLS: the proxy is on the same host.

    A run sends some 20. With urllib3 and the kubeconfig's loader, half of its processor time was spent on them.
    """

    server: str
    _connection: HTTPConnection | None = field(default=None, init=False)

    def request(self, method: str, url: str, **arguments: Any) -> Response:
        """Send; urllib3's HTTPError if there is no response. A connection that has become unusable is replaced once."""
        was_used = self._connection is not None
        try:
            return self._send(method, url, **arguments)
        except (OSError, HTTPException) as error:
            self.close()
            if not was_used:
                raise urllib3.exceptions.MaxRetryError(None, url, error) from error  # type: ignore[arg-type]
        return self.request(method, url, **arguments)

    def _send(
        self, method: str, url: str, headers: Any, timeout: urllib3.Timeout, body: bytes | None = None, **_: Any
    ) -> Response:
        limit: Any = timeout.clone()
        limit.start_connect()
        connection = self._connection
        # after a response with "Connection: close", it has no socket
        if connection is None or connection.sock is None:
            address = urlsplit(self.server)
            connection = HTTPConnection(address.hostname or "", address.port, timeout=limit.connect_timeout)
            connection.connect()
            self._connection = connection
        connection.sock.settimeout(limit.read_timeout)
        connection.request(method, url.removeprefix(self.server), body, headers)
        answer = connection.getresponse()
        return Response(answer.status, answer.headers, answer.read())

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
