# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, roles and group mappings of the extension druid-basic-security: ``/druid-ext/basic-security``.

A user has a record in an authenticator, with a password, and one in an authorizer, with roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    Forbidden,
    NotFound,
    Unauthorized,
    UnknownPath,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Document
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import wait_until
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import (
    Permission,
    canonical_permissions,
    is_password,
    manages_security,
    unknown_types,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

# Druid's servers log in to one another as this user, unless their configuration names another one.
INTERNAL = "druid_system"
# How long other servers may take to learn of a change: they ask for it every 60 s, with a delay of up to 6 s.
PROPAGATION = 75.0


class Store:
    """An authenticator or an authorizer, ``kind``, whose records are in Druid's metadata store.

    ``name``: None for the only one that this Druid has. InvalidInput if it has none or several.
    """

    def __init__(self, client: DruidClient, kind: str, name: str | None) -> None:
        self._client = client
        self._kind = kind
        self._part = {"authenticator": "authentication", "authorizer": "authorization"}[kind]
        self.name = self._only() if name is None else name

    def of(self, client: DruidClient) -> Store:
        """Return the same store with the login of another client."""
        return Store(client, self._kind, self.name)

    def names(self, kind: str) -> list[str]:
        """Return the names of all records of a kind: users, roles, groupMappings."""
        return sorted(self._client.get(self._path(kind)))

    def get(self, kind: str, name: str, **params: Any) -> Any:
        """Return a record, None if there is none, which Druid reports with 400 and this message."""
        noun = {"users": "User", "roles": "Role", "groupMappings": "Group mapping"}[kind]
        try:
            return self._client.get(self._path(kind, name), params)
        except ApiError as error:
            if error.status == HTTPStatus.BAD_REQUEST and error.message == f"{noun} [{name}] does not exist.":
                return None
            raise

    def post(self, kind: str, *names: str, body: Any = None, idempotent: bool = False) -> None:
        """Create a record, or what the path names."""
        self._client.post(self._path(kind, *names), body, idempotent=idempotent)

    def delete(self, kind: str, *names: str) -> None:
        """Delete a record, or what the path names."""
        self._client.delete(self._path(kind, *names))

    def set_roles(self, kind: str, name: str, before: Iterable[str], after: Iterable[str]) -> None:
        """Assign roles to a user or a group mapping, then remove others."""
        for role in sorted({*after} - {*before}):
            self.post(kind, name, "roles", role)
        for role in sorted({*before} - {*after}):
            self.delete(kind, name, "roles", role)

    def permissions(self, roles: Iterable[str]) -> list[Permission]:
        """Return the permissions of these roles together."""
        found = (self.get("roles", role, full=True, simplifyPermissions=True) for role in roles)
        return [permission for role in found if role for permission in role["permissions"]]

    def _path(self, *names: str) -> str:
        return path("druid-ext", "basic-security", self._part, "db", self.name, *names)

    def _only(self) -> str:
        """Return the name of the only one. The load status of the Coordinator has all of them."""
        found = sorted(self._client.get(path("druid-ext", "basic-security", self._part, "loadStatus")))
        if not found:
            remedy = "Druid has none of basic security. Load the extension druid-basic-security"
            raise InvalidInput(self._kind, NOT_SET, remedy)
        if len(found) > 1:
            raise InvalidInput(self._kind, NOT_SET, f"Druid has several: {', '.join(found)}. Set one of them")
        return found[0]


class _Record(Document):
    """What this module specifies as a whole: Druid knows each of its fields."""

    is_merged = False

    def _unknown(self, before: Any) -> Iterable[Path]:
        return ()

    @property
    def _specified(self) -> Any:
        return None

    def _require_roles(self, store: Store, roles: Iterable[str]) -> None:
        """Raise an error before anything is sent if a role does not exist."""
        if (new := {*roles}) and (missing := sorted(new - {*store.names("roles")})):
            raise InvalidInput("roles", missing, "does not exist. Create roles first, with the module role")

    def _require_own_access(self, is_left: bool, option: str) -> None:
        if not is_left:
            login = f"the login {self._client.username}, which this module uses"
            remedy = f"{self._name}: {login}, would no longer be permitted to manage users. Use another login"
            raise InvalidInput(option, NOT_SET, remedy)


def _roles(desired: Mapping[str, Any], current: list[str]) -> list[str]:
    return current if desired["roles"] is None else sorted({*desired["roles"]})


class User(_Record):
    """
    A user: ``{"authentication": {"password_is_set": ...}, "authorization": {"roles": [...]}}``, without a missing one.

    ``password_is_set``: the password is the specified one; if none is specified or any is kept, there is one.
    ``desired``: ``password``, ``keeps_password`` and ``roles``, of which None stays as it is; None to remove the user.
    ``authenticator``, ``authorizer``: None if the user has no record there.
    """

    def __init__(
        self,
        client: DruidClient,
        name: str,
        desired: Mapping[str, Any] | None,
        authenticator: Store | None,
        authorizer: Store | None,
    ) -> None:
        super().__init__(client, f"user {name!r}")
        self._user = name
        self._desired = desired
        self._authenticator = authenticator
        self._authorizer = authorizer

    @property
    def _password(self) -> str | None:
        return self._desired["password"] if self._desired else None

    @property
    def _is_own(self) -> bool:
        """True if the module itself has logged in as this user."""
        return self._client.username == self._user

    def _fetch(self) -> Any:
        found: dict[str, Any] = {}
        if self._authenticator and (user := self._authenticator.get("users", self._user)):
            found["authentication"] = {"password_is_set": self._is_set(user.get("credentials"))}
        if self._authorizer and (user := self._authorizer.get("users", self._user)):
            found["authorization"] = {"roles": sorted(user["roles"])}
        return found or None

    def _is_set(self, credentials: Any) -> bool:
        if self._desired is None or self._password is None or self._desired["keeps_password"]:
            return bool(credentials)
        return is_password(self._password, credentials)

    def _merged(self, before: Any) -> Any:
        if self._desired is None:
            self._refuse_removal()
            return None
        before = before or {}
        after: dict[str, Any] = {}
        if self._authenticator:
            after["authentication"] = self._authentication(before.get("authentication"))
        if self._authorizer:
            current = before.get("authorization", {"roles": []})["roles"]
            roles = _roles(self._desired, current)
            after["authorization"] = {"roles": roles}
            if self._is_own and not {*current} <= {*roles}:
                self._check_own_roles(self._authorizer, current, roles)
        return after

    def _authentication(self, before: Any) -> dict[str, Any]:
        if self._password is not None:
            return {"password_is_set": True}
        if before is None:
            raise InvalidInput(
                "user_password", NOT_SET, f"{self._name} does not exist yet; set a password to create it"
            )
        return dict(before)

    def _refuse_removal(self) -> None:
        if self._is_own:
            raise InvalidInput("state", "absent", f"the module has logged in as {self._name}. Use another login")
        if self._user == INTERNAL:
            raise InvalidInput("state", "absent", f"Druid's servers log in to one another as {self._name}")

    def _check_own_roles(self, authorizer: Store, before: list[str], after: list[str]) -> None:
        if manages_security(authorizer.permissions(before)):
            self._require_own_access(manages_security(authorizer.permissions(after)), "roles")

    def _send(self, before: Any, after: Any) -> None:
        """Give access last, and remove it first."""
        before = before or {}
        if after is None:
            self._remove(before)
            return
        if self._authorizer:
            current = before.get("authorization")
            roles = after["authorization"]["roles"]
            self._require_roles(self._authorizer, {*roles} - {*(current or {"roles": []})["roles"]})
            if current is None:
                self._authorizer.post("users", self._user)
            self._authorizer.set_roles("users", self._user, current["roles"] if current else [], roles)
        if self._authenticator and after["authentication"] != before.get("authentication"):
            self._set_password(self._authenticator, is_new="authentication" not in before)

    def _set_password(self, authenticator: Store, *, is_new: bool) -> None:
        if is_new:
            authenticator.post("users", self._user)
        authenticator.post("users", self._user, "credentials", body={"password": self._password}, idempotent=True)
        if self._is_own and self._password is not None:
            # the former password is no login any more
            self._client = self._client.with_login(self._user, self._password)
            self._authenticator = authenticator.of(self._client)
            self._authorizer = self._authorizer and self._authorizer.of(self._client)
            wait_until(
                lambda: accepts_login(self._client),
                bool,
                timeout=PROPAGATION,
                waiting_for=f"the new password of {self._name}",
            )

    def _remove(self, before: Mapping[str, Any]) -> None:
        for store, part in ((self._authenticator, "authentication"), (self._authorizer, "authorization")):
            if store and part in before:
                store.delete("users", self._user)


# Of a Router, which passes all but the first on: the Router, the Coordinator, the Overlord, a Broker.
_WITH_LOGIN = (
    path("status"),
    path("druid", "coordinator", "v1", "config"),
    path("druid", "indexer", "v1", "worker"),
    path("druid", "v2", "datasources"),
)


def accepts_login(client: DruidClient) -> bool:
    """Return whether each server that the client reaches knows its login.

    It may lack the permission for the request, or the server may not have its path.
    """
    try:
        for each in _WITH_LOGIN:
            with suppress(Forbidden, NotFound, UnknownPath):
                client.get(each)
    except Unauthorized:
        return False
    return True


class Role(_Record):
    """A role, as ``{"permissions": [...]}``. ``desired``: None to remove it; ``permissions``: None for as they are."""

    def __init__(self, client: DruidClient, name: str, desired: Mapping[str, Any] | None, authorizer: Store) -> None:
        super().__init__(client, f"role {name!r}")
        self._role = name
        self._desired = desired
        self._authorizer = authorizer

    def _fetch(self) -> Any:
        found = self._authorizer.get("roles", self._role, full=True, simplifyPermissions=True)
        return found and {"permissions": canonical_permissions(found["permissions"])}

    def _merged(self, before: Any) -> Any:
        current = before["permissions"] if before else []
        permissions = self._permissions(current)
        if manages_security(current) and not manages_security(permissions or []):
            self._check_own_role(permissions or [])
        return None if permissions is None else {"permissions": permissions}

    def _permissions(self, current: list[Permission]) -> list[Permission] | None:
        """Return the desired permissions, None if the role is to be removed."""
        if self._desired is None or self._desired["permissions"] is None:
            return current if self._desired else None
        permissions = canonical_permissions(self._desired["permissions"])
        for kind in unknown_types(permissions):
            self._warn(f"Druid has no resources of type {kind}, and accepts any name of one. Check it.")
        return permissions

    def _check_own_role(self, permissions: list[Permission]) -> None:
        user = self._client.username and self._authorizer.get("users", self._client.username)
        if user and self._role in user["roles"]:
            others = self._authorizer.permissions({*user["roles"]} - {self._role})
            self._require_own_access(manages_security([*others, *permissions]), "permissions")

    def _send(self, before: Any, after: Any) -> None:
        if after is None:
            self._authorizer.delete("roles", self._role)
            return
        if before is None:
            self._authorizer.post("roles", self._role)
        if after["permissions"] != (before or {"permissions": []})["permissions"]:
            self._authorizer.post("roles", self._role, "permissions", body=after["permissions"], idempotent=True)


class GroupMapping(_Record):
    """A group mapping, as ``{"group_pattern": ..., "roles": [...]}``. ``desired``: None to remove it."""

    def __init__(self, client: DruidClient, name: str, desired: Mapping[str, Any] | None, authorizer: Store) -> None:
        super().__init__(client, f"group mapping {name!r}")
        self._mapping = name
        self._desired = desired
        self._authorizer = authorizer

    def _fetch(self) -> Any:
        found = self._authorizer.get("groupMappings", self._mapping)
        return found and {"group_pattern": found["groupPattern"], "roles": sorted(found["roles"])}

    def _merged(self, before: Any) -> Any:
        if self._desired is None:
            return None
        pattern = self._desired["group_pattern"] or (before and before["group_pattern"])
        if not pattern:
            raise InvalidInput("group_pattern", NOT_SET, f"{self._name} does not exist yet; set its pattern")
        return {"group_pattern": pattern, "roles": _roles(self._desired, before["roles"] if before else [])}

    def _send(self, before: Any, after: Any) -> None:
        """Change roles one by one. A pattern cannot be changed: the mapping is replaced, or the former one restored."""
        if after is None:
            self._authorizer.delete("groupMappings", self._mapping)
            return
        self._require_roles(self._authorizer, {*after["roles"]} - {*(before or {"roles": []})["roles"]})
        if before and before["group_pattern"] == after["group_pattern"]:
            self._authorizer.set_roles("groupMappings", self._mapping, before["roles"], after["roles"])
            return
        if before:
            self._authorizer.delete("groupMappings", self._mapping)
        try:
            self._create(after)
        except DruidError:
            if before:
                self._create(before)
            raise

    def _create(self, mapping: Mapping[str, Any]) -> None:
        body = {"name": self._mapping, "groupPattern": mapping["group_pattern"], "roles": mapping["roles"]}
        self._authorizer.post("groupMappings", self._mapping, body=body)
