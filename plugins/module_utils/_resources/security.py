# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, roles and group mappings of the extension druid-basic-security.

A user has a record in an authenticator, with a password, and one in an authorizer, with roles.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    InvalidResponse,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.document import Document
from ansible_collections.druidops.druid.plugins.module_utils._resources.lock_out import INTERNAL, LockOut
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import (
    PROPAGATION,
    Store,
    accepts_login,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import wait_until
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import (
    Permission,
    canonical_permissions,
    is_password,
    unknown_types,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    NOT_SET,
    DruidError,
    InvalidInput,
    UncertainState,
    sentences,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

Step = Callable[[], object]


def _has_no_effect(error: DruidError) -> bool:
    """Return whether Druid has certainly rejected a request, or never got it."""
    if isinstance(error, Unreachable):
        return not error.sent
    return isinstance(error, ApiError) and not isinstance(error, ServerError | InvalidResponse)


class _Record(Document):
    """What this module specifies as a whole: Druid knows each of its fields."""

    is_merged = False

    def _unknown(self, before: Any) -> Iterable[Path]:
        return ()

    @property
    def _specified(self) -> Any:
        return None

    def _steps(self, before: Any, after: Any) -> Iterator[Step]:
        """Yield the requests in their order. InvalidInput before the first one."""
        raise NotImplementedError

    def _send(self, before: Any, after: Any) -> None:
        for number, step in enumerate(self._steps(before, after)):
            try:
                step()
            except (ApiError, Unreachable) as error:
                if isinstance(error, InvalidResponse) or (number and _has_no_effect(error)):
                    done = f"{number} of the requests for {self._name} took effect before it." if number else ""
                    raise UncertainState(sentences(str(error), done, "Run the task again to complete them")) from error
                raise

    def _require_roles(self, store: Store, roles: Iterable[str]) -> None:
        """Raise an error before anything is sent if a role does not exist."""
        if (new := {*roles}) and (missing := sorted(new - {*store.names("roles")})):
            raise InvalidInput("roles", missing, "does not exist. Create roles first, with the module role")

    def _warn_all(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._warn(text)


def _roles(desired: Mapping[str, Any], current: list[str]) -> list[str]:
    return current if desired["roles"] is None else sorted({*desired["roles"]})


def _set_roles(store: Store, kind: str, name: str, before: Iterable[str], after: Iterable[str]) -> Iterator[Step]:
    """Assign roles to a user or a group mapping, then remove others."""
    for role in sorted({*after} - {*before}):
        yield partial(store.post, kind, name, "roles", role)
    for role in sorted({*before} - {*after}):
        yield partial(store.remove_role, kind, name, role)


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
        # whether the module has logged in with the password of this record
        self._is_login = False

    @property
    def _password(self) -> str | None:
        return self._desired["password"] if self._desired else None

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
        if self._client.username == self._user:
            self._is_login = is_password(self._client.password or "", credentials)
        return is_password(self._password, credentials)

    def _merged(self, before: Any) -> Any:
        before = before or {}
        if self._desired is None:
            self._refuse_removal(before)
            return None
        after: dict[str, Any] = {}
        if self._authenticator:
            after["authentication"] = self._authentication(before.get("authentication"))
        if self._authorizer:
            current = before.get("authorization", {"roles": []})["roles"]
            roles = _roles(self._desired, current)
            after["authorization"] = {"roles": roles}
            self._judge(current, roles)
        return after

    def _authentication(self, before: Any) -> dict[str, Any]:
        if self._password is None:
            if before is None:
                remedy = f"{self._name} does not exist yet; set a password to create it"
                raise InvalidInput("user_password", NOT_SET, remedy)
            return dict(before)
        if self._user == INTERNAL and not (before or {}).get("password_is_set"):
            self._warn(
                "Druid's servers log in to one another with this password. They lose their connections until "
                "druid.escalator.internalClientPassword of all of them is the same."
            )
        return {"password_is_set": True}

    def _refuse_removal(self, before: Mapping[str, Any]) -> None:
        if before and self._user == self._client.username:
            raise InvalidInput("state", "absent", f"the module has logged in as {self._name}. Use another login")
        if before and self._user == INTERNAL:
            raise InvalidInput("state", "absent", f"Druid's servers log in to one another as {self._name}")
        self._judge(before.get("authorization", {"roles": []})["roles"], [])

    def _judge(self, before: list[str], after: list[str]) -> None:
        if self._authorizer:
            self._warn_all(LockOut(self._client.username, self._authorizer).of_user(self._user, before, after))

    def _steps(self, before: Any, after: Any) -> Iterator[Step]:
        """Give access last, and remove it first."""
        before = before or {}
        if after is None:
            yield from self._removal(before)
            return
        if self._authorizer:
            current = before.get("authorization")
            former, roles = (current or {"roles": []})["roles"], after["authorization"]["roles"]
            self._require_roles(self._authorizer, {*roles} - {*former})
            if current is None:
                yield partial(self._authorizer.post, "users", self._user)
            yield from _set_roles(self._authorizer, "users", self._user, former, roles)
        if self._authenticator and after["authentication"] != before.get("authentication"):
            if "authentication" not in before:
                yield partial(self._authenticator.post, "users", self._user)
            yield partial(self._set_password, self._authenticator, str(self._password))

    def _removal(self, before: Mapping[str, Any]) -> Iterator[Step]:
        for store, part in ((self._authenticator, "authentication"), (self._authorizer, "authorization")):
            if store and part in before:
                yield partial(store.delete, "users", self._user)

    def _set_password(self, authenticator: Store, password: str) -> None:
        send = partial(authenticator.post, "users", self._user, "credentials", body={"password": password})
        if self._is_login:
            self._replace_login(send, password)
        else:
            send(idempotent=True)

    def _replace_login(self, send: Callable[[], None], password: str) -> None:
        """Change the password of the module's own login, which is not sent twice: the former one is no login any more.

        UncertainState if Druid then accepts neither of them in time.
        """
        with self._client.with_login(self._user, password) as client:
            try:
                send()
            except (ServerError, Unreachable, InvalidResponse) as error:
                if _has_no_effect(error) or not self._is_accepted(client, error):
                    raise
                self._warn(f"The change took effect despite this error: {error}")
            else:
                self._is_accepted(client, None)
        self._client.use_password(password)

    def _is_accepted(self, client: DruidClient, error: DruidError | None) -> bool:
        """Wait until all servers accept the new login, or after an error the former one. Return if the new one."""
        logins = {True: client, **({False: self._client} if error else {})}
        try:
            accepted = wait_until(
                lambda: [is_new for is_new, login in logins.items() if accepts_login(login)],
                bool,
                timeout=PROPAGATION,
                waiting_for=f"the new password of {self._name}",
            )
        except DruidError as second:
            cause = f"{error} " if error else "The password is changed. "
            raise UncertainState(f"{cause}Druid does not accept a login as {self._name} yet: {second}") from second
        return bool(accepted[0])


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
        guard = LockOut(self._client.username, self._authorizer)
        self._warn_all(guard.of_role(self._role, current, permissions or []))
        return None if permissions is None else {"permissions": permissions}

    def _permissions(self, current: list[Permission]) -> list[Permission] | None:
        """Return the desired permissions, None if the role is to be removed."""
        if self._desired is None or self._desired["permissions"] is None:
            return current if self._desired else None
        permissions = canonical_permissions(self._desired["permissions"])
        for kind in unknown_types(permissions):
            self._warn(f"Druid has no resources of type {kind}, and accepts any name of one. Check it.")
        return permissions

    def _steps(self, before: Any, after: Any) -> Iterator[Step]:
        if after is None:
            yield partial(self._authorizer.delete, "roles", self._role)
            return
        if before is None:
            yield partial(self._authorizer.post, "roles", self._role)
        if (permissions := after["permissions"]) != (before or {"permissions": []})["permissions"]:
            send = partial(self._authorizer.post, "roles", self._role, "permissions", idempotent=True)
            yield partial(send, body=permissions)


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
        after = self._after(before)
        if before:
            # the members may be others with another pattern
            is_kept = after and after["group_pattern"] == before["group_pattern"]
            guard = LockOut(self._client.username, self._authorizer)
            self._warn_all(guard.of_group_mapping(before["roles"], after["roles"] if is_kept else []))
        return after

    def _after(self, before: Any) -> Any:
        if self._desired is None:
            return None
        pattern = self._desired["group_pattern"] or (before and before["group_pattern"])
        if not pattern:
            raise InvalidInput("group_pattern", NOT_SET, f"{self._name} does not exist yet; set its pattern")
        return {"group_pattern": pattern, "roles": _roles(self._desired, before["roles"] if before else [])}

    def _steps(self, before: Any, after: Any) -> Iterator[Step]:
        """Change roles one by one. A pattern cannot be changed: the mapping is replaced."""
        if after is None:
            yield partial(self._authorizer.delete, "groupMappings", self._mapping)
            return
        former = before["roles"] if before else []
        self._require_roles(self._authorizer, {*after["roles"]} - {*former})
        if before is None:
            yield partial(self._create, after)
        elif before["group_pattern"] == after["group_pattern"]:
            yield from _set_roles(self._authorizer, "groupMappings", self._mapping, former, after["roles"])
        else:
            yield partial(self._replace, before, after)

    def _replace(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Remove the mapping and create it again. It is restored if that is certainly rejected.

        UncertainState with the former mapping if it may be lost.
        """
        try:
            self._authorizer.delete("groupMappings", self._mapping)
            self._create(after)
        except DruidError as error:
            self._restore(before, after, error)

    def _restore(self, before: Mapping[str, Any], after: Mapping[str, Any], error: DruidError) -> None:
        try:
            now = self._fetch()
            if now is None and _has_no_effect(error):
                self._create(before)
                now = self._fetch()
        except DruidError as second:
            raise UncertainState(f"{error} {self._former(before)} {second}") from error
        if now == after:
            self._warn(f"The change took effect despite this error: {error}")
        elif now == before and _has_no_effect(error):
            raise DruidError(f"{error} {self._name} is as it was before.") from error
        else:
            raise UncertainState(f"{error} {self._former(before)}") from error

    def _former(self, before: Mapping[str, Any]) -> str:
        pattern, roles = (json.dumps(before[name]) for name in ("group_pattern", "roles"))
        return f"{self._name} may be lost: its pattern was {pattern}, its roles {roles}."

    def _create(self, mapping: Mapping[str, Any]) -> None:
        body = {"name": self._mapping, "groupPattern": mapping["group_pattern"], "roles": mapping["roles"]}
        self._authorizer.post("groupMappings", self._mapping, body=body)
