# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, roles and group mappings of the extension druid-basic-security.

A user has a record in an authenticator, with a password, and one in an authorizer, with roles.
"""

from __future__ import annotations

from abc import abstractmethod
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
from ansible_collections.druidops.druid.plugins.module_utils._resources.lock_out import ALLOW, LockOut, Protected
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import (
    Store,
    refusal,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import WaitTimeout, wait_until
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import (
    Permission,
    broken_patterns,
    canonical_permissions,
    is_password,
    unknown_types,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import (
    HIDDEN,
    NOT_SET,
    DruidError,
    InvalidInput,
    MissingRole,
    UncertainState,
    sentences,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path

Step = Callable[[], object]
# How long a Router may take to learn of a change: it asks for it every 60 s, with a delay of up to 6 s.
PROPAGATION = 75.0


def _has_no_effect(error: DruidError) -> bool:
    """Return whether Druid has certainly rejected a request, or never got it."""
    if isinstance(error, Unreachable):
        return not error.sent
    return isinstance(error, ApiError) and not isinstance(error, ServerError | InvalidResponse)


class Record(Document):
    """What this module specifies as a whole: Druid knows each of its fields."""

    is_merged = False
    settle_timeout = 3.0
    _again = "Once the cause is repaired, run the task again to complete the change"

    def compare(self, after: Any, now: Any) -> None:
        """UncertainState if Druid has not stored what was specified: it stores it as it is."""
        if now != after:
            problem = f"Druid accepted the change of {self._name}, and has another state now"
            raise UncertainState(sentences(problem, self._again))

    def predict(self, before: Any, after: Any) -> None:
        """Warn in check mode about what has to exist before the change is made."""
        try:
            next(iter(self._steps(before, after)), None)
        except InvalidInput as error:
            self._warn(f"{error}. In check mode, what an earlier task would create is missing.")

    def _is_desired(self, now: Any, after: Any) -> bool:
        return bool(now == after)

    def _repair(self, before: Any, after: Any, now: Any) -> str:
        return "" if now == before else sentences(f"{self._name} is changed in part", self._again)

    def _unknown(self, before: Any) -> Iterable[Path]:
        return ()

    @property
    def _specified(self) -> Any:
        return None

    @abstractmethod
    def _steps(self, before: Any, after: Any) -> Iterator[Step]:
        """Yield the requests in their order. InvalidInput before the first one."""

    def _send(self, before: Any, after: Any) -> None:
        for number, step in enumerate(self._steps(before, after)):
            try:
                step()
            except (ApiError, Unreachable) as error:
                if isinstance(error, InvalidResponse) or (number and _has_no_effect(error)):
                    done = f"{number} of the requests for {self._name} took effect before it." if number else ""
                    raise UncertainState(sentences(str(error), done, self._again)) from error
                raise

    def _require_roles(self, store: Store, roles: Iterable[str]) -> None:
        """Raise an error before anything is sent if a role does not exist."""
        if (new := {*roles}) and (missing := sorted(new - {*store.names("roles")})):
            raise MissingRole("roles", missing, "does not exist. Create roles first, with the module role")

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


class User(Record):
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
        protected: Protected,
    ) -> None:
        super().__init__(client, f"user {name!r}")
        self._user = name
        self._desired = desired
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._protected = protected
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
        if self._user == self._protected.internal and before and not before["password_is_set"]:
            self._judge_internal_password()
        return {"password_is_set": True}

    def _judge_internal_password(self) -> None:
        text = (
            f"Druid's servers log in to one another as {self._name}. They lose their connections until "
            "druid.escalator.internalClientPassword of all of them is the same"
        )
        if not self._protected.allows_lock_out:
            raise InvalidInput("user_password", HIDDEN, f"{text}. Leave it as it is, {ALLOW}")
        self._warn(f"{text}.")

    def _refuse_removal(self, before: Mapping[str, Any]) -> None:
        if before and self._user == self._client.username:
            raise InvalidInput("state", "absent", f"the module has logged in as {self._name}. Use another login")
        if before and self._user == self._protected.internal:
            raise InvalidInput("state", "absent", f"Druid's servers log in to one another as {self._name}")
        self._judge(before.get("authorization", {"roles": []})["roles"], [])

    def _judge(self, before: list[str], after: list[str]) -> None:
        if self._authorizer:
            guard = LockOut(self._protected, self._authorizer, self._name)
            self._warn_all(guard.of_user(self._user, before, after))

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

        UncertainState if after an error Druid accepts neither of them in time.
        """
        with self._client.with_login(self._user, password).probing() as new:
            try:
                send()
            except (ServerError, Unreachable, InvalidResponse) as error:
                if _has_no_effect(error) or not self._took_effect(new, error):
                    raise
                self._warn(f"The change took effect despite this error: {error}")
            else:
                self._await(new)
        self._client.use_password(password)

    def _await(self, new: DruidClient) -> None:
        """Wait until the servers that the module uses accept the new login. The others may be down."""
        try:
            self._wait_for(lambda: refusal(new), lambda refused: refused is None)
        except WaitTimeout as timeout:
            self._warn(f"The password is changed. {timeout} {timeout.last}")

    def _took_effect(self, new: DruidClient, error: DruidError) -> bool:
        """Wait until Druid accepts the new login or the former one. Return if the new one."""
        with self._client.probing() as former:
            try:
                refused = self._wait_for(lambda: [refusal(new), refusal(former)], lambda both: None in both)
            except WaitTimeout as timeout:
                cause = f"{error} Druid accepts no login as {self._name} yet"
                raise UncertainState(sentences(cause, str(timeout), str(timeout.last[0]))) from error
        return refused[0] is None

    def _wait_for(self, read: Callable[[], Any], is_met: Callable[[Any], bool]) -> Any:
        return wait_until(read, is_met, timeout=PROPAGATION, waiting_for=f"the new password of {self._name}")


