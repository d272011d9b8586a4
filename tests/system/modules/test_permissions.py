# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of permissions, on a Druid with basic security: exactly these suffice, and without one it is named."""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._http.client import Connection, DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._operations import module as _module
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_lookups import remove_lookups
from ansible_collections.druidops.druid.tests.system.support.druid_users import Right, remove_users, user_with
from testbed.druid.druid import Druid
from testbed.druid_plugin import druid_basic, share_druid

__all__ = ["druid_basic", "share_druid"]

# some rows change a configuration that a Druid has once
pytestmark = pytest.mark.xdist_group("permissions")

TABLE: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("permissions.yml").read_text(encoding="utf-8"))
ROWS = {f"{row['module']}, {row['operation']}": row for row in TABLE if "arguments" in row}
PROVEN = sorted({row["module"] for row in ROWS.values()})
LACKING = {f"{name}, {right}": (row, right) for name, row in ROWS.items() for right in row["permissions"]}
PLUGINS = Path(_module.__file__).parents[2]


@pytest.fixture
def name(druid_basic: Druid) -> Iterator[str]:
    """A new name; afterwards no supervisor, task, rule, lookup, segment, configuration or user has it in its name."""
    name = f"p{secrets.token_hex(4)}"
    yield name
    for method, path, body in leftovers(druid_basic):
        if name in path:
            druid_basic.request(method, path, body)
    for worker in druid_basic.request("GET", "/druid/indexer/v1/workers"):
        druid_basic.request("POST", f"/druid/indexer/v1/worker/{worker['worker']['host']}/enable")
    remove_users(druid_basic, name)
    remove_lookups(druid_basic, name)


def leftovers(druid: Druid) -> Iterator[tuple[str, str, Any]]:
    """Yield the requests that remove all that modules may have created."""
    indexer, coordinator = "/druid/indexer/v1", "/druid/coordinator/v1"
    for supervisor in druid.request("GET", f"{indexer}/supervisor"):
        yield "POST", f"{indexer}/supervisor/{supervisor}/terminate", None
    for task in druid.request("GET", f"{indexer}/runningTasks"):
        yield "POST", f"{indexer}/task/{task['id']}/shutdown", None
    for datasource in druid.request("GET", f"{coordinator}/rules"):
        yield "POST", f"{coordinator}/rules/{datasource}", []
    for datasource in druid.request("GET", f"{coordinator}/metadata/datasources"):
        yield "DELETE", f"{coordinator}/datasources/{datasource}", None
    for config in druid.request("GET", f"{coordinator}/config/compaction").get("compactionConfigs") or ():
        yield "DELETE", f"{coordinator}/config/compaction/{config['dataSource']}", None


def administrator(druid: Druid) -> Connection:
    login = druid.credentials
    assert login is not None
    return Connection(urls=(druid.url,), username=login.username, password=login.password)


def run(connection: Connection, module: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run a module as Ansible does, in a process of its own."""
    options = {"url": connection.urls[0], "username": connection.username, "password": connection.password}
    process = subprocess.run(
        [sys.executable, str(PLUGINS / "modules" / f"{module}.py")],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {**options, "retry_timeout": 5, **arguments}}),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stdout, process.stderr
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def filled(value: Any, name: str) -> Any:
    return json.loads(json.dumps(value).replace("@name@", name))


def perform(druid: Druid, connection: Connection, row: dict[str, Any], name: str) -> dict[str, Any]:
    """Prepare the row with all permissions, then run its operation with those of the connection."""
    for each in filled(row.get("before", []), name):
        for module, arguments in each.items():
            prepared = run(administrator(druid), module, arguments)
            assert not prepared.get("failed"), prepared
    return run(connection, row["module"], filled(row["arguments"], name))


def rights_of(row: dict[str, Any], name: str) -> list[Right]:
    return [Right.parse(text) for text in filled(row["permissions"], name)]


def found(row: dict[str, Any], result: dict[str, Any], name: str) -> list[Any]:
    """Return what a list in the result has of the name."""
    return [each for each in result[row["result"]] if name in json.dumps(each)]


@pytest.mark.parametrize("module", PROVEN)
def test_module_with_its_permissions(druid_basic: Druid, name: str, module: str) -> None:
    rows = [(row, f"{name}_{number}") for number, row in enumerate(ROWS.values()) if row["module"] == module]
    rights = dict.fromkeys(right for row, each in rows for right in rights_of(row, each))

    with user_with(druid_basic, rights) as connection:
        for row, each in rows:
            result = perform(druid_basic, connection, row, each)
            assert not result.get("failed"), (row["operation"], result["msg"])


@campaign("each module, by a user with the permissions of all of its operations")
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_operation_with_exactly_its_permissions(druid_basic: Druid, name: str, row: dict[str, Any]) -> None:
    with user_with(druid_basic, rights_of(row, name)) as connection:
        result = perform(druid_basic, connection, row, name)

    assert not result.get("failed"), result["msg"]
    if row.get("omits"):
        assert found(row, result, name)


@campaign("each module, by a user with the permissions of all of its operations")
@pytest.mark.parametrize(("row", "lacking"), LACKING.values(), ids=LACKING)
def test_operation_without_one_permission(druid_basic: Druid, name: str, row: dict[str, Any], lacking: str) -> None:
    missing = Right.parse(filled(lacking, name))
    others = [right for right in rights_of(row, name) if right != missing]

    with user_with(druid_basic, others) as connection:
        result = perform(druid_basic, connection, row, name)

    if missing.action in row.get("omits", ()):
        assert not found(row, result, name)
        return
    assert result.get("failed"), result
    assert "403 Forbidden" in result["msg"]
    # Druid checks a supervisor and a task by their id, and does not say which datasource they have
    resource = rf"{missing.type}(?: {missing.name}\b|, that of (?:supervisor|task) )"
    assert re.search(rf"needs the permissions?\b.* {missing.action} on {resource}", result["msg"]), result["msg"]
    assert str(connection.password) not in json.dumps(result)


def test_a_history_needs_no_further_permission_than_what_it_is_of(druid_basic: Druid, name: str) -> None:
    misspelt = [
        ("dynamic_config", {"coordinator": {"replicantLifetime": 15, "replicantLifetimes": 1}}),
        ("retention_rules", {"datasource": name, "rules": [{"type": "loadForever", "colour": "red"}]}),
    ]
    noop = {"id": name, "spec": {"type": "NoopSupervisorSpec", "dataSources": [name]}}
    for module, arguments in [*misspelt, ("supervisor", noop)]:
        assert not run(administrator(druid_basic), module, arguments).get("failed")

    rights = [Right.parse("CONFIG CONFIG READ"), Right.parse(f"DATASOURCE {name} READ")]
    with user_with(druid_basic, rights) as connection:
        for module, arguments in misspelt:
            result = run(connection, module, arguments)
            assert (result["changed"], len(result["warnings"])) == (False, 1), result
            assert "unknown field" in json.dumps(result["warnings"])
        with DruidClient(connection) as client:
            assert len(client.get(f"/druid/indexer/v1/supervisor/{name}/history")) == 1
