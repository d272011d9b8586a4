# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the client does when all is well, over a real socket."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    InvalidResponse,
    NotFound,
    ServerError,
    UnknownPath,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import BASIC, FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import Server, say, serving

__all__ = ["fake_time"]

SUPERVISOR = "/druid/indexer/v1/supervisor"
USERS = "/druid-ext/an-extension/users"
PROXIED_USERS = f"/proxy/coordinator{USERS}"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def client(server: Server, fake_time: FakeTime) -> DruidClient:
    return fake_time.client(server.url)


@pytest.mark.parametrize("document", [{"a": [1, None, "ü"]}, [], "text", 0, False])
def test_returns_the_document(server: Server, client: DruidClient, document: Any) -> None:
    server.answers = [say(200, document if not isinstance(document, str) else '"text"')]
    assert client.get("/x") == document


@pytest.mark.parametrize("status", [200, 202, 204])
def test_empty_response_is_none_with_any_content_type(server: Server, client: DruidClient, status: int) -> None:
    server.answers = [say(status, b"", Content_Type="application/json")]
    server.routes = {"/druid/indexer/v1/isLeader": [say(200, {"leader": True})]}
    assert client.get("/druid/indexer/v1/worker") is None
    assert client.post(f"{SUPERVISOR}/a/taskGroups/handoff", {"taskGroupIds": [1]}) is None


def test_reads_a_compressed_response(server: Server, client: DruidClient) -> None:
    server.answers = [say(200, gzip.compress(b'{"a": 1}'), Content_Encoding="gzip")]
    assert client.get("/x") == {"a": 1}


def test_sends_the_request(server: Server, client: DruidClient) -> None:
    client.post(SUPERVISOR, {"ä": "\ud800"}, {"skipRestartIfUnmodified": True, "none": None, "count": 2})
    [asked] = server.asked
    assert (asked.method, asked.path) == ("POST", f"{SUPERVISOR}?skipRestartIfUnmodified=true&count=2")
    assert asked.body == b'{"\\u00e4": "\\ud800"}'
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["authorization"] == BASIC


def test_sends_bytes_as_they_are(server: Server, client: DruidClient) -> None:
    client.post("/x", b"a\nb", content_type="text/plain")
    assert (server.asked[0].body, server.asked[0].headers["content-type"]) == (b"a\nb", "text/plain")


def test_rejects_values_that_are_not_json(server: Server, client: DruidClient) -> None:
    with pytest.raises(InvalidInput, match="it cannot be represented in JSON"):
        client.post("/x", {"a": float("nan")})
    assert server.asked == []


def test_sends_a_token(server: Server, fake_time: FakeTime) -> None:
    fake_time.client(server.url, token="abc.def").delete("/x")
    assert server.asked[0].headers["authorization"] == "Bearer abc.def"


@pytest.mark.parametrize("settings", [{"username": None}, {"token": "abc"}])
def test_ignores_netrc(
    server: Server, fake_time: FakeTime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    fake_time.client(server.url, **settings).get("/x")
    assert server.asked[0].headers.get("authorization") in (None, "Bearer abc")


@pytest.mark.parametrize("identifier", ["a/b", "a%2Fb", "50%", "a?b=c#d", "a b", "ü", "a\tb", "..a", "a+b&c", "[x]"])
def test_an_identifier_arrives_as_one_segment(server: Server, client: DruidClient, identifier: str) -> None:
    client.get(path("druid", "indexer", "v1", "supervisor", identifier, "stats"))
    segments = server.asked[0].path.split("/")
    assert [unquote(segment) for segment in segments] == [*SUPERVISOR.split("/"), identifier, "stats"]


@pytest.mark.parametrize("identifier", ["", ".", "..", "\ud800"])
def test_rejects_an_identifier_that_a_path_cannot_contain(identifier: str) -> None:
    with pytest.raises(InvalidInput, match="name"):
        path("druid", identifier)


def test_keeps_the_connection(server: Server, client: DruidClient) -> None:
    ports = set()
    server.answers = [lambda handler: (ports.add(handler.client_address), say(200)(handler))[1]]  # type: ignore[func-returns-value]
    for _time in range(3):
        client.get("/x")
    assert len(ports) == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("33.0.0", (33, 0, 0)),
        ("0.23.0", (0, 23, 0)),
        ("39.0.0-SNAPSHOT", (39, 0, 0)),
        ("2025.01.0-iap", (2025, 1, 0)),
        ("27", (27,)),
    ],
)
def test_reads_the_version_once(server: Server, client: DruidClient, text: str, numbers: tuple[int, ...]) -> None:
    server.answers = [say(200, {"version": text})]
    assert (client.version_text, client.version) == (text, numbers)
    assert client.supports(*numbers)
    assert not client.supports(numbers[0] + 1)
    assert client.supports(33) == (numbers >= (33,))
    assert server.paths == ["GET /status"]