class Role(Record):
    """A role, as ``{"permissions": [...]}``. ``desired``: None to remove it; ``permissions``: None for as they are."""

    def __init__(
        self,
        client: DruidClient,
        name: str,
        desired: Mapping[str, Any] | None,
        authorizer: Store,
        protected: Protected,
    ) -> None:
        super().__init__(client, f"role {name!r}")
        self._role = name
        self._desired = desired
        self._authorizer = authorizer
        self._guard = LockOut(protected, authorizer, self._name)

    def _fetch(self) -> Any:
        found = self._authorizer.get("roles", self._role, full=True, simplifyPermissions=True)
        return found and {"permissions": canonical_permissions(found["permissions"])}

    def _merged(self, before: Any) -> Any:
        current = before["permissions"] if before else []
        permissions = self._permissions(current)
        self._warn_all(self._guard.of_role(self._role, current, permissions or []))
        return None if permissions is None else {"permissions": permissions}

    def _permissions(self, current: list[Permission]) -> list[Permission] | None:
        """Return the desired permissions, None if the role is to be removed."""
        if self._desired is None or self._desired["permissions"] is None:
            return current if self._desired else None
        permissions = canonical_permissions(self._desired["permissions"])
        for kind in unknown_types(permissions):
            self._warn(f"Druid has no resources of type {kind}, and accepts any name of one. Check it.")
        for pattern in broken_patterns(permissions):
            self._warn(f"The name {pattern!r} of a resource is no regular expression. Druid rejects such a permission.")
        return permissions

    def _steps(self, before: Any, after: Any) -> Iterator[Step]:
        if after is None:
            yield partial(self._authorizer.delete, "roles", self._role)
        elif before is None:
            yield partial(self._create, after["permissions"])
        else:
            yield partial(self._set, after["permissions"])

    def _set(self, permissions: list[Permission]) -> None:
        self._authorizer.post("roles", self._role, "permissions", idempotent=True, body=permissions)

    def _create(self, permissions: list[Permission]) -> None:
        """Create the role. It does not stay without permissions if these are certainly rejected."""
        self._authorizer.post("roles", self._role)
        try:
            if permissions:
                self._set(permissions)
        except ApiError as error:
            if _has_no_effect(error):
                self._authorizer.delete("roles", self._role)
            raise


