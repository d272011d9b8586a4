# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind DruidUser: a user of basic security, with the password of a Secret, and roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.lock_out import Protected
from ansible_collections.druidops.druid.plugins.module_utils._resources.security import User
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import Store
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import check_password, check_user_name
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import secret_value
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import SecretKey
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.decide import Identity
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kind import ObjectKind
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import DruidObject
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import mapping

_SECRET = "passwordSecret"


class DruidUser(ObjectKind):
    """The kind DruidUser. A user has a record in an authenticator (password), and one in an authorizer (roles).

    Each is identified by what it is in, the name of that (empty: the only one of this Druid), and the name of the user.
    """

    name = "DruidUser"
    plural = "users"

    def identities(self, item: DruidObject) -> tuple[Identity, ...]:
        specified = {"authenticator": self._secret(item), "authorizer": item.spec.get("roles")}
        return tuple(
            (store, item.text(store), self.id_of(item)) for store, value in specified.items() if value not in (None, {})
        )

    def title(self, identity: Identity) -> str:
        store, _name, user = identity
        return f"user {user} of the {store}"

    def what(self, item: DruidObject) -> str:
        return f"user {self.id_of(item)}"

    def secrets(self, item: DruidObject) -> tuple[SecretKey, ...]:
        """Return the Secret with the password, which is in the namespace of the resource."""
        name = self._secret(item).get("name")
        return (SecretKey(item.namespace, name, f"spec.{_SECRET}"),) if name else ()

    def desired(self, item: DruidObject, found: Surroundings[DruidObject]) -> Mapping[str, Any]:
        if not self.identities(item):
            raise InvalidInput(_SECRET, HIDDEN, "set passwordSecret, roles, or both")
        password = None
        for key in self.secrets(item):
            name = self._secret(item)["key"]
            password = secret_value(key, found.secrets.get(key), name)
            check_user_name(self.id_of(item))
            check_password(f"{_SECRET} (Secret {key.name}, key {name})", password)
        return {"password": password, "keeps_password": False, "roles": item.spec.get("roles")}

    def in_druid(self, client: DruidClient, identities: Iterable[Identity], desired: Any) -> User:
        known = [*identities]
        stores = {store: Store(client, store, name or None) for store, name, _user in known}
        protected = Protected(client.username)
        return User(client, known[0][-1], desired, stores.get("authenticator"), stores.get("authorizer"), protected)

    def judge(self, client: DruidClient, item: DruidObject, change: DruidChange) -> None:
        """InvalidInput if the operator's own password would change: its Secret would have the former one."""
        before = ((change.before or {}).get("authentication") or {}).get("password_is_set")
        if self.id_of(item) == client.username and self.secrets(item) and not before:
            remedy = (
                "the user is the login of spec.auth.secretRef, which would have the former password. Change it with "
                "another login: that of another DruidUser, or of the module user"
            )
            raise InvalidInput(_SECRET, HIDDEN, remedy)

    def _secret(self, item: DruidObject) -> Mapping[str, Any]:
        """Return the reference to the Secret, empty if there is none."""
        return mapping(item.spec.get(_SECRET))


USER = DruidUser()
