# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The informers: one for each resource (and watched namespace) that has been read or is watched."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from .client import Client, Json
from .informer import Handler, Informer
from .kinds import Key, Resource

_TIMEOUT_SECONDS = 6.0


class NotSyncedError(RuntimeError):
    """The objects could not be listed in time."""


class Cache:
    """The objects of the watched namespaces (none: of all)."""

    def __init__(self, client: Client, namespaces: Sequence[str]) -> None:
        self._client = client
        self._namespaces = tuple(namespaces)
        self._lock = threading.Lock()
        self._informers: dict[tuple[Resource, str], Informer] = {}

    def covers(self, namespace: str) -> bool:
        """Whether a request for the namespace (empty: for the cluster) can be answered from the cache."""
        return not self._namespaces or namespace in self._namespaces

    def get(self, resource: Resource, key: Key) -> Json | None:
        """An object; None where none is known; NotSyncedError."""
        found = (informer.get(key) for informer in self._synced(resource, key.namespace))
        return next(filter(None, found), None)

    def all(self, resource: Resource, namespace: str) -> list[Json]:
        """The objects of a namespace (empty: of all); NotSyncedError."""
        found = [each for informer in self._synced(resource, namespace) for each in informer.all()]
        return [each for each in found if namespace in ("", each["metadata"].get("namespace"))]

    def add_handler(self, resource: Resource, handler: Handler) -> None:
        """Call the handler for the changes of all objects of the resource."""
        for informer in self._of(resource):
            informer.add_handler(handler)

    def _synced(self, resource: Resource, namespace: str) -> list[Informer]:
        end = time.monotonic() + _TIMEOUT_SECONDS
        chosen = [self._informer(resource, namespace)] if namespace in self._namespaces else self._of(resource)
        if not all(informer.synced.wait(max(0.0, end - time.monotonic())) for informer in chosen):
            raise NotSyncedError(f"{resource.plural} could not be listed within {_TIMEOUT_SECONDS:.0f} s")
        return chosen

    def _of(self, resource: Resource) -> list[Informer]:
        namespaces = self._namespaces if resource.namespaced and self._namespaces else ("",)
        return [self._informer(resource, namespace) for namespace in namespaces]

    def _informer(self, resource: Resource, namespace: str) -> Informer:
        with self._lock:
            if (resource, namespace) not in self._informers:
                self._informers[resource, namespace] = Informer(self._client, resource, namespace)
            return self._informers[resource, namespace]
