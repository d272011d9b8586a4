# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Users, roles and group mappings on a Druid with basic security: no lock-out, no password shown, a fresh cluster."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations.security import (
    GROUP_MAPPINGS,
    ROLES,
    USERS,
    RecordKind,
    ensure,
    info,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, PartialFailure
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.druid_modules import modules_on
from ansible_collections.druidops.druid.tests.system.support.druid_users import remove_users
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid_basic, share_druid
from testbed.proxy import Answer, Loss
from testbed.recording_proxy import SERVER_ERROR_PAGE, RecordingProxy, recording_proxy

__all__ = ["druid_basic", "share_druid"]

# the login of the module is a user like any other, so that the tests share one Druid
pytestmark = pytest.mark.xdist_group("permissions")
# The names are set, since each request costs two servers a comparison of passwords.
STORES = {"authenticator": "basic", "authorizer": "basic"}
MANAGES = [{"resource": {"type": "CONFIG", "name": "security"}, "action": action} for action in ("READ", "WRITE")]
DEFAULTS = {
    "state": "present",
    "wait": False,
    "wait_timeout": 120,
    "initial_password": None,
    "internal_user": "druid_system",
    "allow_lock_out": False,
}
READS = [{"resource": {"type": "STATE", "name": "STATE"}, "action": "READ"}]


class Security:
    """Runs the logic of the modules with one login, through a proxy that counts requests and injects failures."""

    def __init__(self, proxy: RecordingProxy, username: str, password: str) -> None:
        self.proxy = proxy
        self.client = DruidClient(Connection(urls=(proxy.url,), username=username, password=password, retry_timeout=5))

    def __call__(self, kind: RecordKind, *, check_mode: bool = False, **params: Any) -> dict[str, Any]:
        """Return the result. ``changed`` is true exactly if a write was sent, and in check mode none is."""
        self.proxy.forget()
        one = dict.fromkeys(kind.options.one)
        if items := params.get(kind.options.many):
            params = {**params, kind.options.many: [{**one, **item} for item in items]}
        options = {kind.options.many: None, **one, **DEFAULTS, **params}
        result = ensure(kind, self.client, {**stores_of(kind), **options}, check_mode=check_mode)
        assert bool(self.proxy.writes) == (result["changed"] and not check_mode)
        return result

    def refused(self, kind: RecordKind, **params: Any) -> str:
        """Return the message of a call that fails, and sends nothing, also in check mode."""
        messages = set()
        for check_mode in (True, False):
            with pytest.raises(PartialFailure) as failed:
                self(kind, check_mode=check_mode, **params)
            assert not self.proxy.writes
            messages.add(str(failed.value))
        [message] = messages
        return message


def stores_of(kind: RecordKind) -> dict[str, str]:
    """The options for where the records are; the only store that has roles is the authorizer."""
    return STORES if kind is USERS else {"authorizer": "basic"}


@pytest.fixture
def proxy(druid_basic: Druid) -> Iterator[RecordingProxy]:
    # the matrix goes through the Router
    with recording_proxy(replace(druid_basic.upstream, url=druid_basic.coordinator_url)) as recording:
        yield recording


@pytest.fixture
def administrator(druid_basic: Druid, proxy: RecordingProxy) -> Security:
    login = druid_basic.credentials
    assert login is not None
    return Security(proxy, login.username, login.password)


@pytest.fixture
def name(druid_basic: Druid) -> Iterator[str]:
    """A name of users, roles and group mappings; none that begins with it outlives the test."""
    name = f"s{secrets.token_hex(4)}"
    yield name
    remove_users(druid_basic, name)


@pytest.fixture
def own(administrator: Security, proxy: RecordingProxy, name: str) -> Security:
    """A login that manages users by one role, and may read the state by another."""
    administrator(ROLES, roles=[{"id": name, "permissions": MANAGES}, {"id": f"{name}_reads", "permissions": READS}])
    administrator(USERS, id=name, user_password="initial", roles=[name, f"{name}_reads"], wait=True)
    return Security(proxy, name, "initial")


MATRIX = Path(__file__).with_name("matrix") / "security.yml"
KINDS = {"user": USERS, "role": ROLES, "group_mapping": GROUP_MAPPINGS}


