# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind DruidRole: a role of an authorizer of basic security, with its permissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.lock_out import Protected
from ansible_collections.druidops.druid.plugins.module_utils._resources.security import Role
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import Store
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import canonical_permissions
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.decide import Identity
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kind import ObjectKind
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings


class DruidRole(ObjectKind):
    """The kind DruidRole. A role is identified by its authorizer (empty: the only one of this Druid), and its name."""

    name = "DruidRole"
    plural = "roles"

    def identities(self, item: DruidObject) -> tuple[Identity, ...]:
        return ((item.text("authorizer"), self.id_of(item)),)

    def title(self, identity: Identity) -> str:
        return f"role {identity[-1]}"

    def desired(self, item: DruidObject, found: Surroundings[DruidObject]) -> Mapping[str, Any]:
        permissions = canonical_permissions(item.spec["permissions"])
        if not permissions:
            raise InvalidInput("permissions", [], "set at least one permission, or delete the resource")
        return {"permissions": permissions}

    def in_druid(self, client: DruidClient, identities: Iterable[Identity], desired: Any) -> Role:
        [(authorizer, name)] = identities
        store = Store(client, "authorizer", authorizer or None)
        return Role(client, name, desired, store, Protected(client.username))


ROLE = DruidRole()
