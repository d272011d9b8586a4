# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator's cache read: it detects that there is nothing to do, or only what cannot go wrong on a stale read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    SERVER_ERROR,
    ApiError,
    KubernetesError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

_Result = TypeVar("_Result")

# A Secret that is read through the cache makes it watch all Secrets of the watched namespaces. Of StorageClasses, the
# operator may only read single ones.
READ_DIRECTLY = ("Secret", "StorageClass")
# A cache of all events would be large.
LISTED_DIRECTLY = ("Event",)
# Read only if there is something to do.
NOT_LISTED = ("ReplicaSet", "ResourceQuota")


class CacheMiss(Exception):
    """There is something to do: decide on a read from the API server, since the cache may be stale."""


class CachedApi(KubernetesApi):
    """Reads from ``cache`` (ansible-operator's proxy) and Secrets from ``direct``; CacheMiss instead of most writes.

    Where there is nothing to do, nothing is read from ``direct``, and ``connect`` is not called.

    Until the resource is confirmed, only its status can be written, to the version that was read. ansible-operator
    watches a kind after a GET by name, so one object of each kind is read by name. ``error`` is set if the cache did
    not respond: then nothing is watched either.
    """

    def __init__(self, cache: KubernetesApi, connect: Callable[[], KubernetesApi]) -> None:
        super().__init__(cache.server, cache.transport, cache.headers, cache.sleep)
        self._connect = connect
        self.error: KubernetesError | None = None
        self.is_confirmed = False
        self._versions: dict[tuple[str, str | None, str], str] = {}

    @cached_property
    def direct(self) -> KubernetesApi:
        """The connection to the API server."""
        direct = self._connect()
        direct.warnings.extend(self.warnings)
        self.warnings = direct.warnings
        return direct

    @property
    def api_server(self) -> str:
        """The URL of the API server, not of the cache."""
        return self.direct.server

    def confirm(self, resource: Manifest) -> None:
        """Permit writes, on ``direct``, if the API server has the same version of the resource; otherwise CacheMiss."""
        metadata = resource["metadata"]
        live = self.direct.get(resource["kind"], metadata["namespace"], metadata["name"])
        if live is None or live["metadata"]["resourceVersion"] != metadata["resourceVersion"]:
            raise CacheMiss
        self.is_confirmed = True

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        """Return the object, or None if there is none of that name."""
        if kind in READ_DIRECTLY:
            return self.direct.get(kind, namespace, name)
        found = super().get(kind, namespace, name)
        if found is not None:
            self._versions[kind, namespace, name] = found["metadata"].get("resourceVersion", "")
        return found

    def patch_status(self, kind: str, namespace: str, name: str, operations: list[dict[str, Any]]) -> Manifest:
        """Return the object after a JSON patch of its status; CacheMiss if it is not the version that was read."""
        if self.is_confirmed:
            return self.direct.patch_status(kind, namespace, name, operations)
        version = self._versions.get((kind, namespace, name))
        if not version:
            raise CacheMiss
        is_same = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
        try:
            patched = self.direct.patch_status(kind, namespace, name, [is_same, *operations])
        except KubernetesError:
            raise CacheMiss from None
        # the events about it
        self.is_confirmed = True
        return patched

    def list_objects(
        self, kind: str, namespace: str | None, label_selector: str = "", field_selector: str = ""
    ) -> list[Manifest]:
        """Return the objects of ``kind`` that match the selectors, and make the cache watch the kind."""
        if kind in LISTED_DIRECTLY:
            return self.direct.list_objects(kind, namespace, label_selector, field_selector)
        if kind in NOT_LISTED:
            require_live_api(self)
            return self.direct.list_objects(kind, namespace, label_selector)
        listed = super().list_objects(kind, namespace, label_selector)
        if listed:
            self.get(kind, namespace, listed[0]["metadata"]["name"])
        return listed

    def list_names(self, kind: str, namespace: str | None) -> list[str]:
        """CacheMiss: the cache does not support tables."""
        raise CacheMiss

    def _request(self, method: str, *args: Any, **kwargs: Any) -> Manifest:
        if method != "GET":
            require_live_api(self)
            return self.direct._request(method, *args, **kwargs)
        try:
            return super()._request(method, *args, **kwargs)
        except KubernetesError as error:
            if isinstance(error, Unreachable) or (isinstance(error, ApiError) and error.status >= SERVER_ERROR):
                self.error = error
            raise


def try_cache_first(
    cache: KubernetesApi,
    connect: Callable[[], KubernetesApi],
    attempt: Callable[[KubernetesApi], _Result],
    on_error: Callable[[KubernetesError], None],
) -> _Result:
    """Return the outcome of the attempt: on the cache if it responds and there is nothing to do, else on the server.

    ``connect`` connects to the server; KubernetesError if that fails. ``on_error`` is called with the error of a cache
    that did not respond.
    """
    cached = CachedApi(cache, connect)
    with suppress(CacheMiss, KubernetesError):
        return attempt(cached)
    if cached.error is not None:
        on_error(cached.error)
    # Outside of the exception handler, so that the CacheMiss does not become the cause of later errors.
    return attempt(cached.direct)


def require_live_api(api: KubernetesApi) -> None:
    """CacheMiss on a cache read, unless the resource has been confirmed."""
    if isinstance(api, CachedApi) and not api.is_confirmed:
        raise CacheMiss
