# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lookups of the tiers, and what the servers of each have loaded: ``/druid/coordinator/v1/lookups``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import NotFound, ServerError
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, Document
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import CLOCK
from ansible_collections.druidops.druid.plugins.module_utils._spec.lookup import (
    FACTORY,
    DesiredLookup,
    is_newer,
    next_version,
    required_version,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import UncertainState
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

_LOOKUPS = ("druid", "coordinator", "v1", "lookups")
_TIERS = path(*_LOOKUPS, "config")

# Lookups by their ids, by tier.
Tiers = Mapping[str, Mapping[str, Any]]


def all_lookups(client: DruidClient) -> Tiers:
    """Return all lookups as Druid has them, with their versions; none if Druid never had any."""
    try:
        return dict(client.get(path(*_LOOKUPS, "config", "all")))
    except NotFound:
        return {}


def loaded_versions(client: DruidClient) -> Tiers:
    """Return the versions of the loaded lookups by id, by server, by tier. A tier without servers is missing."""
    # without detailed=false it would contain all lookups, with their secrets
    tiers = client.get(path(*_LOOKUPS, "nodeStatus"), params={"discover": "true", "detailed": "false"})
    return {
        tier: {server: _versions(state.get("current") or {}) for server, state in servers.items()}
        for tier, servers in tiers.items()
    }


def _versions(lookups: Mapping[str, Any]) -> dict[str, Any]:
    # a Druid that does not know the parameter returns the lookups
    return {name: each["version"] if isinstance(each, Mapping) else each for name, each in lookups.items()}


def servers_of(tiers: Tiers, tier: str, identifier: str, version: str | None) -> list[dict[str, Any]]:
    """Return what each server of a tier has loaded of a lookup.

    A server that has another version has not loaded it, even if that version sorts after it: Druid would keep it.
    """
    loaded = tiers.get(tier, {})
    return [
        {
            "server": server,
            "version": loaded[server].get(identifier),
            "known": bool(loaded[server]),
            "loaded": identifier in loaded[server] and loaded[server][identifier] == version,
        }
        for server in sorted(loaded)
    ]


def are_loaded(servers: list[dict[str, Any]]) -> bool:
    """Return whether there are servers, and all have loaded it: nothing can use a lookup of a tier without servers."""
    return bool(servers) and all(each["loaded"] for each in servers)


class Lookup(Document):
    """
    A lookup of a tier without its version, as ``{lookupExtractorFactory}``. ``desired`` replaces it; None removes it.

    ``version``: the one that Druid has, as last read. ``tiers``: all lookups, if they were read together.
    """

    is_merged = False

    def __init__(
        self,
        client: DruidClient,
        tier: str,
        identifier: str,
        desired: DesiredLookup | None,
        tiers: Tiers | None = None,
        audit: Audit | None = None,
    ) -> None:
        super().__init__(client, f"lookup {identifier!r} of tier {tier!r}", audit)
        self._tier, self._id, self._desired, self._tiers = tier, identifier, desired, tiers
        self._path = path(*_LOOKUPS, "config", tier, identifier)
        self.version: str | None = None

    def read(self) -> dict[str, Any] | None:
        """Return the lookup, None if it does not exist."""
        if self._tiers is None:
            return self._fetch()
        return self._state_of(self._tiers.get(self._tier, {}).get(self._id))

    def compare(self, after: Any, now: Any) -> None:
        """UncertainState if they differ: Druid stores a lookup as it is sent, so it is that of another client."""
        if not are_same(after, now):
            current = f"Druid has version {self.version!r}, which another client has sent"
            raise UncertainState(f"Druid accepted the change of {self._name}. Current state: {current} since then.")
        super().compare(after, now)

    @property
    def _specified(self) -> Any:
        return None if self._desired is None else {FACTORY: self._desired.factory}

    def _fetch(self) -> dict[str, Any] | None:
        try:
            return self._state_of(self._client.get(self._path))
        except NotFound:
            return self._state_of(None)

    def _state_of(self, found: Mapping[str, Any] | None) -> dict[str, Any] | None:
        self.version = None if found is None else found.get("version")
        return None if found is None else {FACTORY: found[FACTORY]}

    def _unknown(self, before: Any) -> Iterable[Path]:
        return ((name,) for name in self._desired.unknown) if self._desired else ()

    def _merged(self, before: Any) -> Any:
        if self._desired and self._desired.version and before is not None and not are_same(before, self._specified):
            required_version(self._desired.version, self.version)
        return self._specified

    def _is_desired(self, now: Any, after: Any) -> bool:
        return are_same(now, after)

    def _send(self, before: Any, after: Any) -> None:
        if self._desired is None:
            self._delete()
            return
        specified, newest = self._desired.version, self._newest(before)
        version = required_version(specified, newest) if specified else next_version(newest, CLOCK.now())
        try:
            self._post({"version": version, **after})
        except ServerError as error:
            if "Not initialized" not in error.message:
                raise
            self._initialize()
            self._post({"version": version, **after})

    def _post(self, lookup: Mapping[str, Any]) -> None:
        self._client.post(self._path, lookup, idempotent=True, audit=self._audit)

    def _delete(self) -> None:
        try:
            self._client.delete(self._path, audit=self._audit)
        except NotFound:
            # it was deleted concurrently
            return

    def _initialize(self) -> None:
        """Let a Druid that never had any lookup accept some. Has no effect on one that has.

        A Coordinator that has not read its lookups yet would lose them, so it is asked again, and only after it has
        rejected one. Within a minute after the very first lookup, another Coordinator that becomes the leader may still
        not know of it.
        """
        try:
            self._client.get(_TIERS)
        except NotFound:
            self._client.post(_TIERS, {}, idempotent=True, audit=self._audit)
            self._warn("Druid had no lookups, and was initialized for the first one.")

    def _newest(self, before: Any) -> str | None:
        """Return the version to replace; of a new lookup, that of a removed one which a server may not have dropped."""
        if before is not None:
            return self.version
        servers = loaded_versions(self._client).get(self._tier, {}).values()
        newest: str | None = None
        for version in (loaded[self._id] for loaded in servers if loaded.get(self._id)):
            newest = version if newest is None or is_newer(version, newest) else newest
        return newest
