# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users of a Druid with basic security who have exactly the specified permissions."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ApiError, Forbidden, Unauthorized
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from testbed.druid.druid import Druid

_PATH = "/druid-ext/basic-security/{}/db/basic/{}/{}"


class Right(NamedTuple):
    """A permission: ``DATASOURCE``, the name of the resource, ``READ`` or ``WRITE``."""

    type: str
    name: str
    action: str

    @classmethod
    def parse(cls, text: str) -> Right:
        """Return the right in ``DATASOURCE clicks READ``."""
        return cls(*text.split())

    def __str__(self) -> str:
        return f"{self.type} {self.name} {self.action}"


@contextmanager
def user_with(druid: Druid, rights: Iterable[Right]) -> Iterator[Connection]:
    """Yield the connection of a new user with exactly these rights, once all servers know them."""
    name = f"u{secrets.token_hex(4)}"
    password = secrets.token_hex(8)
    marker = Right("DATASOURCE", name, "READ")
    _post(druid, "authentication", "users", name)
    _post(druid, "authentication", "users", f"{name}/credentials", {"password": password})
    for kind in ("users", "roles"):
        _post(druid, "authorization", kind, name)
    permissions = [
        {"resource": {"name": re.escape(right.name), "type": right.type}, "action": right.action}
        for right in (*rights, marker)
    ]
    _post(druid, "authorization", "roles", f"{name}/permissions", permissions)
    _post(druid, "authorization", "users", f"{name}/roles/{name}")
    connection = Connection(urls=(druid.url,), username=name, password=password, retry_timeout=5)
    try:
        with DruidClient(connection) as client:
            # all permissions of a role arrive together, at each server in its own time
            for path in (f"/druid/coordinator/v1/rules/{name}", f"/druid/v2/datasources/{name}"):
                eventually(lambda path=path: _may_read(client, path))
        yield connection
    finally:
        for part in ("authentication", "authorization"):
            druid.request("DELETE", _PATH.format(part, "users", name), server="coordinator")
        druid.request("DELETE", _PATH.format("authorization", "roles", name), server="coordinator")


def remove_users(druid: Druid, name: str) -> None:
    """Remove the users, roles and group mappings whose names begin with this name."""
    for part, kind in (
        ("authentication", "users"),
        ("authorization", "users"),
        ("authorization", "groupMappings"),
        ("authorization", "roles"),
    ):
        for each in druid.request("GET", _PATH.format(part, kind, "").rstrip("/"), server="coordinator"):
            if each.startswith(name):
                druid.request("DELETE", _PATH.format(part, kind, each), server="coordinator")


def _post(druid: Druid, part: str, kind: str, name: str, body: object = None) -> None:
    druid.request("POST", _PATH.format(part, kind, name), body, server="coordinator")


def _may_read(client: DruidClient, path: str) -> bool:
    try:
        client.get(path)
    except (Unauthorized, Forbidden):
        return False
    except ApiError:
        return True
    return True