class GroupMapping(Record):
    """
    A group mapping, as ``{"group_pattern": ..., "roles": [...]}``. ``desired``: None to remove it.

    ``former``: the mapping with the former pattern and roles, which an interrupted change has left. Then the mapping
    itself may be missing.
    """

    def __init__(
        self,
        client: DruidClient,
        name: str,
        desired: Mapping[str, Any] | None,
        authorizer: Store,
        protected: Protected,
    ) -> None:
        super().__init__(client, f"group mapping {name!r}")
        self._mapping = name
        self._former = f"{name}__former"
        self._desired = desired
        self._authorizer = authorizer
        self._guard = LockOut(protected, authorizer, self._name)
        self._again = f"{Record._again}. If it was removed, {self._former!r} has its former pattern and roles"

    def _fetch(self) -> Any:
        names = {*self._authorizer.names("groupMappings")}
        found = self._get(self._mapping) if self._mapping in names else {}
        if self._former in names:
            found["former"] = self._get(self._former)
        return found or None

    def _get(self, name: str) -> dict[str, Any]:
        found = self._authorizer.get("groupMappings", name)
        return {"group_pattern": found["groupPattern"], "roles": sorted(found["roles"])} if found else {}

    def _merged(self, before: Any) -> Any:
        before = before or {}
        former = before.get("former")
        if former:
            self._warn(f"An interrupted change is completed, and its mapping {self._former!r} is removed.")
        current = {**(former or {}), **before}
        after = self._after(current)
        # the members may be others with another pattern
        is_kept = after and not former and after["group_pattern"] == current.get("group_pattern")
        roles = sorted({*current.get("roles", []), *(former or current).get("roles", [])})
        self._warn_all(self._guard.of_group_mapping(roles, after["roles"] if after and is_kept else []))
        return after

    def _after(self, current: Mapping[str, Any]) -> Any:
        if self._desired is None:
            return None
        pattern = self._desired["group_pattern"] or current.get("group_pattern")
        if not pattern:
            raise InvalidInput("group_pattern", NOT_SET, f"{self._name} does not exist yet; set its pattern")
        return {"group_pattern": pattern, "roles": _roles(self._desired, current.get("roles", []))}

    def _steps(self, before: Any, after: Any) -> Iterator[Step]:
        """Change roles one by one, or replace the mapping. Another one keeps the former pattern and roles meanwhile."""
        current = {**(before or {})}
        former = current.pop("former", None)
        if after is not None:
            self._require_roles(self._authorizer, after["roles"])
        if not current and after:
            yield partial(self._create, self._mapping, after)
        elif current and after and self._can_stay(current, after):
            yield from _set_roles(self._authorizer, "groupMappings", self._mapping, current["roles"], after["roles"])
        elif current:
            if after and not former:
                former = current
                yield partial(self._create, self._former, former)
            yield partial(self._authorizer.delete, "groupMappings", self._mapping)
            if after:
                yield partial(self._create, self._mapping, after)
        if former:
            yield partial(self._authorizer.delete, "groupMappings", self._former)

    def _can_stay(self, current: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        """Return whether only roles change: Druid changes no pattern, and removes no role that does not exist."""
        removed = {*current["roles"]} - {*after["roles"]}
        is_same = current["group_pattern"] == after["group_pattern"]
        return is_same and not (removed and removed - {*self._authorizer.names("roles")})

    def _create(self, name: str, mapping: Mapping[str, Any]) -> None:
        body = {"name": name, "groupPattern": mapping["group_pattern"], "roles": mapping["roles"]}
        self._authorizer.post("groupMappings", name, body=body)
