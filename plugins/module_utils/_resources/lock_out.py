# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No change locks out the login of the module, nor the user as which Druid's servers log in to one another.

If it is unknown whether a change does, it needs the option allow_lock_out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import Store
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import (
    Permission,
    loses_security,
    lost_permissions,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput

_UNKNOWN = (
    "permissions to manage users are removed. Whether the login of the module needs them is unknown: this "
    "authorizer does not have them in roles of its own (a token, a certificate, or a group of a directory)"
)
ALLOW = "or set allow_lock_out: true, which only the modules have"


@dataclass(frozen=True)
class Protected:
    """
    Whose access is protected. ``username``: as which the module has logged in, None if that is not known.

    ``internal``: as which Druid's servers log in to one another. ``allows_lock_out``: a change that may lock out one
    of them, but not certainly, is a warning.
    """

    username: str | None
    internal: str = "druid_system"
    allows_lock_out: bool = False


class LockOut:
    """
    Judges changes of a thing before they are sent. ``name``: that of the thing in messages.

    Each method takes the roles or permissions of a thing before and after. It returns warnings, or raises InvalidInput.
    What counts are the permissions of all roles of a user together. New roles that do not exist are not judged: they
    are refused, and in check mode an earlier task may create them.
    """

    def __init__(self, protected: Protected, authorizer: Store, name: str) -> None:
        self._name = name
        self._username, self._internal = protected.username, protected.internal
        self._allows_lock_out = protected.allows_lock_out
        self._authorizer = authorizer

    def of_user(self, user: str, before: list[str], after: list[str]) -> list[str]:
        """Judge the roles of a user."""
        if {*before} <= {*after} or user not in (self._internal, self._username or user):
            return []
        if self._are_missing(before, after):
            return []
        former, latter = self._authorizer.permissions(before), self._authorizer.permissions(after)
        if user == self._internal:
            self._require_all("roles", former, latter)
        return self._judge("roles", former, latter, is_own=user == self._username)

    def of_role(self, role: str, before: list[Permission], after: list[Permission]) -> list[str]:
        """Judge the permissions of a role."""
        if lost_permissions(before, after) and (others := self._others(self._internal, role)) is not None:
            self._require_all("permissions", before, [*after, *others])
        if not loses_security(before, after):
            return []
        others = self._others(self._username, role)
        rest = self._own_permissions() if others is None else others
        return self._judge("permissions", [*before, *rest], [*after, *rest], is_own=others is not None)

    def of_group_mapping(self, before: list[str], after: list[str]) -> list[str]:
        """Judge the roles of the members of groups. Druid does not report who they are."""
        former, latter = self._authorizer.permissions(before), self._authorizer.permissions(after)
        if not loses_security(former, latter) or self._are_missing(before, after):
            return []
        rest = self._own_permissions()
        return self._judge("roles", [*former, *rest], [*latter, *rest], is_own=False)

    def _are_missing(self, before: list[str], after: list[str]) -> bool:
        new = {*after} - {*before}
        return bool(new and new - {*self._authorizer.names("roles")})

    def _own_permissions(self) -> list[Permission]:
        user = self._username
        return self._authorizer.permissions(self._authorizer.roles_of("users", user)) if user else []

    def _others(self, user: str | None, role: str) -> list[Permission] | None:
        """Return the permissions that a user has by other roles, None if the user does not have this role."""
        roles = self._authorizer.roles_of("users", user) if user else []
        return self._authorizer.permissions(each for each in roles if each != role) if role in roles else None

    def _judge(self, option: str, before: Any, after: Any, *, is_own: bool) -> list[str]:
        if not loses_security(before, after):
            return []
        if is_own:
            login = f"the login {self._username}, which this module uses"
            raise InvalidInput(option, NOT_SET, f"{login}, would no longer be permitted to manage users. {_ANOTHER}")
        if not self._allows_lock_out:
            remedy = f"{_ANOTHER} whose own roles permit it, {ALLOW}"
            raise InvalidInput(option, NOT_SET, f"of {self._name} {_UNKNOWN}. {remedy}")
        return [f"{_UNKNOWN[0].upper()}{_UNKNOWN[1:]}."]

    def _require_all(self, option: str, before: Iterable[Permission], after: Iterable[Permission]) -> None:
        if lost_permissions(before, after):
            remedy = f"Druid's servers log in to one another as {self._internal}, which would lose permissions"
            raise InvalidInput(option, NOT_SET, remedy)


_ANOTHER = "Use another login"
