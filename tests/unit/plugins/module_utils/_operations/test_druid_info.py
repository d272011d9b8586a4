# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Druid that is starting, lacks a leader or a server, or does not permit a part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Forbidden, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._operations.druid_info import druid_info
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput, PartialFailure
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Answer,
    Handler,
    Server,
    say,
    serving,
)

__all__ = ["fake_time"]

COORDINATOR, OVERLORD = "/druid/coordinator/v1", "/druid/indexer/v1"
LOAD_STATUS = f"{COORDINATOR}/loadstatus"
PARAMS: dict[str, Any] = {
    "services": ["broker", "historical"],
    "servers": None,
    "health": False,
    "baseline": None,
    "wait": False,
    "wait_for": None,
    "wait_timeout": 0.0,
}
NODES = {
    "broker": [{"host": "b", "plaintextPort": -1, "tlsPort": 8282}],
    "historical": [{"host": "h", "plaintextPort": 8083, "tlsPort": 8283}],
}
# one Historical: a second replica cannot be loaded
LOADED = {"datasource": "clicks", "replicas": 1, "required": 2, "number": 5, "unavailable": 0}
LOST = {"datasource": "clicks", "replicas": 0, "required": 2, "number": 3, "unavailable": 2}
SUPERVISOR = {"id": "s", "state": "RUNNING", "detailedState": "RUNNING", "healthy": True}
HEALTH = {"unavailable_segments": 0, "missing_replicas": 0, "supervisors_not_running": 0, "historicals": 1}
WORKER = {"host": "w:8091", "capacity": 3, "version": "0", "category": "c"}


def status(*artifacts: str) -> dict[str, Any]:
    return {"version": "33.0.0", "modules": [{"name": "ClientTls"}, *({"artifact": each} for each in artifacts)]}


def not_loaded(number: int, replicas: int = 9) -> Answer:
    """Return the Coordinator's answer about segments and, on request, replicas."""

    def answer(handler: Handler) -> None:
        is_full = "full" in handler.path
        say(200, {"hot": {"clicks": replicas - 1}, "cold": {"clicks": 1}} if is_full else {"clicks": number})(handler)

    return answer


@pytest.fixture
def server() -> Iterator[Server]:
    """A Druid that is ready."""
    with serving() as server:
        server.answers = [say(404)]
        server.routes = {
            "/status": [say(200, status("druid-b", "druid-a", "druid-b"))],
            f"{COORDINATOR}/isLeader": [say(200, {"leader": True})],
            f"{OVERLORD}/isLeader": [say(200, {"leader": True})],
            f"{COORDINATOR}/leader": [say(200, "http://c:8081")],
            f"{OVERLORD}/leader": [say(200, b'"http://o:8090"')],
            f"{COORDINATOR}/cluster": [say(200, NODES)],
            f"{COORDINATOR}/servers": [
                say(200, [{"host": "h:8283", "type": "historical", "tier": "hot", "currSize": 1, "maxSize": 2}])
            ],
            LOAD_STATUS: [not_loaded(0)],
            f"{COORDINATOR}/metadata/datasources": [say(200, ["clicks"])],
            f"{OVERLORD}/supervisor": [say(200, [SUPERVISOR])],
            "/druid/v2/sql": [say(200, [LOADED])],
            f"{OVERLORD}/workers": [
                say(200, [{"worker": WORKER, "currCapacityUsed": 1}, {"worker": {**WORKER, "version": ""}}])
            ],
        }
        yield server


@pytest.fixture
def client(fake_time: FakeTime, server: Server) -> DruidClient:
    return fake_time.client(server.url, retry_timeout=0)


def test_druid_that_is_ready(client: DruidClient) -> None:
    info = druid_info(client, PARAMS)
    assert (info["ready"], info["problems"]) == (True, [])
    assert (info["version"], info["extensions"]) == ("33.0.0", ["druid-a", "druid-b"])
    assert info["leaders"] == {"coordinator": "http://c:8081", "overlord": "http://o:8090"}
    assert info["servers"] == [
        {"server": "b:8282", "type": "broker", "tier": None, "size": None, "max_size": None},
        {"server": "h:8283", "type": "historical", "tier": "hot", "size": 1, "max_size": 2},
    ]
    assert [(each["enabled"], each["free"]) for each in info["workers"]] == [(True, 2), (False, 0)]
    assert info["slots"] == {"capacity": 6, "used": 1, "free": 2}