def test_matrix_in_process(administrator: Security, name: str) -> None:
    """The operations of the matrix, without ansible-playbook: in check mode, then not, then both again."""
    text = MATRIX.read_text(encoding="utf-8").replace("@name@", name).replace("/proxy/coordinator", "")
    matrix = yaml.safe_load(text)
    for operation, specified in matrix.items():
        module = specified.get("module", matrix["module"]) if isinstance(specified, dict) else ""
        if kind := KINDS.get(module.removesuffix("_info")):
            verify_operation(administrator, operation, kind, specified, is_info=module.endswith("_info"))


def verify_operation(
    administrator: Security, operation: str, kind: RecordKind, specified: dict[str, Any], *, is_info: bool
) -> None:
    arguments = specified["arguments"]
    if is_info:
        found = info(kind, administrator.client, {**stores_of(kind), **arguments})
        assert [each["id"] for each in found] == specified["ids"][kind.options.many], operation
        return
    due = "writes" in specified
    for check_mode, changed in ((True, due), (False, due), (True, False), (False, False)):
        assert administrator(kind, check_mode=check_mode, **arguments)["changed"] is changed, (operation, check_mode)
        writes = [f"{each.method} {each.path}" for each in administrator.proxy.writes]
        assert writes == (specified["writes"] if changed and not check_mode else []), operation


def test_own_login_is_not_locked_out(own: Security, administrator: Security, name: str) -> None:
    reads = f"{name}_reads"
    for kind, params in (
        (USERS, {"id": name, "state": "absent"}),
        (USERS, {"id": name, "roles": [reads]}),
        (ROLES, {"id": name, "state": "absent"}),
        (ROLES, {"id": name, "permissions": [*MANAGES[:1], *READS]}),
    ):
        assert "Use another login" in own.refused(kind, **params), params

    # what counts are both roles together, also in check mode
    assert own(ROLES, id=reads, permissions=[*READS, *MANAGES])["changed"]
    both = [{"id": name, "permissions": READS}, {"id": reads, "state": "absent"}]
    with pytest.raises(PartialFailure, match=r"^roles\[1\]: .* Use another login"):
        own(ROLES, check_mode=True, roles=both)
    assert own(ROLES, id=reads, permissions=[*READS, *MANAGES[1:]])["changed"]
    assert own(ROLES, id=name, permissions=MANAGES[:1])["changed"]
    assert "Use another login" in own.refused(USERS, id=name, roles=[name])

    # what leaves the access as it is
    assert own(ROLES, id=name, permissions=MANAGES)["changed"]
    assert own(USERS, id=name, roles=[name])["changed"]
    assert administrator(USERS, id=name, roles=[])["changed"]


def test_user_of_the_servers_keeps_what_it_has(administrator: Security) -> None:
    """Its password may be changed with allow_lock_out: only predicted, since others share this Druid."""
    for kind, params in (
        (USERS, {"id": "druid_system", "state": "absent"}),
        (USERS, {"id": "druid_system", "roles": []}),
        (ROLES, {"id": "druid_system", "state": "absent"}),
        (ROLES, {"id": "druid_system", "permissions": MANAGES}),
    ):
        assert "log in to one another" in administrator.refused(kind, **params), params
    password = {"id": "druid_system", "user_password": "another one"}
    assert "internalClientPassword" in administrator.refused(USERS, **password)
    planned = administrator(USERS, check_mode=True, allow_lock_out=True, **password)
    assert "internalClientPassword" in " ".join(planned["warnings"])


def test_fresh_cluster_in_one_run(own: Security, proxy: RecordingProxy, name: str) -> None:
    """The login has the initial password. Later runs of the same tasks change nothing."""
    password = secrets.token_hex(8)
    both: list[tuple[RecordKind, dict[str, Any]]] = [
        (USERS, {"id": name, "user_password": password, "initial_password": "initial"}),
        (ROLES, {"id": f"{name}_clicks", "permissions": json.dumps(READS)}),
        (USERS, {"id": f"{name}_user", "user_password": "of a user", "roles": [f"{name}_clicks"], "wait": True}),
    ]
    login = Security(proxy, name, password)
    assert login(USERS, check_mode=True, **both[0][1])["changed"]

    first = [login(kind, **params) for kind, params in both]
    second = [login(kind, **params) for kind, params in both]

    assert [each["changed"] for each in first] == [True, True, True]
    assert [each["changed"] for each in second] == [False, False, False]
    [known] = info(USERS, login.client, {"id": f"{name}_user", **STORES})
    assert known == {"id": f"{name}_user", "roles": [f"{name}_clicks"], "has_password": True}
    with Security(proxy, f"{name}_user", "of a user").client as user:
        assert user.version_text


