# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server offers: which resource is which kind."""

from __future__ import annotations

import threading

from ..api import ApiError
from .client import Client
from .kinds import Kind, Resource


class NoSuchResourceError(LookupError):
    """The API server does not offer it (yet)."""


class Resources:
    """Discovery, one group and version at a time, remembered where it has found what was asked for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], list[Resource]] = {}

    def of_kind(self, kind: Kind) -> Resource:
        """The resource that a kind is served as."""
        for refresh in (False, True):
            for resource in self._offered(kind.group, kind.version, refresh):
                if resource.kind == kind:
                    return resource
        raise NoSuchResourceError(f"the API server does not offer {kind}")

    def of_plural(self, group: str, version: str, plural: str) -> Resource:
        """The resource with that name in paths."""
        for refresh in (False, True):
            for resource in self._offered(group, version, refresh):
                if resource.plural == plural:
                    return resource
        raise NoSuchResourceError(f"the API server does not offer {plural} of {group}/{version}")

    def _offered(self, group: str, version: str, refresh: bool) -> list[Resource]:
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
        return [
            Resource(
                Kind(group, version, each["kind"]), each["name"], each["namespaced"], frozenset(each.get("verbs", []))
            )
            for each in answer["resources"]
            # the others are subresources
            if "/" not in each["name"]
        ]
