# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DruidRole and DruidUser on a real Druid with basic security: passwords of Secrets, and no lock-out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._resources.security_store import refusal
from ansible_collections.druidops.druid.plugins.module_utils._spec.security import is_password
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.kinds import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.role import ROLE
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.user import USER
from ansible_collections.druidops.druid.tests.system.support.certificates import PERMITTED
from ansible_collections.druidops.druid.tests.system.support.druid_users import remove_users
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.objects_in_process import Objects, objects
from testbed.druid.druid import Druid

# the login of the operator is a user like any other, so that the tests share one Druid
pytestmark = pytest.mark.xdist_group("permissions")

PASSWORD, ROTATED = "hunter2-the-canary", "hunter3-the-canary"
READS = {"resource": {"type": "STATE", "name": "STATE"}, "action": "READ"}
MANAGES = [{"resource": {"type": "CONFIG", "name": "security"}, "action": action} for action in ("READ", "WRITE")]
PATH = "/druid-ext/basic-security/{}/db/basic/{}/{}"


@pytest.fixture
def roles(live: NamespaceClient, druid_basic: Druid) -> Iterator[Objects]:
    with objects(ROLE, live, druid_basic) as created:
        yield created
        remove_users(druid_basic, created.name)


@pytest.fixture
def users(live: NamespaceClient, druid_basic: Druid) -> Iterator[Objects]:
    with objects(USER, live, druid_basic) as created:
        live.create(secret(created.name, PASSWORD))
        yield created
        remove_users(druid_basic, created.name)


def secret(name: str, password: str) -> dict[str, Any]:
    """Return the Secret with the password of a user."""
    metadata = {"name": name, "annotations": PERMITTED}
    return {"kind": "Secret", "metadata": metadata, "stringData": {"password": password}}


def found(existing: Objects, part: str, kind: str, name: str = "") -> Any:
    """Return a record in Druid, None if there is none."""
    names = existing.druid.request("GET", PATH.format(part, kind, "").rstrip("/"), server="coordinator")
    path = PATH.format(part, kind, name or existing.name)
    return (
        existing.druid.request("GET", f"{path}?full", server="coordinator") if path.rsplit("/", 1)[1] in names else None
    )


def has_password(users: Objects, password: str, name: str = "") -> bool:
    """Return whether Druid has this password of the user."""
    path = PATH.format("authentication", "users", name or users.name)
    return is_password(password, users.druid.request("GET", path, server="coordinator")["credentials"])


def of_secret(users: Objects) -> dict[str, str]:
    return {"name": users.name, "key": "password"}


def test_role_is_created_corrected_and_removed(roles: Objects) -> None:
    roles.create(permissions=[READS])
    assert roles.done(roles.settled()) == [f"create role {roles.name}"]
    assert roles.condition("Ready") == ("True", "Applied")
    # another client adds a permission
    path = PATH.format("authorization", "roles", f"{roles.name}/permissions")
    roles.druid.request("POST", path, [READS, MANAGES[0]], server="coordinator")
    assert roles.done(roles.one_pass()) == [f"update role {roles.name}"]
    [permission] = found(roles, "authorization", "roles")["permissions"]
    assert permission["resourceAction"]["resource"]["name"] == "STATE"
    roles.delete()
    assert (roles.find(), found(roles, "authorization", "roles")) == (None, None)


def test_user_follows_its_secret_and_shows_no_password(users: Objects) -> None:
    users.create(passwordSecret=of_secret(users), roles=[])
    planned = users.one_pass(check_mode=True)
    outcome = users.settled()
    assert users.done(outcome) == users.done(planned) == [f"create user {users.name}"]
    assert has_password(users, PASSWORD)

    users.live.merge("Secret", users.name, {"stringData": {"password": ROTATED}})
    rotated = users.one_pass()
    assert users.done(rotated) == [f"update user {users.name}"]
    assert len(users.proxy.writes) == 1
    assert has_password(users, ROTATED)
    users.settled()
    shown = [f"{USER.diff(each.plan)} {USER.lines(each.plan)} {each.warnings}" for each in (planned, outcome, rotated)]
    for password in (PASSWORD, ROTATED):
        assert password not in f"{shown} {users.texts()}"

    users.delete()
    assert users.find() is None
    assert found(users, "authentication", "users") is found(users, "authorization", "users") is None


def test_user_waits_for_its_role_and_loses_what_it_does_not_have(users: Objects) -> None:
    users.create(passwordSecret=of_secret(users), roles=[users.name])
    outcome = users.one_pass()
    assert [each.reason for each in outcome.problems] == ["RoleNotFound"]
    assert outcome.problems[0].message.startswith(f'spec.roles (["{users.name}"]): does not exist.')
    assert (users.proxy.writes, users.condition("Ready")) == ([], ("False", "RoleNotFound"))
    for role in (users.name, f"{users.name}-other"):
        users.druid.request("POST", PATH.format("authorization", "roles", role), server="coordinator")
    users.settled()
    path = PATH.format("authorization", "users", f"{users.name}/roles/{users.name}-other")
    users.druid.request("POST", path, server="coordinator")
    users.one_pass()
    assert [each["name"] for each in found(users, "authorization", "users")["roles"]] == [users.name]
    # no longer described: its roles go, and the login stays
    users.change(roles=None)
    users.settled()
    assert found(users, "authorization", "users") is None
    assert has_password(users, PASSWORD)