@pytest.mark.parametrize(
    ("path", "status", "body", "expected"),
    [
        (f"{COORDINATOR}/leader", 200, b"", "There is no leader of the Coordinators."),
        (f"{OVERLORD}/leader", 204, b"", "There is no leader of the Overlords."),
        (f"{OVERLORD}/workers", 503, b"", "503 Service Unavailable"),
        (f"{COORDINATOR}/cluster", 200, {"broker": NODES["broker"]}, "There is no server of type historical."),
        (LOAD_STATUS, 200, {}, "the Coordinator has just become the leader."),
    ],
)
def test_druid_that_is_not_ready(
    server: Server, client: DruidClient, path: str, status: int, body: Any, expected: str
) -> None:
    server.routes[path] = [say(status, body)]
    info = druid_info(client, PARAMS)
    assert not info["ready"]
    assert expected in info["problems"][0]
    with pytest.raises(PartialFailure, match="Timed out after 0 s waiting for Druid to be ready") as error:
        druid_info(client, {**PARAMS, "wait": True})
    assert expected in str(error.value)
    assert error.value.result["problems"] == info["problems"]


@pytest.mark.parametrize(
    ("condition", "is_met"), [("slots.free >= `2`", True), ("length(servers) > `2`", False), ("problems", False)]
)
def test_condition_instead_of_being_ready(client: DruidClient, condition: str, is_met: bool) -> None:
    params = {**PARAMS, "wait": True, "wait_for": condition}
    if is_met:
        assert druid_info(client, params)["ready"]
        return
    with pytest.raises(PartialFailure, match="waiting for Druid to meet"):
        druid_info(client, params)


@pytest.mark.parametrize("path", ["/status", f"{COORDINATOR}/cluster"])
@pytest.mark.parametrize("condition", [None, "length(servers) > `1`"])
def test_druid_that_is_starting(server: Server, client: DruidClient, path: str, condition: str | None) -> None:
    server.routes[path].insert(0, say(503))
    info = druid_info(client, {**PARAMS, "wait": True, "wait_for": condition, "wait_timeout": 5.0})
    assert info["ready"]


@pytest.mark.parametrize("params", [{"wait_for": "ready"}, {"wait": True, "wait_for": "length(slots.free)"}])
def test_condition_that_is_not_valid(client: DruidClient, params: dict[str, Any]) -> None:
    """Without a wait it would have no effect, and an error in it is reported as soon as Druid is ready."""
    with pytest.raises(InvalidInput, match="wait_for"):
        druid_info(client, {**PARAMS, **params})


@pytest.mark.parametrize(("number", "replicas", "missing"), [(2, 9, 2), (9, 3, 3), (2, 0, 0)])
def test_segments_that_are_not_loaded(
    server: Server, client: DruidClient, number: int, replicas: int, missing: int
) -> None:
    """Those that were replaced have no replicas."""
    server.routes[LOAD_STATUS] = [not_loaded(number, replicas)]
    text = f"{missing} segments of datasource 'clicks' are not loaded."
    assert druid_info(client, PARAMS)["problems"] == ([text] if missing else [])


def test_druid_without_segments(server: Server, client: DruidClient) -> None:
    server.routes[LOAD_STATUS] = [say(200, {})]
    server.routes[f"{COORDINATOR}/metadata/datasources"] = [say(200, [])]
    info = druid_info(client, PARAMS)
    assert (info["ready"], info["load_status"]) == (True, {})


def test_server_that_does_not_respond(fake_time: FakeTime) -> None:
    with serving() as server:
        url = server.url
    client = fake_time.client(url, retry_timeout=0)
    with pytest.raises(Unreachable):
        druid_info(client, PARAMS)
    with pytest.raises(PartialFailure, match="got no response") as error:
        druid_info(client, {**PARAMS, "wait": True})
    assert not error.value.result["ready"]


