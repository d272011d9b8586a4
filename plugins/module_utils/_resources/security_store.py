# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The records of an authenticator or an authorizer of druid-basic-security: ``/druid-ext/basic-security``."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    NotFound,
    ServerError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import Permission
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, DruidError, InvalidInput


def has_store(client: DruidClient, kind: str) -> bool:
    """Return whether Druid has an authenticator or an authorizer, ``kind``, of basic security."""
    try:
        return bool(_load_status(client, kind))
    except NotFound:
        return False


def _load_status(client: DruidClient, kind: str) -> Any:
    """Return the load status of the Coordinator, which has all of a kind, by name."""
    return client.get(path("druid-ext", "basic-security", _PARTS[kind], "loadStatus"))


# The part of the API for each kind.
_PARTS = {"authenticator": "authentication", "authorizer": "authorization"}


class Store:
    """An authenticator or an authorizer, ``kind``, whose records are in Druid's metadata store.

    ``name``: None for the only one that this Druid has. InvalidInput if it has none or several. ``planned``: in
    check mode, the permissions that roles would have after earlier items of the same call.
    """

    def __init__(self, client: DruidClient, kind: str, name: str | None) -> None:
        self._client = client
        self._kind = kind
        self._part = _PARTS[kind]
        self.name = self._only() if name is None else name
        self.planned: dict[str, list[Permission]] = {}

    def names(self, kind: str) -> list[str]:
        """Return the names of all records of a kind: users, roles, groupMappings."""
        return sorted(self._client.get(self._path(kind)))

    def get(self, kind: str, name: str, **params: Any) -> Any:
        """Return a record, None if there is none. Druid's message about that is not read: it may be masked."""
        try:
            return self._client.get(self._path(kind, name), params)
        except ApiError as error:
            if error.status == HTTPStatus.BAD_REQUEST and name not in self.names(kind):
                return None
            raise

    def post(self, kind: str, *names: str, body: Any = None, idempotent: bool = False) -> None:
        """Create a record, or what the path names."""
        self._client.post(self._path(kind, *names), body, idempotent=idempotent)

    def delete(self, kind: str, name: str) -> None:
        """Delete a record. A repeated request is rejected although the first one has taken effect."""
        try:
            self._client.delete(self._path(kind, name))
        except ApiError as error:
            if error.status != HTTPStatus.BAD_REQUEST or name in self.names(kind):
                raise

    def remove_role(self, kind: str, name: str, role: str) -> None:
        """Take a role from a user or a group mapping, likewise."""
        try:
            self._client.delete(self._path(kind, name, "roles", role))
        except ApiError as error:
            if error.status != HTTPStatus.BAD_REQUEST or role in self.roles_of(kind, name):
                raise

    def roles_of(self, kind: str, name: str) -> list[str]:
        """Return the roles of a user or a group mapping, none if it does not exist."""
        record = self.get(kind, name)
        return sorted(record["roles"]) if record else []

    def permissions(self, roles: Iterable[str]) -> list[Permission]:
        """Return the permissions of these roles together."""
        return [permission for role in roles for permission in self._permissions_of(role)]

    def _permissions_of(self, role: str) -> list[Permission]:
        if role in self.planned:
            return self.planned[role]
        record = self.get("roles", role, full=True, simplifyPermissions=True)
        return record["permissions"] if record else []

    def _path(self, *names: str) -> str:
        return path("druid-ext", "basic-security", self._part, "db", self.name, *names)

    def _only(self) -> str:
        """Return the name of the only one."""
        found = sorted(_load_status(self._client, self._kind))
        if not found:
            remedy = "Druid has none of basic security. Load the extension druid-basic-security"
            raise InvalidInput(self._kind, NOT_SET, remedy)
        if len(found) > 1:
            raise InvalidInput(self._kind, NOT_SET, f"Druid has several: {', '.join(found)}. Set one of them")
        return found[0]


# How long other servers may take to learn of a change: they ask for it every 60 s, with a delay of up to 6 s.
PROPAGATION = 75.0
# Only who manages users may read it. A Router passes it on, so that its answer shows the login at both servers.
_MANAGES = path("druid-ext", "basic-security", "authorization", "loadStatus")
# Of a Router, which passes all but the first on: the Router, the Coordinator, the Overlord, a Broker.
_STATUS = path("status")
_WITH_LOGIN = (
    _STATUS,
    path("druid", "coordinator", "v1", "config"),
    path("druid", "indexer", "v1", "worker"),
    path("druid", "v2", "datasources"),
)


def refusal(client: DruidClient) -> DruidError | None:
    """Return why the login of the client cannot manage users now, None if it can."""
    return _error(client, _MANAGES)


def unknown_at(login: DruidClient, reference: DruidClient) -> DruidError | None:
    """Return the response of a server that does not know a login yet, None if there is none. Unreachable if it is lost.

    The login may lack the permission for the request, or the server may not have its path. A server that knows the user
    only in part responds with 500. One that responds so to the ``reference`` as well is down, and shows nothing.
    """
    return next((error for each in _WITH_LOGIN if (error := _unknown(login, reference, each))), None)


def _unknown(login: DruidClient, reference: DruidClient, where: str) -> DruidError | None:
    error = _error(login, where)
    if isinstance(error, Unreachable) and not (error.is_transient or error.is_timeout):
        raise error
    is_down = where != _STATUS and isinstance(error, ServerError) and isinstance(_error(reference, where), ServerError)
    return error if isinstance(error, Unauthorized | ServerError | Unreachable) and not is_down else None


def _error(client: DruidClient, where: str) -> DruidError | None:
    try:
        client.get(where)
    except (ApiError, Unreachable) as error:
        return error
    return None
