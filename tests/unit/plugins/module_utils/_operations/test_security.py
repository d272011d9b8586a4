# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, roles and group mappings where a login has its roles by a group, and where servers are down or respond late.

Basic security in memory. What a real Druid can show is in tests/system/modules/test_security.py.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import (
    GROUP_MAPPINGS,
    ROLES,
    USERS,
    RecordKind,
    ensure,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources import security
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import PartialFailure
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import Server, say, serving

__all__ = ["fake_time"]

MANAGES = [{"resource": {"type": "CONFIG", "name": "security"}, "action": action} for action in ("READ", "WRITE")]
API = "/druid-ext/basic-security/"
DEFAULTS = {
    "state": "present",
    "wait": False,
    "wait_timeout": 0.0,
    "initial_password": None,
    "internal_user": "druid_system",
    "allow_lock_out": False,
    "update_password": "always",
}


class BasicSecurity:
    """Its records, and a directory in which ``ldapadmin`` is in a group: ``admins`` gives that all rights.

    ``answers``: instead of those of a path. ``late``: who still logs in with the former password. ``ignored``: the
    roles whose permissions do not change. ``unsecured``: paths that need no login.
    """

    def __init__(self, server: Server, fake_time: FakeTime) -> None:
        self.passwords = {"admin": "secret", "ldapadmin": "secret", "druid_system": "internal"}
        self.late: dict[str, str] = {}
        self.records: dict[str, dict[str, Any]] = {
            "users": {"admin": {"roles": ["adm"]}},
            "roles": {"adm": {"permissions": MANAGES}, "other": {"permissions": []}},
            "groupMappings": {"admins": {"groupPattern": "CN=admins", "roles": ["adm"]}},
        }
        self.answers: dict[str, Any] = {}
        self.ignored: tuple[str, ...] = ()
        self.unsecured: tuple[str, ...] = ()
        self._server, self._fake_time = server, fake_time
        server.routes = {"/druid/coordinator/v1/isLeader": [say(200, {"leader": True})]}
        server.answers = [self._answer]

    def ensure(
        self, kind: RecordKind, *, login: str = "admin", password: str = "secret", **params: Any
    ) -> dict[str, Any]:
        """Return the result of a module."""
        self._server.asked.clear()
        check_mode = params.pop("check_mode", False)
        stores = {"authorizer": "basic", **({"authenticator": "basic"} if kind is USERS else {})}
        params = {kind.options.many: None, **dict.fromkeys(kind.options.one), **DEFAULTS, **stores, **params}
        client = self._fake_time.client(self._server.url, username=login, password=password, retry_timeout=0)
        return ensure(kind, client, params, check_mode=check_mode)

    @property
    def writes(self) -> list[str]:
        paths = (each for each in self._server.paths if not each.startswith("GET"))
        return [each.replace(f"{API}authorization/db/basic/", "") for each in paths]

    def _answer(self, handler: Any) -> None:
        asked = self._server.asked[-1]
        path = asked.path.partition("?")[0]
        text = base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")).decode()
        user, _colon, password = text.partition(":")
        if path in self.answers:
            say(*self.answers[path])(handler)
        elif path not in self.unsecured and self.late.get(user, self.passwords.get(user)) != password:
            say(401, {"error": "Unauthorized"})(handler)
        elif not path.startswith(API):
            say(200, {"version": "27.0.0"} if path == "/status" else {} if path.endswith("/worker") else [])(handler)
        elif not self._manages(user):
            say(403, {"Access-Check-Result": "Unauthorized"})(handler)
        else:
            say(*self._response(asked.method, path.removeprefix(API), json.loads(asked.body or b"null")))(handler)

    def _manages(self, user: str) -> bool:
        roles = {*self.records["users"].get(user, {"roles": []})["roles"]}
        for mapping in self.records["groupMappings"].values():
            is_member = user == "ldapadmin" and "CN=admins".endswith(mapping["groupPattern"].lstrip("*"))
            roles |= {*mapping["roles"]} if is_member else set()
        return any(self.records["roles"].get(role, {"permissions": []})["permissions"] == MANAGES for role in roles)

    def _response(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        part, place, *names = path.split("/")
        if place == "loadStatus":
            return 200, {"basic": True}
        if part == "authentication":
            return self._of_authenticator(method, names[2:], body)
        kind, *rest = names[1:]
        records = self.records[kind]
        if not rest:
            return 200, [*records]
        if rest[0] not in records and (method, len(rest)) != ("POST", 1):
            return 400, {"error": f"{kind} {rest[0]} does not exist."}
        if len(rest) == 3:
            return self._of_role(method, records[rest[0]]["roles"], rest[2])
        return self._of_record(method, kind, rest, body)

    def _of_record(self, method: str, kind: str, rest: list[str], body: Any) -> tuple[int, Any]:
        records, name = self.records[kind], rest[0]
        if method == "GET":
            more = {"users": [], "groupMappings": []} if kind == "roles" else {}
            return 200, {"name": name, **more, **records[name]}
        if method == "DELETE":
            del records[name]
        elif len(rest) == 1 and name in records:
            return 400, {"error": "It exists."}
        elif len(rest) == 1:
            records[name] = {"permissions": []} if kind == "roles" else {"roles": [], **(body or {})}
        elif name not in self.ignored:
            records[name]["permissions"] = body
        return 200, b""

    def _of_role(self, method: str, roles: list[str], role: str) -> tuple[int, Any]:
        if role not in self.records["roles"]:
            return 400, {"error": f"Role [{role}] does not exist."}
        if method == "POST":
            roles.append(role)
        else:
            roles.remove(role)
        return 200, b""

    def _of_authenticator(self, method: str, names: list[str], body: Any) -> tuple[int, Any]:
        name = names[0] if names else ""
        if not names:
            return 200, [*self.passwords]
        if method == "POST":
            if len(names) == 2:
                self.passwords[name] = body["password"]
            return 200, b""
        salt, password = b"salt", self.passwords[name].encode()
        digest = hashlib.pbkdf2_hmac("sha512", password, salt, 10, 64)
        salted = {"salt": base64.b64encode(salt).decode(), "hash": base64.b64encode(digest).decode(), "iterations": 10}
        return 200, {"name": name, "credentials": salted}


@pytest.fixture
def druid(fake_time: FakeTime) -> Iterator[BasicSecurity]:
    with serving() as server:
        yield BasicSecurity(server, fake_time)


LDAP = {"login": "ldapadmin", "id": "admins"}


def test_mapping_that_the_login_needs_is_kept_until_it_is_replaced(druid: BasicSecurity) -> None:
    change = {**LDAP, "group_pattern": "*admins"}
    with pytest.raises(PartialFailure, match=r"of group mapping 'admins' permissions .* or set allow_lock_out: true"):
        druid.ensure(GROUP_MAPPINGS, **change)
    assert not druid.writes

    result = druid.ensure(GROUP_MAPPINGS, allow_lock_out=True, **change, roles=["adm", "other"])
    assert "is unknown" in " ".join(result["warnings"])
    assert druid.records["groupMappings"].keys() == {"admins"}
    assert druid.records["groupMappings"]["admins"]["groupPattern"] == "*admins"


def test_interrupted_replacement_is_completed(druid: BasicSecurity) -> None:
    mappings = druid.records["groupMappings"]
    mappings["admins__former"] = mappings.pop("admins")
    result = druid.ensure(GROUP_MAPPINGS, id="admins")
    assert (result["roles"], result["group_pattern"]) == (["adm"], "CN=admins")
    assert druid.writes == ["POST groupMappings/admins", "DELETE groupMappings/admins__former"]
    assert not druid.ensure(GROUP_MAPPINGS, id="admins")["changed"]


def test_role_that_does_not_exist_is_removed_from_a_mapping(druid: BasicSecurity) -> None:
    druid.records["groupMappings"]["admins"]["roles"].append("ghost")
    assert druid.ensure(GROUP_MAPPINGS, id="admins", roles=["adm"])["roles"] == ["adm"]
    assert druid.records["groupMappings"].keys() == {"admins"}


OWN = {"id": "admin", "user_password": "new one"}


@pytest.mark.parametrize("answer", [(500, {"error": "No server"}), (404, "<html>Not found</html>")])
def test_own_password_does_not_depend_on_other_servers(druid: BasicSecurity, answer: tuple[int, Any]) -> None:
    druid.answers["/druid/v2/datasources"] = answer
    assert not druid.ensure(USERS, **OWN)["warnings"]
    assert druid.passwords["admin"] == "new one"


def test_own_password_that_is_accepted_late_is_a_change(druid: BasicSecurity, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certain response is enough. What the module sends next has the new password."""
    monkeypatch.setattr(security, "PROPAGATION", 0)
    druid.answers[f"{API}authorization/loadStatus"] = (500, {"error": "not yet"})
    result = druid.ensure(USERS, **OWN)
    assert result["changed"]
    assert "The password is changed. Timed out" in result["warnings"][0]
    assert "not yet" in result["warnings"][0]


def test_server_that_is_down_is_not_waited_for(druid: BasicSecurity) -> None:
    user = {"id": "someone", "user_password": "of someone", "roles": ["other"], "wait": True}
    druid.passwords["someone"] = "another one"
    druid.records["users"]["someone"] = {"roles": ["other"]}
    druid.answers["/druid/v2/datasources"] = (500, {"error": "No server"})
    assert druid.ensure(USERS, **user)["changed"]

    druid.late["someone"] = "another one"
    with pytest.raises(PartialFailure, match=r"Timed out after 0 s waiting for the login of someone\. .* 401 "):
        druid.ensure(USERS, **user)


def test_initial_password_where_the_status_needs_no_login(druid: BasicSecurity) -> None:
    druid.unsecured = ("/status",)
    result = druid.ensure(USERS, password="new one", initial_password="secret", **OWN)
    assert result["changed"]
    assert not druid.ensure(USERS, password="new one", initial_password="secret", **OWN)["changed"]


def test_initial_password_is_not_kept(druid: BasicSecurity) -> None:
    with pytest.raises(PartialFailure, match=r"update_password \('on_create'\): .* Set always"):
        druid.ensure(USERS, password="new one", initial_password="secret", update_password="on_create", **OWN)


@pytest.mark.parametrize("internal", ["druid_system", "servers"])
def test_password_of_the_servers(druid: BasicSecurity, internal: str) -> None:
    druid.passwords["servers"] = "internal"
    change = {"id": internal, "user_password": "new one", "internal_user": internal}
    with pytest.raises(PartialFailure, match=r"internalClientPassword of all .* or set allow_lock_out: true"):
        druid.ensure(USERS, **change)
    assert "internalClientPassword" in druid.ensure(USERS, allow_lock_out=True, **change)["warnings"][0]


def test_new_role_with_rejected_permissions_does_not_stay(druid: BasicSecurity) -> None:
    druid.answers[f"{API}authorization/db/basic/roles/new/permissions"] = (400, {"error": "regex"})
    broken = [{"resource": {"type": "DATASOURCE", "name": "("}, "action": "READ"}]
    assert "no regular expression" in druid.ensure(ROLES, id="new", permissions=broken, check_mode=True)["warnings"][0]
    with pytest.raises(PartialFailure, match="400 Bad Request: regex") as failed:
        druid.ensure(ROLES, id="new", permissions=broken)
    assert not failed.value.result["changed"]
    assert "new" not in druid.records["roles"]


@pytest.mark.parametrize("params", [{"id": "someone", "user_password": "of someone"}, {"id": "admin"}])
def test_role_of_an_earlier_task_is_a_warning_in_check_mode(druid: BasicSecurity, params: dict[str, str]) -> None:
    druid.passwords["someone"] = "another one"
    result = druid.ensure(USERS, roles=["nope"], check_mode=True, **params)
    assert 'roles (["nope"]): does not exist' in result["warnings"][0]
    with pytest.raises(PartialFailure, match="does not exist"):
        druid.ensure(USERS, roles=["nope"], **params)
    assert not druid.writes


def test_change_that_druid_has_not_stored_is_an_error(druid: BasicSecurity) -> None:
    druid.ignored = ("other",)
    with pytest.raises(PartialFailure, match="accepted the change of role 'other', and has another state now"):
        druid.ensure(ROLES, id="other", permissions=MANAGES)