def test_own_login_comes_last(own: Security, name: str) -> None:
    users = [
        {"id": name, "user_password": "another one"},
        {"id": f"{name}_user", "user_password": "of a user", "roles": []},
    ]
    result = own(USERS, users=users)
    assert [(each["id"], each["changed"]) for each in result["users"]] == [(name, True), (f"{name}_user", True)]


def test_own_password_with_a_lost_response(own: Security, proxy: RecordingProxy, name: str) -> None:
    """It is not sent twice. The logins show whether it took effect."""
    proxy.fail_next(Loss.REFUSED, method="POST", path="credentials$")
    with pytest.raises(PartialFailure, match="unchanged"):
        own(USERS, id=name, user_password="another one")
    proxy.fail_next(Loss.CUT, method="POST", path="credentials$")
    result = own(USERS, id=name, user_password="another one")
    assert result["changed"]
    assert "took effect despite this error" in " ".join(result["warnings"])
    assert len(proxy.writes) == 1
    assert not Security(proxy, name, "another one")(USERS, id=name, user_password="another one")["changed"]


# In the order in which they are sent.
OF_USER = ("authorization.*/users/\\w+$", "roles/\\w+$", "authentication.*/users/\\w+$", "credentials$")


@pytest.mark.parametrize("path", only_first(1, reversed(OF_USER), "the last request"))
def test_lost_response(administrator: Security, name: str, path: str) -> None:
    """Whatever response is lost, the next run completes the user."""
    administrator(ROLES, id=name, permissions=READS)
    user = {"id": name, "user_password": "of a user", "roles": [name]}
    administrator.proxy.fail_next(Loss.CUT, method="POST", path=path)
    with suppress(PartialFailure):
        administrator(USERS, **user)

    administrator(USERS, **user)
    assert not administrator(USERS, **user)["changed"]


def test_repeated_removal(administrator: Security, name: str) -> None:
    """The client repeats a DELETE whose response is lost. Druid rejects the second one."""
    administrator(ROLES, id=name, permissions=READS)
    administrator(USERS, id=name, user_password="of a user", roles=[name])
    for params in ({"roles": []}, {"state": "absent"}):
        administrator.proxy.fail_next(Loss.CUT, method="DELETE")
        assert administrator(USERS, id=name, **params)["changed"]
        assert not administrator(USERS, id=name, **params)["changed"]


REJECTED = Answer(400, (("Content-Type", "application/json"),), b'{"error": "no"}')


def test_part_of_a_change_is_a_change(administrator: Security, name: str) -> None:
    administrator.proxy.fail_next(REJECTED, path="credentials$")
    with pytest.raises(PartialFailure, match=r"no\. 2 of the requests for user .* took effect") as failed:
        administrator(USERS, id=name, user_password="of a user")
    assert failed.value.result["changed"]
    assert administrator(USERS, id=name, user_password="of a user", update_password="on_create")["changed"]


@pytest.mark.parametrize("update_password", ["always", "on_create"])
def test_new_user_is_waited_for(administrator: Security, name: str, update_password: str) -> None:
    """A server that knows the user only in part responds with 500."""
    user = {"id": name, "user_password": "of a user", "update_password": update_password, "wait": True}
    administrator.proxy.fail_next(SERVER_ERROR_PAGE, method="GET", path="^/status")
    assert administrator(USERS, **user)["changed"]
    assert not administrator.proxy.unmet


@pytest.mark.parametrize(
    ("message", "params"),
    [
        ("id ('a:b')", {"id": "a:b", "user_password": "of a user"}),
        ("user_password: a password must not be", {"user_password": "of:a user"}),
        ("user_password: a password must not be", {"user_password": ""}),
        ("user_password: a password must not be", {"user_password": "of a user\n"}),
        ("user_password: the option authenticator is empty", {"user_password": "of a user", "authenticator": ""}),
        ("roles: the option authorizer is empty", {"roles": [], "authorizer": ""}),
    ],
)
def test_no_possible_login(administrator: Security, name: str, message: str, params: dict[str, str]) -> None:
    assert administrator.refused(USERS, **{"id": name, **params}).startswith(message)


