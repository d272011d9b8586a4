# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, passwords and permissions of Druid's basic security: what is valid, what is compared, what is lost. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import HIDDEN, InvalidInput

Permission = dict[str, Any]
ACTIONS = ("READ", "WRITE")
# Druid's types of resources, also those of newer releases.
TYPES = ("DATASOURCE", "VIEW", "CONFIG", "STATE", "SYSTEM_TABLE", "QUERY_CONTEXT", "EXTERNAL")
# What basic security itself requires, with both actions.
SECURITY = ("CONFIG", "security")


def check_user_name(name: str) -> None:
    """InvalidInput if no user could log in with this name."""
    if ":" in name:
        raise InvalidInput("id", name, "a name with a colon cannot log in: HTTP basic authentication ends it there")


def check_password(option: str, password: str) -> None:
    """InvalidInput if no user could log in with this password: Druid splits name and password at every colon."""
    if not password or ":" in password or not password.isprintable():
        remedy = "a password must not be empty, nor contain a colon or characters that cannot be printed, such as tabs"
        raise InvalidInput(option, HIDDEN, f"{remedy}. Use another one")


def canonical_permissions(permissions: Iterable[Any]) -> list[Permission]:
    """Return the permissions as a set: in the order of their text, each once. InvalidInput names an invalid one."""
    found = {json.dumps(_canonical(each, f"permissions[{index}]")) for index, each in enumerate(permissions)}
    return [json.loads(text) for text in sorted(found)]


def _canonical(permission: Any, place: str) -> Permission:
    example = "{resource: {type: DATASOURCE, name: clicks}, action: READ}"
    resource = permission.get("resource") if isinstance(permission, Mapping) else None
    if not isinstance(resource, Mapping) or {*permission} != {"resource", "action"} or {*resource} != {"type", "name"}:
        raise InvalidInput(place, permission, f"must be of the form {example}")
    kind, name, action = resource["type"], resource["name"], permission["action"]
    if not (isinstance(kind, str) and isinstance(name, str)):
        raise InvalidInput(place, permission, "type and name of the resource must be strings")
    if str(action).upper() not in ACTIONS:
        raise InvalidInput(f"{place}.action", action, f"must be {' or '.join(ACTIONS)}")
    return {"resource": {"type": kind, "name": name}, "action": str(action).upper()}


def unknown_types(permissions: Iterable[Permission]) -> list[str]:
    """Return the types of resources that no known release of Druid has: it accepts any, which then permit nothing."""
    return sorted({permission["resource"]["type"] for permission in permissions} - {*TYPES})


def broken_patterns(permissions: Iterable[Permission]) -> list[str]:
    """Return the names of resources that are certainly no regular expressions. Those that only Java reads may be."""
    names = {permission["resource"]["name"] for permission in permissions}
    return sorted(each for each in names if _is_simple(each) and "(?" not in each and not _is_plain(each))


def is_password(password: str, credentials: Any) -> bool:
    """Return whether the password is the one with these credentials: salt, hash and iterations, as Druid returns them.

    The comparison takes as long as Druid's own at a login, and needs none.
    """
    if not isinstance(credentials, Mapping):
        return False
    try:
        salt, known = (base64.b64decode(credentials[name]) for name in ("salt", "hash"))
        iterations = int(credentials["iterations"])
        return bool(known) and known == hashlib.pbkdf2_hmac("sha512", password.encode(), salt, iterations, len(known))
    except (KeyError, TypeError, ValueError):
        return False


def lost_permissions(before: Iterable[Permission], after: Iterable[Permission]) -> list[Permission]:
    """Return the permissions of the former that are not literally among the latter."""
    kept = [*after]
    return [permission for permission in before if permission not in kept]


def loses_security(before: Iterable[Permission], after: Iterable[Permission]) -> bool:
    """Return whether who had the former permissions may, with the latter, no longer manage users and roles.

    A pattern that Java may read in another way than Python counts as a match among the former permissions. Among the
    latter it counts as none, unless it is unchanged.
    """
    former, latter = [*before], [*after]
    return any(_loses(_on_security(former, action), _on_security(latter, action)) for action in ACTIONS)


def _loses(before: set[str], after: set[str]) -> bool:
    return not before <= after and not any(_is_plain(pattern) for pattern in after)


def _on_security(permissions: Iterable[Permission], action: str) -> set[str]:
    """Return the patterns of the permissions that match, or may match, the resource of basic security."""
    kind, name = SECURITY
    found = {
        each["resource"]["name"] for each in permissions if (each["resource"]["type"], each["action"]) == (kind, action)
    }
    return {pattern for pattern in found if not _is_plain(pattern) or re.fullmatch(pattern, name)}


def _is_plain(pattern: str) -> bool:
    """Return whether Java and Python certainly read a regular expression in the same way."""
    try:
        return _is_simple(pattern) and re.compile(pattern) is not None
    except re.error:
        return False


def _is_simple(pattern: str) -> bool:
    return re.fullmatch(r"[\w .*+?|()^$-]*", pattern) is not None
