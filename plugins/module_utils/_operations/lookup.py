# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The logic of the modules lookup and lookup_info: lookups of tiers, and the servers that have loaded them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    InvalidResponse,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._operations.converge import converge_one_of_many
from ansible_collections.druidops.druid.plugins.module_utils._operations.documents import document_of
from ansible_collections.druidops.druid.plugins.module_utils._operations.module_result import ModuleResult
from ansible_collections.druidops.druid.plugins.module_utils._operations.one_or_many import Item, items_of
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Audit, audit
from ansible_collections.druidops.druid.plugins.module_utils._resources.lookup import (
    Lookup,
    Tiers,
    all_lookups,
    are_loaded,
    loaded_versions,
    servers_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._secrets.spec_masking import masked
from ansible_collections.druidops.druid.plugins.module_utils._spec.lookup import (
    FACTORY,
    DesiredLookup,
    desired_lookup,
    not_loaded,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    NOT_SET,
    DruidError,
    InvalidInput,
    sentences,
)


def ensure_lookup(client: DruidClient, params: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the module's result. A failure does not stop the others; PartialFailure is raised at the end."""
    author = audit(params["author"], params["comment"])
    tiers = None if params["lookups"] is None else _preloaded(client)
    report = ModuleResult("lookups", "lookup", "spec", items_of(params, "lookups"))
    loads: list[_Load] = []
    for item in report.items:
        with report.part_of(item):
            load = _ensure_one(client, item, tiers, author, report, check_mode)
            if load is not None and params["wait"] and not check_mode:
                loads.append(load)
    if loads:
        _wait(client, loads, report, params["wait_timeout"])
    return report.result()


def _preloaded(client: DruidClient) -> Tiers | None:
    """Return all lookups, None if they are too many for one response: then each is read on its own."""
    try:
        return all_lookups(client)
    except InvalidResponse:
        return None
    except Unreachable as error:
        if error.sent:
            return None
        raise


@dataclass(frozen=True)
class _Load:
    """A lookup that the servers of its tier are to load, in the version that Druid has."""

    item: Item
    tier: str
    id: str
    version: str | None
    type: str

    def servers(self, tiers: Tiers) -> list[dict[str, Any]]:
        """Return the servers of the tier, and what each has loaded."""
        return servers_of(tiers, self.tier, self.id, self.version)


def _ensure_one(
    client: DruidClient, item: Item, tiers: Tiers | None, author: Audit, report: ModuleResult, check_mode: bool
) -> _Load | None:
    """Converge a lookup. Return what the servers are to load, None if it should not exist."""
    tier, identifier = item.options["tier"], item.options.get("id")
    item.result["tier"] = tier
    if not identifier:
        raise InvalidInput("id", NOT_SET, "set the id of the lookup")
    report.identify(item, identifier, tier)
    desired = _desired(item)
    lookup, change = converge_one_of_many(
        lambda preloaded: Lookup(client, tier, identifier, desired, preloaded, author),
        tiers,
        check_mode=check_mode,
        is_strict=item.is_strict,
    )
    item.result["version"] = lookup.version
    report.record(item, change, lookup.warnings)
    return None if desired is None else _Load(item, tier, identifier, lookup.version, desired.factory["type"])


def _desired(item: Item) -> DesiredLookup | None:
    """Return what should exist, None if nothing."""
    spec = document_of(item.options, "spec")
    if not item.is_present:
        return None
    if spec is None:
        raise InvalidInput("spec", NOT_SET, "set the lookup, or state: absent to remove it")
    return desired_lookup(spec, has_custom_type=item.options["custom_type"])


# Waiting.


def _wait(client: DruidClient, loads: list[_Load], report: ModuleResult, timeout: float) -> None:
    """Wait until the servers of the tiers have loaded the lookups, with one request for all of them.

    A server that comes later, such as a new task, loads lookups when it starts. The Coordinator sees that minutes
    later, so with enough tasks there would always be one that seems to have loaded nothing.
    """
    found = _Found()

    def read() -> _Found:
        try:
            now, found.error = loaded_versions(client), ""
            found.first = found.first or now
            found.tiers = _still_there(found.first, now)
        except (ServerError, Unreachable) as error:
            # it may be restarting
            found.error = str(error)
        return found

    def is_met(_found: _Found) -> bool:
        return not found.error and all(are_loaded(load.servers(found.tiers)) for load in loads)

    problem = ""
    try:
        wait_until(read, is_met, timeout=timeout, waiting_for="all servers of its tier to load the lookup")
    except WaitTimeout as timed_out:
        problem = str(timed_out)
    except DruidError as error:
        problem, found.error = "It is not known which servers have loaded the lookup", str(error)
    for load in loads:
        with report.part_of(load.item):
            servers = load.item.result["servers"] = load.servers(found.tiers)
            if problem and (found.error or not are_loaded(servers)):
                raise DruidError(sentences(problem, found.error or _why_not(client, load, servers)))


@dataclass
class _Found:
    """What was first and last read of the servers, and the error if it could not be read again."""

    first: Tiers = field(default_factory=dict)
    tiers: Tiers = field(default_factory=dict)
    error: str = ""


def _still_there(first: Tiers, now: Tiers) -> Tiers:
    """Return the servers that were there at first; all of a tier if none of them is left, as after a rollout."""
    return {
        tier: {server: loaded for server, loaded in servers.items() if server in first.get(tier, {})} or servers
        for tier, servers in now.items()
    }


def _why_not(client: DruidClient, load: _Load, servers: list[dict[str, Any]]) -> str:
    current = Lookup(client, load.tier, load.id, None)
    if current.read() is None:
        return "Another client has removed the lookup during the wait"
    if current.version != load.version:
        return f"Another client has replaced the lookup during the wait, by version {current.version!r}"
    return not_loaded(load.type, load.tier, load.version, servers)


# Reading.


def lookup_info(client: DruidClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the selected lookups, sorted by tier and id, with secrets masked."""
    lookups = _lookups(client, params["tier"], params["id"])
    selected = [
        (tier, identifier)
        for tier in sorted(lookups)
        for identifier in sorted(lookups[tier])
        if params["tier"] in (None, tier) and params["id"] in (None, identifier)
    ]
    loaded = loaded_versions(client) if params["status"] and selected else None
    return [_entry(tier, identifier, lookups[tier][identifier], loaded) for tier, identifier in selected]


def _lookups(client: DruidClient, tier: str | None, identifier: str | None) -> Tiers:
    """Return all lookups; one alone if it is the only one to select, since all may be too many for one response."""
    if not (tier and identifier):
        return all_lookups(client)
    lookup = Lookup(client, tier, identifier, None)
    found = lookup.read()
    return {} if found is None else {tier: {identifier: {"version": lookup.version, **found}}}


def _entry(tier: str, identifier: str, lookup: Mapping[str, Any], loaded: Tiers | None) -> dict[str, Any]:
    version = lookup.get("version")
    servers = servers_of(loaded or {}, tier, identifier, version)
    return {
        "id": identifier,
        "tier": tier,
        "version": version,
        "spec": masked({FACTORY: lookup[FACTORY]}),
        **({} if loaded is None else {"loaded": are_loaded(servers), "servers": servers}),
    }