def test_permission_that_is_missing(server: Server, client: DruidClient) -> None:
    server.routes[f"{COORDINATOR}/cluster"] = [say(403, {"Access-Check-Result": "Unauthorized"})]
    with pytest.raises(Forbidden, match="needs the permission READ on STATE STATE"):
        druid_info(client, PARAMS)


def test_health_is_read_only_on_request(server: Server, client: DruidClient) -> None:
    assert "health" not in druid_info(client, PARAMS)
    assert not [asked for asked in server.asked if asked.method == "POST"]
    assert druid_info(client, {**PARAMS, "health": True})["health"] == HEALTH


# (what Druid answers by path, the baseline, the problem or an empty text)
RECOVERY: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, HEALTH, ""),
    ({"/druid/v2/sql": say(200, [LOADED, LOST])}, HEALTH, "Datasource clicks has 2 unavailable segments and 3 missing"),
    ({"/druid/v2/sql": say(200, [LOST])}, {**HEALTH, "unavailable_segments": 2, "missing_replicas": 3}, ""),
    # one of two Historicals is missing, so its replicas still count
    ({}, {**HEALTH, "historicals": 2}, "Datasource clicks has 5 missing replicas."),
    (
        {f"{OVERLORD}/supervisor": say(200, [{**SUPERVISOR, "detailedState": "CREATING_TASKS"}])},
        HEALTH,
        "Supervisor s is CREATING_TASKS.",
    ),
    # the Coordinator's answer may be a minute old, and what was not loaded before does not block
    ({LOAD_STATUS: not_loaded(2)}, HEALTH, ""),
    ({LOAD_STATUS: not_loaded(2)}, {"unavailable_segments": None}, "2 segments"),
    ({"/druid/v2/sql": say(503)}, HEALTH, "503 Service Unavailable"),
    ({"/druid/v2/sql": say(403, {"Access-Check-Result": "no"})}, HEALTH, "403 Forbidden"),
    # was not permitted before either
    ({"/druid/v2/sql": say(403, {"Access-Check-Result": "no"})}, {**HEALTH, "unavailable_segments": None}, ""),
    ({"/druid/v2/sql": say(404)}, HEALTH, ""),
]


@pytest.mark.parametrize(("answers", "baseline", "problem"), RECOVERY)
def test_no_worse_than_before(
    server: Server, client: DruidClient, answers: dict[str, Any], baseline: dict[str, Any], problem: str
) -> None:
    server.routes.update({path: [answer] for path, answer in answers.items()})
    info = druid_info(client, {**PARAMS, "baseline": baseline})
    assert info["ready"] is not bool(problem), info["problems"]
    assert problem in " ".join(info["problems"])


@pytest.mark.parametrize("baseline", [{"unavailable": 0}, {"historicals": "1"}, {"historicals": True}])
def test_baseline_that_is_not_valid(client: DruidClient, baseline: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"baseline .*pass the health that an earlier call"):
        druid_info(client, {**PARAMS, "baseline": baseline})


# (required servers, the problem or an empty text)
SERVERS: list[tuple[str, str]] = [
    ("h:8283", ""),
    ("H", ""),
    ("h:8083", "Server h:8083 has not announced itself."),
    ("x", "Server x has not announced itself."),
    ("w:8091", ""),
    ("v:8091", "Worker v:8091 is not known to the Overlord."),
    ("[FD00::0:1]:8091", "Worker [fd00:0:0:0:0:0:0:1]:8091 is disabled."),
]


@pytest.mark.parametrize(("name", "problem"), SERVERS)
def test_servers_that_have_to_be_there(server: Server, client: DruidClient, name: str, problem: str) -> None:
    address = "[fd00:0:0:0:0:0:0:1]"
    hosts = ("w", "v", address.strip("[]"))
    workers = [{"host": host, "plaintextPort": 8091, "tlsPort": -1} for host in hosts]
    server.routes[f"{COORDINATOR}/cluster"] = [say(200, {**NODES, "middleManager": workers})]
    disabled = {**WORKER, "host": f"{address}:8091", "version": ""}
    server.routes[f"{OVERLORD}/workers"] = [say(200, [{"worker": WORKER}, {"worker": disabled}])]
    info = druid_info(client, {**PARAMS, "servers": [name]})
    assert info["problems"] == ([problem] if problem else [])