def test_the_operator_is_not_locked_out(users: Objects, druid_basic: Druid) -> None:
    login = druid_basic.credentials
    assert login is not None
    users.create(id=login.username, passwordSecret=of_secret(users))
    outcome = users.one_pass()
    assert not outcome.changed
    assert outcome.problems[0].message.startswith("spec.passwordSecret: the user is the login of spec.auth.secretRef")
    assert users.condition("Ready") == ("False", "InvalidSpec")
    # with its own password there is nothing to change, but it cannot be removed
    users.live.merge("Secret", users.name, {"stringData": {"password": login.password}})
    users.settled()
    outcome = users.delete()
    assert outcome.problems[0].message.startswith("spec.deletionPolicy ('absent'): the module has logged in as user")
    assert has_password(users, login.password, login.username)
    users.change(deletionPolicy="Retain")
    users.one_pass()
    assert users.find() is None


def test_role_of_the_operator_keeps_its_permissions(users: Objects, live: NamespaceClient, druid_basic: Druid) -> None:
    """Its login has one role, which a DruidRole takes over."""
    for part in ("authentication", "authorization"):
        druid_basic.request("POST", PATH.format(part, "users", users.name), server="coordinator")
    credentials = PATH.format("authentication", "users", f"{users.name}/credentials")
    druid_basic.request("POST", credentials, {"password": PASSWORD}, server="coordinator")
    role = PATH.format("authorization", "roles", users.name)
    druid_basic.request("POST", role, server="coordinator")
    druid_basic.request("POST", f"{role}/permissions", MANAGES, server="coordinator")
    path = PATH.format("authorization", "users", f"{users.name}/roles/{users.name}")
    druid_basic.request("POST", path, server="coordinator")
    login = {"OperatorUserName": users.name, "OperatorPassword": PASSWORD}
    live.merge("Secret", "login", {"stringData": login})
    wait_for_login(druid_basic, users.name)
    roles = Objects(ROLE, live, druid_basic, users.proxy, users.name)
    roles.create(permissions=[READS])
    outcome = roles.one_pass()
    assert not outcome.changed
    assert "would no longer be permitted to manage users" in outcome.problems[0].message
    assert len(found(roles, "authorization", "roles")["permissions"]) == len(MANAGES)


def wait_for_login(druid: Druid, name: str) -> None:
    """Wait until the Router knows the user and its permission, too."""
    connection = Connection(urls=(druid.url,), username=name, password=PASSWORD, retry_timeout=5)
    with DruidClient(connection) as client:
        eventually(lambda: refusal(client) is None)


@pytest.mark.parametrize(
    ("kind", "spec", "reason", "message"),
    [
        ("DruidUser", {}, "InvalidSpec", "spec.passwordSecret: set passwordSecret, roles, or both"),
        (
            "DruidUser",
            {"passwordSecret": {"name": "none", "key": "k"}},
            "SecretNotFound",
            "spec.passwordSecret: there is no Secret none in namespace",
        ),
        (
            "DruidUser",
            {"passwordSecret": {"name": "login", "key": "k"}},
            "SecretNotFound",
            "spec.passwordSecret: Secret login in namespace",
        ),
        ("DruidUser", {"roles": [], "authorizer": "none"}, "RejectedByDruid", "GET http"),
        (
            "DruidUser",
            {"passwordSecret": {"name": "invalid", "key": "password"}},
            "InvalidSpec",
            "spec.passwordSecret (Secret invalid, key password): a password must not be empty",
        ),
        (
            "DruidUser",
            {"passwordSecret": {"name": "secret-of-others", "key": "password"}},
            "RefNotPermitted",
            "spec.passwordSecret: Secret secret-of-others in namespace",
        ),
    ],
)
def test_bad_input_is_named(users: Objects, kind: str, spec: dict[str, Any], reason: str, message: str) -> None:
    users.live.create(secret("invalid", "a:b"))
    # its owner has not permitted to send it anywhere
    users.live.create({**secret("secret-of-others", PASSWORD), "metadata": {"name": "secret-of-others"}})
    existing = Objects(KINDS[kind], users.live, users.druid, users.proxy, users.name)
    existing.create(**spec)
    outcome = existing.one_pass()
    assert [each.reason for each in outcome.problems] == [reason]
    assert outcome.problems[0].message.startswith(message)
    assert not existing.proxy.writes
    assert PASSWORD not in existing.texts()
