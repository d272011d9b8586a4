# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Permissions as sets, passwords by their hashes, and what is lost with them."""

from __future__ import annotations

import base64
import hashlib
from itertools import permutations
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import (
    canonical_permissions,
    is_password,
    loses_security,
    unknown_types,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput


def permission(kind: str, name: str, action: str) -> dict[str, Any]:
    return {"resource": {"type": kind, "name": name}, "action": action}


READ, WRITE, OTHER = (
    permission("DATASOURCE", "clicks", "READ"),
    permission("DATASOURCE", "clicks", "WRITE"),
    permission("STATE", "STATE", "READ"),
)


def test_permissions_are_a_set() -> None:
    forms = {str(canonical_permissions([*order, order[0]])) for order in permutations([READ, WRITE, OTHER])}
    assert len(forms) == 1
    assert canonical_permissions([{**READ, "action": "read"}]) == [READ]


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ("DATASOURCE clicks READ", "permissions[0]"),
        ({"resource": {"type": "STATE"}, "action": "READ"}, "permissions[0]"),
        ({**READ, "comment": ""}, "permissions[0]"),
        (permission("STATE", 1, "READ"), "permissions[0]"),  # type: ignore[arg-type]
        (permission("STATE", "STATE", "ALL"), "permissions[0].action"),
        ({**READ, "action": None}, "permissions[0].action"),
    ],
)
def test_permission_in_another_form(wrong: Any, place: str) -> None:
    with pytest.raises(InvalidInput) as invalid:
        canonical_permissions([wrong])
    assert invalid.value.name == place


def test_unknown_types() -> None:
    assert unknown_types([READ, permission("datasource", "clicks", "READ")]) == ["datasource"]


def credentials(password: str) -> dict[str, Any]:
    salt = b"salt of 32 bytes"
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 100, 64)
    return {"salt": base64.b64encode(salt).decode(), "hash": base64.b64encode(digest).decode(), "iterations": 100}


def test_password_by_its_hash() -> None:
    assert is_password("pässwörd", credentials("pässwörd"))
    assert not is_password("password", credentials("pässwörd"))


@pytest.mark.parametrize("unusable", [None, {}, [], {**credentials("a"), "hash": ""}, {**credentials("a"), "salt": 1}])
def test_password_without_a_hash(unusable: Any) -> None:
    assert not is_password("a", unusable)


def on_security(*patterns: str) -> list[dict[str, Any]]:
    return [permission("CONFIG", pattern, action) for pattern in patterns for action in ("READ", "WRITE")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (on_security("security"), [OTHER], True),
        (on_security("security"), on_security(".*"), False),
        (on_security("security"), on_security("security")[:1], True),
        (on_security("secur"), [OTHER], False),
        # what only Java reads: perhaps a match before, and none after
        (on_security(r"\Qsecurity\E"), [OTHER], True),
        (on_security("security"), on_security(r"\Qsecurity\E"), True),
        (on_security(r"\Qsecurity\E", "other"), on_security(r"\Qsecurity\E"), False),
        (on_security("(", "security"), on_security("("), True),
    ],
)
def test_permission_to_manage_users_is_lost(
    before: list[dict[str, Any]], after: list[dict[str, Any]], expected: bool
) -> None:
    assert loses_security(before, after) is expected
