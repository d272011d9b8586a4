# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, roles and permissions of Druid's basic security: what is compared, and what a login may not lose. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput

Permission = dict[str, Any]
ACTIONS = ("READ", "WRITE")
# Druid's types of resources, also those of newer releases.
TYPES = ("DATASOURCE", "VIEW", "CONFIG", "STATE", "SYSTEM_TABLE", "QUERY_CONTEXT", "EXTERNAL")
# What basic security itself requires, with either action.
SECURITY = ("CONFIG", "security")


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


def manages_security(permissions: Iterable[Permission]) -> bool:
    """Return whether these permissions, together, are enough to manage users and roles."""
    kind, name = SECURITY
    actions = {
        permission["action"]
        for permission in permissions
        if permission["resource"]["type"] == kind and _matches(permission["resource"]["name"], name)
    }
    return actions.issuperset(ACTIONS)


def _matches(pattern: str, name: str) -> bool:
    """Return whether a name matches a regular expression of Druid's. One that only Java has counts as none."""
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error:
        return False
