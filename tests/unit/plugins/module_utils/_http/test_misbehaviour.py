# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client's messages and its number of requests if a server misbehaves: over a real socket."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    ServerError,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils._http.misbehaviours import (
    ADDRESS,
    CASES,
    ENDLESS,
    HALF,
    LATE,
    PAUSES,
    SUPERVISOR,
    Call,
    delete,
    get,
    post,
    post_again,
)
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import PASSWORD, FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Answer,
    Server,
    close,
    flood,
    reset,
    say,
    send,
    serving,
)

__all__ = ["fake_time"]

MIB = 1024 * 1024


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.mark.parametrize("name", CASES)
def test_reports_the_error_with_the_expected_number_of_requests(name: str, server: Server, fake_time: FakeTime) -> None:
    case = CASES[name]
    server.answers = [case.answer]
    # Only servers that are too slow on purpose exceed the timeouts.
    read_timeout = 0.3 if case.message.startswith(LATE) else 120
    client = fake_time.client(server.url, read_timeout=read_timeout, max_response_bytes=MIB, quotes_errors=True)
    with pytest.raises(DruidError) as caught:
        case.call(client)
    method = server.asked[0].method
    assert str(caught.value) == f"{method} {server.url}{SUPERVISOR} {case.message}"
    assert caught.value.__class__ == case.error
    # without the probe after a 404
    arrived = [asked.method for asked in server.asked if not asked.path.endswith("/isLeader")]
    assert arrived == [method] * case.arrived
    assert fake_time.pauses == case.pauses
    if isinstance(caught.value, Unreachable):
        assert caught.value.sent


@pytest.mark.parametrize("name", ENDLESS)
def test_reads_little_of_what_never_ends(name: str, server: Server, fake_time: FakeTime) -> None:
    head, endless = ENDLESS[name]
    server.answers = [flood(b"HTTP/1.1 " + head, endless)]
    with pytest.raises((Unreachable, ApiError)):
        post(fake_time.client(server.url, max_response_bytes=MIB))
    # with what the sockets buffer
    assert server.flooded < 32 * MIB


def test_handshake_that_never_ends(fake_time: FakeTime) -> None:
    # a record of TLS that is announced, and then comes byte by byte
    with serving() as server:
        server.process_request = lambda request, _address: drip_to(request)  # type: ignore[method-assign]
        with pytest.raises(Unreachable, match=r"no connection within 0.3 seconds .connect_timeout."):
            get(fake_time.client(server.url.replace("http:", "https:"), connect_timeout=0.3))


def drip_to(connection: socket.socket) -> None:
    """Send a byte now and then, until the client disconnects."""
    with connection, suppress(OSError):
        connection.sendall(b"\x16\x03\x03\x40\x00")
        while True:
            connection.sendall(b"\x00")
            time.sleep(0.05)


@pytest.mark.parametrize("broken", [close, reset, say(502), say(503), say(504), send(HALF)])
@pytest.mark.parametrize("call", [get, delete, post_again])
def test_continues_when_the_server_responds_again(
    broken: Answer, call: Call, server: Server, fake_time: FakeTime
) -> None:
    document = ["a"] if call is get else {"id": "a"}
    server.answers = [broken, broken, say(200, document)]
    assert call(fake_time.client(server.url)) == document
    assert len(server.asked) == 3
    assert {asked.body for asked in server.asked} == {b'{"a": 1}' if call is post_again else b""}
    assert fake_time.pauses == [0.5, 1]


@pytest.mark.parametrize(("asked", "waited"), [("3", 3), ("0", 0), ("11", 10), ("99999999999999999999", 10)])
def test_respects_retry_after_within_limits(asked: str, waited: float, server: Server, fake_time: FakeTime) -> None:
    server.answers = [say(503, Retry_After=asked), say(200, ["a"])]
    get(fake_time.client(server.url))
    assert fake_time.pauses == [waited]


def test_retry_timeout_0_tries_once(server: Server, fake_time: FakeTime) -> None:
    server.answers = [say(503)]
    with pytest.raises(ServerError):
        get(fake_time.client(server.url, retry_timeout=0))
    assert (len(server.asked), fake_time.pauses) == (1, [])


# No server listens any more.


def unused() -> str:
    """Return an address without a server."""
    with serving() as stopped:
        return stopped.url


@pytest.mark.parametrize(("call", "pauses"), [(get, PAUSES), (post, []), (post_again, PAUSES)])
def test_refused(call: Call, pauses: list[float], fake_time: FakeTime) -> None:
    url = unused()
    with pytest.raises(Unreachable) as caught:
        call(fake_time.client(url))
    method = "GET" if call is get else "POST"
    assert str(caught.value) == f"{method} {url}{SUPERVISOR} got no response: Connection refused. {ADDRESS}"
    assert not caught.value.sent
    assert fake_time.pauses == pauses


