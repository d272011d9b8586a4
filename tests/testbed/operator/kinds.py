# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds, and the resources of the API that they are served as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What Go calls a GroupVersionKind."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """As it stands in objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


@dataclass(frozen=True)
class Resource:
    """A kind as the API server offers it."""

    kind: Kind
    plural: str
    namespaced: bool
    verbs: frozenset[str]

    @property
    def cacheable(self) -> bool:
        """Whether it can be listed and watched; those that cannot are only computed."""
        return self.verbs >= {"get", "list", "watch"}

    def path(self, namespace: str = "", name: str = "") -> str:
        """Of an object, or of all objects of the namespace or of the cluster."""
        root = f"/apis/{self.kind.api_version}" if self.kind.group else f"/api/{self.kind.api_version}"
        within = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{within}/{self.plural}" + (f"/{name}" if name else "")


@dataclass(frozen=True)
class Key:
    """What the work queue holds: a resource of the kind that a controller is for."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def kind_of(document: Mapping[str, Any]) -> Kind:
    """The kind that an object, or a reference to one, names."""
    group, _slash, version = str(document.get("apiVersion", "")).rpartition("/")
    return Kind(group, version, str(document.get("kind", "")))


def key_of(document: Mapping[str, Any]) -> Key:
    """The key of an object."""
    metadata = document["metadata"]
    return Key(metadata.get("namespace", ""), metadata["name"])
