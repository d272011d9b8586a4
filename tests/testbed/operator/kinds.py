# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds and objects of Kubernetes, and which resource of the API server a kind is served as."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..api import ApiError
from .client import Client, Json


@dataclass(frozen=True)
class Kind:
    """A GroupVersionKind."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """The apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


@dataclass(frozen=True)
class Resource:
    """A kind as the API server serves it."""

    kind: Kind
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def cacheable(self) -> bool:
        """Whether it can be listed and watched."""
        return self.verbs >= {"get", "list", "watch"}

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of an object, or of all objects of the namespace or of the cluster."""
        root = f"/apis/{self.kind.api_version}" if self.kind.group else f"/api/{self.kind.api_version}"
        within = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{within}/{self.plural}" + (f"/{name}" if name else "")


@dataclass(frozen=True)
class Key:
    """Namespace and name of an object, which is what a work queue holds."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def kind_of(document: Mapping[str, Any]) -> Kind:
    """The kind of an object, or of the one that an owner reference names."""
    group, _slash, version = str(document.get("apiVersion", "")).rpartition("/")
    return Kind(group, version, str(document.get("kind", "")))


def key_of(document: Mapping[str, Any]) -> Key:
    """The key of an object."""
    metadata = document["metadata"]
    return Key(metadata.get("namespace", ""), metadata["name"])


class NoSuchResourceError(LookupError):
    """The API server does not serve it (yet)."""


class Discovery:
    """The resources that the API server serves; read again for a missing one."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], list[Resource]] = {}

    def of_kind(self, kind: Kind) -> Resource:
        """The resource that a kind is served as; NoSuchResourceError."""
        return self._find(kind.group, kind.version, lambda each: each.kind == kind)

    def of_plural(self, group: str, version: str, plural: str) -> Resource:
        """The resource with that name in paths; NoSuchResourceError."""
        return self._find(group, version, lambda each: each.plural == plural)

    def _find(self, group: str, version: str, is_it: Callable[[Resource], bool]) -> Resource:
        for refresh in (False, True):
            for resource in filter(is_it, self._served(group, version, refresh)):
                return resource
        raise NoSuchResourceError(f"no such resource in {group}/{version}")

    def _served(self, group: str, version: str, refresh: bool) -> list[Resource]:
        with self._lock:
            if refresh or (group, version) not in self._known:
                self._known[group, version] = self._discover(group, version)
            return self._known[group, version]

    def _discover(self, group: str, version: str) -> list[Resource]:
        try:
            answer = self._client.request("GET", f"/apis/{group}/{version}" if group else f"/api/{version}")
        except ApiError as error:
            if error.status == 404:
                return []
            raise
        return [_resource(group, version, each) for each in answer["resources"] if "/" not in each["name"]]


def _resource(group: str, version: str, served: Json) -> Resource:
    kind = Kind(group, version, served["kind"])
    return Resource(kind, served["name"], served["namespaced"], frozenset(served.get("verbs", ())))