def test_names_every_server_if_all_are_unreachable(fake_time: FakeTime) -> None:
    first, second = unused(), "http://nowhere.invalid"
    with pytest.raises(Unreachable) as caught:
        post(fake_time.client(first, second))
    text = str(caught.value)
    assert text.startswith(
        f"POST {first}{SUPERVISOR} got no response: Connection refused; {second}{SUPERVISOR}: "
        "the host name cannot be resolved ("
    )
    assert text.endswith(f"). {ADDRESS}")
    assert not caught.value.sent


def test_does_not_wait_for_an_unknown_host(fake_time: FakeTime) -> None:
    with pytest.raises(Unreachable, match=r"the host name cannot be resolved \("):
        get(fake_time.client("http://nowhere.invalid"))
    assert fake_time.pauses == []


def test_connect_timeout(fake_time: FakeTime) -> None:
    with ExitStack() as stack:
        # Its queue is full, so that Linux lets further connections wait.
        full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _connection in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        with pytest.raises(Unreachable) as caught:
            post(fake_time.client(url, connect_timeout=0.3))
    assert str(caught.value) == (
        f"POST {url}{SUPERVISOR} got no response: no connection within 0.3 seconds (connect_timeout). {ADDRESS}"
    )
    assert not caught.value.sent


def test_closed_connection_is_opened_again(server: Server, fake_time: FakeTime) -> None:
    client = fake_time.client(server.url)
    for _time in range(3):
        post(client)
        server.hang_up()
    assert (len(server.asked), fake_time.pauses) == (3, [])


@pytest.mark.parametrize("host", ["a..b", "*", "a" * 64, "xn--a", "a_b.invalid"])
def test_invalid_host_name(host: str, fake_time: FakeTime) -> None:
    with pytest.raises(Unreachable) as caught:
        post(fake_time.client(f"http://{host}"))
    assert not caught.value.sent
    assert fake_time.pauses == []


def test_uses_the_proxy_of_the_environment(
    server: Server, fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    post(fake_time.client("http://druid.invalid:8888"))
    assert server.paths == [f"POST http://druid.invalid:8888{SUPERVISOR}"]


def test_bypasses_the_proxy_as_the_environment_specifies(
    server: Server, fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", unused())
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    post(fake_time.client(server.url))
    assert server.paths == [f"POST {SUPERVISOR}"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (say(407), "the proxy could not connect to it (Tunnel connection failed: 407 Proxy Authentication Required)"),
        (say(502), "the proxy could not connect to it (Tunnel connection failed: 502 Bad Gateway)"),
        (close, "Remote end closed connection without response"),
    ],
)
def test_proxy_that_rejects_the_connection(
    answer: Answer, reason: str, server: Server, fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [answer]
    monkeypatch.setenv("https_proxy", server.url.replace("//", "//user:hunter2@"))
    with pytest.raises(Unreachable) as caught:
        post(fake_time.client("https://druid.invalid:9088"))
    assert str(caught.value).startswith(
        f"POST https://druid.invalid:9088{SUPERVISOR} got no response: {reason}. Check the "
    )
    assert "hunter2" not in str(caught.value)
    assert not caught.value.sent
    assert server.paths == ["CONNECT druid.invalid:9088"]


# No secret is repeated.

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="k" password="hunter-3";'


@pytest.mark.parametrize(
    "echo",
    [
        lambda asked: f"cannot read {asked.body.decode()}",
        lambda asked: {"error": asked.body.decode()},
        lambda asked: f"who is {asked.headers.get('authorization')}?",
        lambda _asked: "hunter2 and hunter-3 and hunter-4 are wrong",
    ],
)
@pytest.mark.parametrize("settings", [{}, {"token": "abc.def-ghi"}])
@pytest.mark.parametrize("status", [200, 400, 500, 503])
def test_masks_what_druid_repeats(
    echo: Callable[[Any], Any], settings: dict[str, Any], status: int, server: Server, fake_time: FakeTime
) -> None:
    def answer(handler: Any) -> None:
        body = echo(server.asked[-1])
        say(status, body if isinstance(body, str) or status != 200 else str(body))(handler)

    server.answers = [answer]
    client = fake_time.client(server.url, **settings)
    body = {
        "a": settings.get("token", PASSWORD),
        "consumerProperties": {"password": "hunter2", "sasl.jaas.config": JAAS},
        "requestHeaders": {"X-Anything": "hunter-4"},
    }
    with pytest.raises(ApiError) as caught:
        client.post(SUPERVISOR, body, {"token": "hunter2"})
    for secret in (PASSWORD, "abc.def-ghi", "hunter2", "hunter-3", "hunter-4", "YWRtaW46"):
        assert secret not in str(caught.value)
        assert secret not in repr(caught.value)
    assert "?token=********" in str(caught.value)
