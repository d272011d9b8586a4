# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What all modules on Druid's API have in common, seen from outside: a module as a process, as Ansible runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._operations import module as _module
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import BASIC, PASSWORD, USERNAME
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import Server, say, serving

PLUGINS = Path(_module.__file__).parents[2]
ROOT = Path(_module.__file__).parents[6]
QUICK = {"retry_timeout": 0}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        running.answers = [say(200, [])]
        running.routes = {"/druid/indexer/v1/isLeader": [say(200, {"leader": True})]}
        yield running


def run(
    options: dict[str, Any], environment: dict[str, str] | None = None, *first: Path, module: str = "supervisor_info"
) -> dict[str, Any]:
    """Run a module and return its result; nothing else is printed."""
    paths = [*map(str, first), str(ROOT), *(path for path in sys.path if path)]
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths), "LC_ALL": "C.UTF-8"}
    process = subprocess.run(
        [sys.executable, str(PLUGINS / "modules" / f"{module}.py")],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": options}),
        env={**variables, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in process.stderr, process.stderr
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def test_connection_from_the_options(server: Server) -> None:
    result = run({"url": server.url, "username": USERNAME, "password": PASSWORD, **QUICK})
    assert (result.get("failed", False), result["changed"], result["supervisors"]) == (False, False, [])
    assert server.asked[0].headers["authorization"] == BASIC
    assert PASSWORD not in json.dumps(result, ensure_ascii=False)


def test_connection_from_the_environment(server: Server) -> None:
    environment = {
        "DRUID_URL": f"http://127.0.0.1:1,{server.url}",
        "DRUID_USERNAME": USERNAME,
        "DRUID_PASSWORD": PASSWORD,
        "DRUID_VALIDATE_CERTS": "no",
        "DRUID_CONNECT_TIMEOUT": "2.5",
        "DRUID_READ_TIMEOUT": "60",
        "DRUID_RETRY_TIMEOUT": "0",
    }
    result = run({}, environment)
    assert result["supervisors"] == []
    assert server.asked[0].headers["authorization"] == BASIC
    assert PASSWORD not in json.dumps(result, ensure_ascii=False)


def test_option_overrides_the_environment(server: Server) -> None:
    environment = {"DRUID_URL": "http://127.0.0.1:1", "DRUID_TOKEN": "other-token"}
    run({"url": server.url, "token": "this-token", **QUICK}, environment)
    assert server.asked[0].headers["authorization"] == "Bearer this-token"


def test_reports_that_no_server_is_specified() -> None:
    result = run({})
    assert result["failed"]
    assert result["msg"].endswith("Set the option url or the environment variable DRUID_URL.")


def test_error_is_only_the_message(server: Server) -> None:
    server.answers = [say(401, {"error": f"{PASSWORD}?"})]
    result = run({"url": server.url, "username": USERNAME, "password": PASSWORD, **QUICK})
    assert result["failed"]
    assert result["msg"].startswith(f"GET {server.url}/druid/indexer/v1/supervisor")
    assert result["msg"].endswith(
        "returned 401 Unauthorized: ********? Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD)."
    )
    assert "exception" not in result
    assert PASSWORD not in json.dumps(result, ensure_ascii=False)


JDBC = {
    "lookupExtractorFactory": {
        "type": "cachedNamespace",
        "extractionNamespace": {"type": "jdbc", "connectorConfig": {"user": "me", "password": "hunter2 of mine"}},
    }
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("supervisor", {"id": "a", "spec": {"type": "x", "requestHeaders": {"X-Anything": "hunter2 of mine"}}}),
    ("supervisor", {"id": "a", "spec": '{"type": "x", "requestHeaders": {"X-Anything": "hunter2 of mine"}}'}),
    ("supervisor", {"id": "a", "spec": "type: x\nrequestHeaders:\n  X-Anything: hunter2 of mine\n"}),
    ("supervisor", {"supervisors": [{"id": "a", "spec": {"type": "x", "awsExternalId": "hunter2 of mine"}}]}),
    ("task", {"spec": {"type": "noop", "awsExternalId": "hunter2 of mine"}}),
    ("task", {"tasks": [{"spec": "{type: noop, awsExternalId: hunter2 of mine}"}]}),
    (
        "sql_ingest",
        {"query": """INSERT INTO a SELECT * FROM TABLE(EXTERN('{"requestHeaders": {"a": "hunter2 of mine"}}'))"""},
    ),
    ("sql_ingest", {"query": "INSERT INTO a SELECT 1", "context": '{"requestHeaders": {"a": "hunter2 of mine"}}'}),
    (
        "sql_ingest",
        {"queries": [{"query": "INSERT INTO a SELECT ?", "parameters": "[{requestHeaders: {a: hunter2 of mine}}]"}]},
    ),
    ("compaction", {"compactions": [{"datasource": "a", "config": "taskContext: {awsExternalId: hunter2 of mine}"}]}),
    ("compaction", {"datasource": "a", "config": {"taskContext": {"awsExternalId": "hunter2 of mine"}}}),
    ("user", {"id": "a", "user_password": "hunter2 of mine", "roles": []}),
    (
        "user",
        {
            "users": [{"id": "a", "user_password": "hunter2 of mine", "update_password": "on_create"}],
            "initial_password": "hunter2 of mine",
            "username": "admin",
            "password": "another one",
        },
    ),
    ("lookup", {"id": "a", "spec": {"lookupExtractorFactory": {"type": "map", "requestHeaders": "hunter2 of mine"}}}),
    ("lookup", {"lookups": [{"id": "a", "spec": JDBC}, {"id": "a", "tier": "b", "spec": str(JDBC)}]}),
    ("retention_rules", {"datasource": "a", "rules": '[{"type": "x", "awsExternalId": "hunter2 of mine"}]'}),
    ("retention_rules", {"retention_rules": [{"datasource": "a", "rules": "[{awsExternalId: hunter2 of mine}]"}]}),
]


# A Druid that has nothing.
EMPTY: dict[str, Any] = {
    "/status": {"version": "33.0.0"},
    "/druid/coordinator/v1/rules/a": [],
    "/druid/coordinator/v1/lookups/config": [],
    "/druid/coordinator/v1/lookups/config/all": {},
    "/druid/coordinator/v1/lookups/nodeStatus?discover=true&detailed=false": {},
    "/druid/coordinator/v1/isLeader": {"leader": True},
    "/druid/indexer/v1/compaction/config/cluster": {"compactionTaskSlotRatio": 0.1},
    "/druid/indexer/v1/compaction/config/datasources": {"compactionConfigs": []},
    "/druid/indexer/v1/supervisor": [],
    "/druid-ext/basic-security/authentication/loadStatus": {"basic": True},
    "/druid-ext/basic-security/authorization/loadStatus": {"basic": True},
    "/druid-ext/basic-security/authentication/db/basic/users": [],
    "/druid-ext/basic-security/authorization/db/basic/users": [],
    "/druid/indexer/v1/supervisor?full=true": [],
}


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize(("module", "options"), CALLS)
def test_secret_by_its_path_is_masked(module: str, options: dict[str, Any], check_mode: bool, server: Server) -> None:
    def answer(handler: Any) -> None:
        asked = server.asked[-1]
        if asked.method != "GET":
            say(400, {"error": f"no hunter2 of mine, {asked.body.decode()}"})(handler)
        elif asked.path in EMPTY:
            say(200, EMPTY[asked.path])(handler)
        elif "/users/" in asked.path:
            say(400, {"error": "User [a] does not exist."})(handler)
        else:
            say(404, {"error": "nothing of that name"})(handler)

    server.answers = [answer]
    result = run({"url": server.url, "_ansible_check_mode": check_mode, **QUICK, **options}, module=module)
    assert result.get("failed", False) is not check_mode
    assert "hunter2" not in json.dumps(result)
    assert "********" in json.dumps(result["invocation"])
    shown = json.dumps(result["diff"]) if check_mode else result["msg"]
    # of a password, a diff shows only that it is set
    assert "********" in shown or '"password_is_set": true' in shown


UNREADABLE: list[tuple[str, dict[str, Any]]] = [
    ("supervisor", {"spec": "[hunter2"}),
    ("supervisor", {"id": "a", "reset_offsets": "hunter2"}),
    ("supervisor", {"supervisors": [{"spec": "[hunter2"}]}),
    ("task", {"tasks": [{"spec": "{hunter2"}]}),
    ("sql_ingest", {"query": "SELECT 1", "context": "hunter2"}),
    ("sql_ingest", {"query": "SELECT 1", "parameters": "hunter2: 1"}),
    ("compaction", {"datasource": "a", "config": "hunter2"}),
    ("retention_rules", {"datasource": "a", "rules": "hunter2: 1"}),
    ("lookup", {"id": "a", "spec": "- hunter2"}),
    ("dynamic_config", {"coordinator": "- hunter2"}),
    ("dynamic_config", {"kubernetes_task_runner": "- hunter2"}),
]


@pytest.mark.parametrize(("module", "options"), UNREADABLE)
def test_text_that_is_not_a_document_is_not_repeated(module: str, options: dict[str, Any], server: Server) -> None:
    result = run({"url": server.url, **QUICK, **options}, module=module)
    assert result["failed"]
    [name] = {
        "spec",
        "reset_offsets",
        "context",
        "parameters",
        "config",
        "rules",
        "kubernetes_task_runner",
        "coordinator",
    } & {name for each in (options, *options.get("supervisors", ()), *options.get("tasks", ())) for name in each}
    assert f"{name}: " in result["msg"]
    assert "hunter2" not in json.dumps(result)


def test_aliases_of_other_collections(server: Server) -> None:
    result = run({"url": server.url, "url_username": USERNAME, "url_password": PASSWORD, "timeout": 7, **QUICK})
    assert result["supervisors"] == []
    assert server.asked[0].headers["authorization"] == BASIC
    assert result["invocation"]["module_args"]["read_timeout"] == 7
    assert PASSWORD not in json.dumps(result, ensure_ascii=False)


@pytest.mark.parametrize("options", [{"id": "a"}, {"spec": {}}, {"suspended": True}, {"reset": True}])
def test_options_for_one_thing_exclude_a_list(options: dict[str, Any], server: Server) -> None:
    result = run({"url": server.url, "supervisors": [], **options}, module="supervisor")
    assert result["failed"]
    assert "mutually exclusive" in result["msg"]
    assert server.asked == []


def test_invalid_option_is_reported_before_anything_is_sent(server: Server) -> None:
    result = run({"url": server.url, "username": USERNAME, **QUICK})
    assert result["failed"]
    assert result["msg"] == ("password: username and password must be set together (DRUID_USERNAME, DRUID_PASSWORD).")
    assert server.asked == []


def test_names_the_missing_library(server: Server, tmp_path: Path) -> None:
    (tmp_path / "requests.py").write_text("raise ImportError('No module named requests')\n")
    result = run({"url": server.url}, {}, tmp_path)
    assert result["failed"]
    assert "requests" in result["msg"]
    assert sys.executable in result["msg"]
    assert server.asked == []


@pytest.mark.parametrize(("module", "option"), [("task", "spec"), ("sql_ingest", "query")])
def test_id_alone_submits_nothing(module: str, option: str, server: Server) -> None:
    server.answers = [say(404, {"error": "nothing of that name"})]

    result = run({"url": server.url, "id": "a", **QUICK}, module=module)

    assert result["msg"] == f"id ('a'): the task does not exist; set {option} to submit it"
    assert {asked.method for asked in server.asked} == {"GET"}