def test_initial_password_that_is_no_possible_login(administrator: Security, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^initial_password: a password must not be"):
        administrator(USERS, id=name, state="absent", initial_password="a:b")


def test_messages(administrator: Security, name: str) -> None:
    with pytest.raises(PartialFailure, match=r"roles \(\[\"missing\"\]\): does not exist. Create roles first"):
        administrator(USERS, id=name, user_password="of a user", roles=["missing"])
    assert not administrator.proxy.writes
    with pytest.raises(PartialFailure, match=r"roles \(\[\"missing\"\]\)"):
        administrator(GROUP_MAPPINGS, id=name, group_pattern="*,DC=example,DC=com", roles=["missing"])
    assert administrator.refused(USERS, id=name, roles=[]).startswith(
        f"user_password: user {name!r} does not exist yet"
    )
    assert administrator.refused(ROLES, id=name, permissions=[]).startswith("permissions ([]): set at least one")
    typo = [{"resource": {"type": "DATASORCE", "name": name}, "action": "READ"}]
    assert re.search(
        "no resources of type DATASORCE", " ".join(administrator(ROLES, id=name, permissions=typo)["warnings"])
    )
    wrong = [{"resource": {"type": "DATASOURCE", "name": "("}, "action": "READ"}]
    with pytest.raises(PartialFailure, match=r"regex\[\(\] does not compile"):
        administrator(ROLES, id=f"{name}_wrong", permissions=wrong)
    assert not info(ROLES, administrator.client, {"id": f"{name}_wrong", **stores_of(ROLES)})
    assert "permissions[0].action" in administrator.refused(ROLES, id=name, permissions=[{**wrong[0], "action": "x"}])


@pytest.mark.parametrize(
    ("method", "suffix"), [("POST", "__former"), ("DELETE", ""), ("POST", ""), ("DELETE", "__former")]
)
def test_group_mapping_survives_an_interrupted_change(
    administrator: Security, name: str, method: str, suffix: str
) -> None:
    """The former pattern and roles, or the new ones, are there at each request. The next run completes the change."""
    administrator(ROLES, id=name, permissions=READS)
    former = {"group_pattern": "*,DC=example,DC=com", "roles": [name]}
    change = {"id": name, "group_pattern": "*,DC=example,DC=org"}
    administrator(GROUP_MAPPINGS, id=name, **former)
    administrator.proxy.fail_next(REJECTED, method=method, path=f"{name}{suffix}$")
    with pytest.raises(PartialFailure):
        administrator(GROUP_MAPPINGS, **change)

    found = info(GROUP_MAPPINGS, administrator.client, {"id": None, **stores_of(GROUP_MAPPINGS)})
    assert any(each["id"].startswith(name) and each.items() >= former.items() for each in found)
    warnings = administrator(GROUP_MAPPINGS, **change)["warnings"]
    assert any("An interrupted change" in each for each in warnings) == ((method, suffix) != ("POST", "__former"))
    assert not administrator(GROUP_MAPPINGS, **change)["changed"]


def test_no_password_is_shown(druid_basic: Druid, name: str, tmp_path: Path) -> None:
    """Not with -vvv and --diff, of a new user, of one whose password changes, and of one that fails."""
    passwords = [secrets.token_hex(12) for _number in range(3)]
    users: list[dict[str, Any]] = [
        {"id": name, "user_password": passwords[0], "roles": []},
        {"users": [{"id": name, "user_password": passwords[1]}], "initial_password": passwords[2]},
        {"id": name, "user_password": passwords[2], "roles": ["missing"], "update_password": "on_create"},
    ]
    tasks = [{"druidops.druid.user": each, "ignore_errors": True} for each in users]
    with modules_on(druid_basic, tmp_path) as modules:
        run = modules.ansible.tasks(*tasks, options=("-vvv", "--diff"), environment=modules.environment)

    assert re.search(r'\+ +"password_is_set": true', run.output)
    assert "does not exist. Create roles first" in run.output
    assert '"update_password": "on_create"' in run.output
    assert not [password for password in passwords if password in run.output]
