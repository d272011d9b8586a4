# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind DruidLookup: a lookup of a tier. It is Ready once the servers of the tier have loaded it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.lookup import (
    Lookup,
    are_loaded,
    loaded_versions,
    servers_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.lookup import (
    FACTORY,
    DesiredLookup,
    desired_lookup,
    not_loaded,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.decide import Identity
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kind import ObjectKind
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject, plain_secrets
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings

_DEFAULT_TIER = "__default"


class DruidLookup(ObjectKind):
    """The kind DruidLookup."""

    name = "DruidLookup"
    plural = "lookups"

    def identities(self, item: DruidObject) -> tuple[Identity, ...]:
        return ((item.text("tier") or _DEFAULT_TIER, self.id_of(item)),)

    def title(self, identity: Identity) -> str:
        tier, identifier = identity
        return f"lookup {identifier} of tier {tier}"

    def desired(self, item: DruidObject, found: Surroundings[DruidObject]) -> DesiredLookup:
        return desired_lookup({FACTORY: item.spec.get(FACTORY)}, has_custom_type=bool(item.spec.get("customType")))

    def in_druid(self, client: DruidClient, identities: Iterable[Identity], desired: Any) -> Lookup:
        [(tier, identifier)] = identities
        return Lookup(client, tier, identifier, desired)

    def warnings(self, item: DruidObject) -> Iterator[str]:
        """Yield a warning about secrets in the spec."""
        if secrets := plain_secrets(item.spec.get(FACTORY) or {}):
            yield (
                f"spec.{FACTORY} has secrets in plain text ({', '.join(secrets)}). All users who can read the "
                "resource, or the lookup in Druid, can read them. Let Druid read them from its environment (a "
                "password provider of type environment)."
            )

    def state(
        self, client: DruidClient, item: DruidObject, resource: Lookup, change: DruidChange
    ) -> tuple[Mapping[str, Any], str]:
        """
        Return tier and version.

        Servers are asked until all have loaded it: each that starts later loads it, too. After a change of the spec
        they are asked again, since another tier or Druid may have a lookup with the same version.
        """
        [(tier, identifier)] = self.identities(item)
        version = resource.version
        fields = {"tier": tier, **({"version": version} if version else {})}
        if change.changed or not version:
            return fields, ""
        known = item.status.get("loadedVersion"), item.status.get("observedGeneration")
        if known != (version, item.generation):
            servers = servers_of(loaded_versions(client), tier, identifier, version)
            if not are_loaded(servers):
                return fields, f"{not_loaded(change.desired.factory['type'], tier, version, servers)}."
        return {**fields, "loadedVersion": version}, ""


LOOKUP = DruidLookup()
