# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is judged if Druid does not know the roles of the module's login. The other cases run on a real Druid."""

from __future__ import annotations

from typing import Any, cast

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.lock_out import LockOut, Protected
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import Store
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

MANAGES = [{"resource": {"type": "CONFIG", "name": ".*"}, "action": action} for action in ("READ", "WRITE")]


class Authorizer:
    """Two roles that manage users, one that does not, and a user with the first."""

    def permissions(self, roles: Any) -> list[Any]:
        return [permission for role in roles for permission in (MANAGES if role in ("a", "b") else [])]

    def roles_of(self, kind: str, name: str) -> list[str]:
        return ["a"] if (kind, name) == ("users", "known") else []

    def names(self, kind: str) -> list[str]:
        return ["a", "b", "c"] if kind == "roles" else []


def judge(username: str | None, *, allows: bool = True) -> LockOut:
    return LockOut(Protected(username, allows_lock_out=allows), cast(Store, Authorizer()), "thing")


@pytest.mark.parametrize(("username", "warnings"), [(None, 1), ("of_directory", 1), ("known", 0)])
def test_login_without_a_record(username: str | None, warnings: int) -> None:
    """With a token, with the roles of a group, and with enough of its own. It is refused, or else a warning."""
    guard = judge(username)
    assert len(guard.of_role("b", MANAGES, [])) == warnings
    assert len(guard.of_group_mapping(["b", "c"], ["c"])) == warnings
    assert guard.of_group_mapping(["b", "c"], ["b"]) == []
    if warnings:
        with pytest.raises(InvalidInput, match=r"^permissions: of thing .* or set allow_lock_out: true"):
            judge(username, allows=False).of_role("b", MANAGES, [])


def test_any_user_may_be_the_one_of_a_token() -> None:
    assert len(judge(None).of_user("known", ["a"], [])) == 1
    assert judge("of_directory").of_user("known", ["a"], []) == []


def test_new_roles_that_do_not_exist_are_refused_elsewhere() -> None:
    assert judge("known", allows=False).of_user("known", ["a"], ["new"]) == []
