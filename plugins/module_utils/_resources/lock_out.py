# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No change locks out the login of the module, nor the user as which Druid's servers log in to one another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import Store
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import (
    Permission,
    loses_security,
    lost_permissions,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput

# Druid's servers log in to one another as this user, unless their configuration names another one.
INTERNAL = "druid_system"
_UNKNOWN = (
    "This removes permissions to manage users. Whether the login of the module needs them is unknown: this "
    "authorizer does not have its roles (a token, a certificate, or a group of a directory)."
)


class LockOut:
    """
    Judges changes before they are sent. ``username``: as which the module has logged in, None if that is not known.

    Each method takes the roles or permissions of a thing before and after. It returns warnings, or raises InvalidInput.
    What counts are the permissions of all roles of a user together.
    """

    def __init__(self, username: str | None, authorizer: Store) -> None:
        self._username = username
        self._authorizer = authorizer

    def of_user(self, user: str, before: list[str], after: list[str]) -> list[str]:
        """Judge the roles of a user."""
        if {*before} <= {*after} or user not in (INTERNAL, self._username or user):
            return []
        former, latter = self._authorizer.permissions(before), self._authorizer.permissions(after)
        if user == INTERNAL:
            _require_all("roles", former, latter)
        return self._judge("roles", former, latter, is_own=user == self._username)

    def of_role(self, role: str, before: list[Permission], after: list[Permission]) -> list[str]:
        """Judge the permissions of a role."""
        if lost_permissions(before, after) and (others := self._others(INTERNAL, role)) is not None:
            _require_all("permissions", before, [*after, *others])
        if not loses_security(before, after):
            return []
        others = self._others(self._username, role)
        rest = self._own_permissions() if others is None else others
        return self._judge("permissions", [*before, *rest], [*after, *rest], is_own=others is not None)

    def of_group_mapping(self, before: list[str], after: list[str]) -> list[str]:
        """Judge the roles of the members of groups. Druid does not report who they are."""
        former, latter = self._authorizer.permissions(before), self._authorizer.permissions(after)
        if not loses_security(former, latter):
            return []
        rest = self._own_permissions()
        return self._judge("roles", [*former, *rest], [*latter, *rest], is_own=False)

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
        return [_UNKNOWN]


_ANOTHER = "Use another login"


def _require_all(option: str, before: Iterable[Permission], after: Iterable[Permission]) -> None:
    if lost_permissions(before, after):
        remedy = f"Druid's servers log in to one another as {INTERNAL}, which would lose permissions"
        raise InvalidInput(option, NOT_SET, remedy)