@pytest.mark.parametrize("answer", [{"version": "unknown"}, {"version": None}, {}, [], {"version": "<p>33</p>"}])
def test_a_version_without_a_number_is_an_error(server: Server, client: DruidClient, answer: Any) -> None:
    server.answers = [say(200, answer)]
    with pytest.raises(InvalidResponse, match=r"invalid version|in no form of Druid"):
        client.supports(33)


# Several servers.


def test_first_server_that_responds_stays_selected(server: Server, fake_time: FakeTime) -> None:
    with serving() as stopped:
        url = stopped.url
    client = fake_time.client(url, server.url)
    client.post("/a")
    client.get("/b")
    assert server.paths == ["POST /a", "GET /b"]
    assert fake_time.pauses == []


def test_selects_another_server_if_the_selected_one_is_unreachable(fake_time: FakeTime) -> None:
    with serving() as second:
        with serving() as first:
            client = fake_time.client(first.url, second.url)
            client.get("/a")
        client.get("/b")
        assert (first.paths, second.paths) == (["GET /a"], ["GET /b"])


def test_read_tries_the_next_server_if_one_is_not_ready(server: Server, fake_time: FakeTime) -> None:
    with serving() as starting:
        starting.answers = [say(503)]
        client = fake_time.client(starting.url, server.url)
        client.get("/a")
        client.get("/b")
        assert (starting.paths, server.paths) == (["GET /a"], ["GET /a", "GET /b"])


def test_write_does_not_try_the_next_server(server: Server, fake_time: FakeTime) -> None:
    with serving() as starting:
        starting.answers = [say(503)]
        with pytest.raises(ServerError):
            fake_time.client(starting.url, server.url).post("/a")
        assert (starting.paths, server.paths, fake_time.pauses) == (["POST /a"], [], [])


def test_definite_response_is_final(server: Server, fake_time: FakeTime) -> None:
    with serving() as first:
        first.answers = [say(404, "Cannot find any supervisor with id: [a]")]
        with pytest.raises(NotFound):
            fake_time.client(first.url, server.url).get(f"{SUPERVISOR}/a")
        assert server.paths == []


def test_a_path_before_the_api_is_kept(server: Server, fake_time: FakeTime) -> None:
    fake_time.client(f"{server.url}/gateway/druid/").get("/x")
    assert server.paths == ["GET /gateway/druid/x"]


# Routers.


@pytest.mark.parametrize(
    "enabled", [say(200, {"enabled": True}), say(400, {"error": "Unsupported proxy destination [/proxy/enabled]"})]
)
def test_a_router_gets_the_prefix(server: Server, client: DruidClient, enabled: Any) -> None:
    server.routes = {"/proxy/enabled": [enabled]}
    client.get(USERS)
    client.post(f"{USERS}/a")
    client.get("/druid/indexer/v1/x")
    assert server.paths == [
        "GET /proxy/enabled",
        f"GET {PROXIED_USERS}",
        f"POST {PROXIED_USERS}/a",
        "GET /druid/indexer/v1/x",
    ]


def test_a_coordinator_does_not_get_the_prefix(server: Server, client: DruidClient) -> None:
    server.routes = {"/proxy/enabled": [say(404, "<html><title>Error 404 Not Found</title></html>")]}
    client.get(USERS)
    client.get(USERS)
    assert server.paths == ["GET /proxy/enabled", f"GET {USERS}", f"GET {USERS}"]


PAGE = "<html><head><title>Error 404 Not Found</title></head><body><h2>HTTP ERROR 404 Not Found</h2></body></html>"
JETTY = {"servlet": "default", "message": "Not Found", "url": "/druid/indexer/v1/supervisor", "status": "404"}


@pytest.mark.parametrize("body", [PAGE, JETTY, ""])
@pytest.mark.parametrize(
    ("asked", "probe", "service"),
    [
        (SUPERVISOR, "/druid/indexer/v1/isLeader", "Overlord"),
        ("/druid/coordinator/v1/config", "/druid/coordinator/v1/isLeader", "Coordinator"),
    ],
)
def test_404_of_an_unknown_path_names_the_required_server(
    server: Server, client: DruidClient, body: Any, asked: str, probe: str, service: str
) -> None:
    server.answers = [say(404, body)]
    with pytest.raises(UnknownPath) as caught:
        client.get(asked)
    detail = ": Not Found" if body == JETTY else ": Error 404 Not Found" if body else ""
    assert str(caught.value) == (
        f"GET {server.url}{asked} returned 404 Not Found{detail}. This server does not serve the API of the "
        f"{service}. If it is a Router, enable its management proxy "
        "(druid.router.managementProxy.enabled=true), or set the option url to the Coordinator or the Overlord."
    )
    assert not isinstance(caught.value, NotFound)
    assert server.paths == [f"GET {asked}", f"GET {probe}"]


@pytest.mark.parametrize("leader", [say(200, {"leader": True}), say(404, {"leader": False})])
def test_404_without_a_message_on_a_known_path_is_not_found(server: Server, client: DruidClient, leader: Any) -> None:
    server.answers = [say(404)]
    server.routes = {"/druid/coordinator/v1/isLeader": [leader]}
    with pytest.raises(NotFound):
        client.get("/druid/coordinator/v1/config/compaction/a")


def test_404_with_druids_message_costs_no_further_request(server: Server, client: DruidClient) -> None:
    server.answers = [say(404, "Cannot find any supervisor with id: [a]", Content_Type="text/plain")]
    with pytest.raises(NotFound) as caught:
        client.get(f"{SUPERVISOR}/a")
    assert str(caught.value) == (
        f"GET {server.url}{SUPERVISOR}/a returned 404 Not Found: Cannot find any supervisor with id: [a]."
    )
    assert len(server.asked) == 1


def test_request_that_is_tried_again_for_long_is_reported_once(fake_time: FakeTime) -> None:
    client = fake_time.client("http://127.0.0.1:1", retry_timeout=30)
    with pytest.raises(Unreachable):
        client.get("/x")

    assert fake_time.pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    [line] = fake_time.retries
    assert line.startswith("GET http://127.0.0.1:1/x got no response: Connection refused. ")
    # before the pause that ends after 3.5 seconds
    assert line.endswith(" It is tried again for 28 s.")


def test_short_retries_are_not_reported(fake_time: FakeTime) -> None:
    with pytest.raises(Unreachable):
        fake_time.client("http://127.0.0.1:1", retry_timeout=2).get("/x")

    assert fake_time.pauses == [0.5, 1.0]
    assert fake_time.retries == []


@pytest.mark.parametrize(("status", "is_served"), [(200, True), (403, True), (405, True), (404, False)])
def test_an_api_that_the_user_may_not_read_is_served(
    server: Server, client: DruidClient, status: int, is_served: bool
) -> None:
    server.answers = [say(status, {"error": "no"}), say(500)]

    assert client.serves("/x") is is_served
    assert client.serves("/x") is is_served
    assert len(server.asked) == 1


def test_product_has_a_version_if_the_user_may_read_it(server: Server, fake_time: FakeTime) -> None:
    server.answers = [say(403), say(200, {"version": "33.0.0"})]

    assert [fake_time.client(server.url).product, fake_time.client(server.url).product] == ["Druid", "Druid 33.0.0"]
