# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client's messages and its number of requests if a server misbehaves: over a real socket."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    Conflict,
    Forbidden,
    InvalidResponse,
    NotFound,
    ServerError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import PASSWORD, FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Answer,
    Server,
    be_silent,
    close,
    drip,
    reset,
    say,
    send,
    serving,
)

__all__ = ["fake_time"]

Call = Callable[[DruidClient], Any]

SUPERVISOR = "/druid/indexer/v1/supervisor"
# What half a second, doubled each time and never more than ten, gives in half a minute.
PAUSES = [0.5, 1, 2, 4, 8, 10]
TRIES = len(PAUSES) + 1

REMEDY = "Check Druid's log, and read the current state before you retry."
DOUBT = "It may have taken effect. Check before you send it again."
NO_JSON = "The response is not JSON, so it is not from Druid. Check the option url and any proxy before Druid."
CLOSED = "got no response: the server closed the connection before the response was complete."
LATE = "got no response: no complete response within 0.3 seconds (read_timeout). Druid may be busy. Check its log."
ADDRESS = (
    "Check the option url (host, port), whether Druid is running, the network, and the proxy (https_proxy, no_proxy)."
)

JETTY_500 = """<html>
<head><meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>
<title>Error 500 org.apache.druid.error.DruidException: Update of the input source stream from [a] to [b]</title>
</head>
<body><h2>HTTP ERROR 500 org.apache.druid.error.DruidException: Update of the input source stream</h2>
<table>
<tr><th>URI:</th><td>/druid/indexer/v1/supervisor</td></tr>
<tr><th>STATUS:</th><td>500</td></tr>
<tr><th>MESSAGE:</th><td>org.apache.druid.error.DruidException: Update of the input source stream from [a] to [b] is not
supported for a running supervisor.</td></tr>
<tr><th>SERVLET:</th><td>default</td></tr>
</table>
<h3>Caused by:</h3><pre>org.apache.druid.error.DruidException: Update
\tat org.apache.druid.error.DruidException$DruidExceptionBuilder.build(DruidException.java:481)
</pre>
</body></html>"""
JETTY_401 = """<html><head><title>Error 401 Unauthorized</title></head><body><h2>HTTP ERROR 401 Unauthorized</h2>
<table><tr><th>URI:</th><td>/status</td></tr><tr><th>STATUS:</th><td>401</td></tr>
<tr><th>MESSAGE:</th><td>Unauthorized</td></tr></table></body></html>"""


def get(client: DruidClient) -> Any:
    """A read."""
    return client.get(SUPERVISOR)


def post(client: DruidClient) -> Any:
    """A write that must not be repeated."""
    return client.post(SUPERVISOR, {"a": 1})


def post_again(client: DruidClient) -> Any:
    """A write that may be repeated."""
    return client.post(SUPERVISOR, {"a": 1}, idempotent=True)


def delete(client: DruidClient) -> Any:
    """A removal."""
    return client.delete(SUPERVISOR)


class Case(NamedTuple):
    """What the server does, what is called, and what comes of it: class and message, requests, pauses."""

    answer: Answer
    call: Call
    error: type[DruidError]
    message: str
    arrived: int = 1
    pauses: list[float] = []  # noqa: RUF012


def answered(status: str, words: str, hint: str = "") -> str:
    """The end of a message about a response."""
    return f"returned {status}{f': {words}' if words else ''}.{f' {hint}' if hint else ''}"


A_YEAR = str(365 * 24 * 3600)
HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
HALF_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{"

CASES: dict[str, Case] = {
    # No response, or half of one.
    "close, read": Case(close, get, Unreachable, CLOSED, TRIES, PAUSES),
    "close, removal": Case(close, delete, Unreachable, f"{CLOSED} {DOUBT}", TRIES, PAUSES),
    "close, write": Case(close, post, Unreachable, f"{CLOSED} {DOUBT}"),
    "close, write again": Case(close, post_again, Unreachable, f"{CLOSED} {DOUBT}", TRIES, PAUSES),
    "reset, read": Case(reset, get, Unreachable, CLOSED, TRIES, PAUSES),
    "reset, write": Case(reset, post, Unreachable, f"{CLOSED} {DOUBT}"),
    "half, read": Case(send(HALF), get, Unreachable, CLOSED, TRIES, PAUSES),
    "half, write": Case(send(HALF), post, Unreachable, f"{CLOSED} {DOUBT}"),
    "half, chunked": Case(send(HALF_CHUNKED), post, Unreachable, f"{CLOSED} {DOUBT}"),
    "no HTTP": Case(send(b"SSH-2.0-OpenSSH_9.2\r\n"), post, Unreachable, f"{CLOSED} {DOUBT}"),
    # Too slow.
    "silent, read": Case(be_silent, get, Unreachable, LATE),
    "silent, write": Case(be_silent, post, Unreachable, f"{LATE} {DOUBT}"),
    "dripping body": Case(drip(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"), get, Unreachable, LATE),
    "dripping body without end": Case(drip(b"HTTP/1.1 200 OK\r\n\r\n"), get, Unreachable, LATE),
    "dripping header": Case(drip(b"HTTP/1.1 200 OK\r\nX: "), get, Unreachable, LATE),
    "dripping refusal": Case(drip(b"HTTP/1.1 500 No\r\nContent-Length: 999999\r\n\r\n"), get, Unreachable, LATE),
    # A response that is not Druid's.
    "no JSON": Case(say(200, "{'a': 1}"), get, InvalidResponse, answered("200 OK", "{'a': 1}", NO_JSON)),
    "half JSON": Case(say(200, '{"a": 1'), get, InvalidResponse, answered("200 OK", '{"a": 1', NO_JSON)),
    "a page": Case(
        say(200, "<!DOCTYPE html><title>Log in</title><p>Who are you?"),
        post,
        InvalidResponse,
        answered("200 OK", "Log in", NO_JSON),
    ),
    "deep": Case(say(200, "[" * 200_000), get, InvalidResponse, answered("200 OK", f"{'[' * 599}…", NO_JSON)),
    "huge": Case(
        say(200, b"[" + b"1," * 600_000 + b"1]"),
        get,
        InvalidResponse,
        answered("200 OK", "a response of more than 1000000 bytes"),
    ),
    "huge when unpacked": Case(
        say(200, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
        get,
        InvalidResponse,
        answered("200 OK", "a response of more than 1000000 bytes"),
    ),
    "no gzip": Case(
        say(200, b"{}", Content_Encoding="gzip"),
        get,
        Unreachable,
        "got no response: the response cannot be decompressed (Content-Encoding). "
        "Check the proxy (http_proxy, https_proxy, no_proxy).",
    ),
    # Rejections.
    "400 of old": Case(
        say(400, {"error": "[a] is already suspended"}),
        post,
        ApiError,
        answered("400 Bad Request", "[a] is already suspended"),
    ),
    "400 DruidException": Case(
        say(
            400,
            {
                "error": "druidException",
                "errorCode": "invalidInput",
                "persona": "USER",
                "category": "INVALID_INPUT",
                "errorMessage": "Task[a] has no type.",
                "context": {},
            },
        ),
        post_again,
        ApiError,
        "returned 400 Bad Request: Task[a] has no type.",
    ),
    "401 without login": Case(
        say(401, {"error": "Unauthorized"}),
        get,
        Unauthorized,
        answered(
            "401 Unauthorized",
            "Unauthorized",
            "Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD).",
        ),
    ),
    "401 page": Case(
        say(401, JETTY_401),
        post,
        Unauthorized,
        answered(
            "401 Unauthorized",
            "Unauthorized",
            "Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD).",
        ),
    ),
    "403": Case(
        say(403, {"Access-Check-Result": "Unauthorized"}),
        post,
        Forbidden,
        answered(
            "403 Forbidden",
            "Unauthorized",
            "The user admin needs the permission WRITE on DATASOURCE of that supervisor.",
        ),
    ),
    "404 as text": Case(
        say(404, "Cannot find any supervisor with id: [a]"),
        delete,
        NotFound,
        answered("404 Not Found", "Cannot find any supervisor with id: [a]"),
    ),
    "409": Case(say(409, {"error": "it is there"}), post, Conflict, answered("409 Conflict", "it is there")),
    "415 without a word": Case(say(415), post, ApiError, answered("415 Unsupported Media Type", "")),
    "non-standard status": Case(say(499, "x"), get, ApiError, answered("499 (non-standard status)", "x")),
    "500 page": Case(
        say(500, JETTY_500),
        get,
        ServerError,
        answered(
            "500 Internal Server Error",
            "DruidException: Update of the input source stream from [a] to [b] is not supported for a running "
            "supervisor",
            REMEDY,
        ).replace("supervisor.. ", "supervisor. "),
    ),
    "500 without a word": Case(say(500), post_again, ServerError, answered("500 Internal Server Error", "", REMEDY)),
    "an endless refusal": Case(
        say(500, "x" * 3_000_000), get, ServerError, answered("500 Internal Server Error", f"{'x' * 599}…", REMEDY)
    ),
    # Not now.
    **{
        f"{status}, read": Case(say(status), get, ServerError, answered(phrase, "", REMEDY), TRIES, PAUSES)
        for status, phrase in ((502, "502 Bad Gateway"), (503, "503 Service Unavailable"), (504, "504 Gateway Timeout"))
    },
    "503, write": Case(
        say(503, {"error": "Unable to determine destination[a]; is your overlord running?"}),
        post,
        ServerError,
        "returned 503 Service Unavailable: Unable to determine destination[a]; is your overlord running? " + REMEDY,
    ),
    "503, write again": Case(
        say(503), post_again, ServerError, answered("503 Service Unavailable", "", REMEDY), TRIES, PAUSES
    ),
    "503 for a year": Case(
        say(503, Retry_After=A_YEAR),
        get,
        ServerError,
        answered("503 Service Unavailable", "", REMEDY),
        4,
        [10, 10, 10],
    ),
    "503 until next year": Case(
        say(503, Retry_After=format_datetime(datetime.now(UTC) + timedelta(days=365), usegmt=True)),
        get,
        ServerError,
        answered("503 Service Unavailable", "", REMEDY),
        4,
        [10, 10, 10],
    ),
    "503 and nonsense": Case(
        say(503, Retry_After="soon"), get, ServerError, answered("503 Service Unavailable", "", REMEDY), TRIES, PAUSES
    ),
}


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
    client = fake_time.client(server.url, read_timeout=read_timeout, max_response_bytes=1_000_000)
    with pytest.raises(DruidError) as caught:
        case.call(client)
    method = server.asked[0].method
    assert str(caught.value) == f"{method} {server.url}{SUPERVISOR} {case.message}"
    assert caught.value.__class__ == case.error
    assert [asked.method for asked in server.asked] == [method] * case.arrived
    assert fake_time.pauses == case.pauses
    if isinstance(caught.value, Unreachable):
        assert caught.value.sent


@pytest.mark.parametrize(
    ("call", "times", "option"),
    [
        (get, {"read_timeout": 0.3, "write_timeout": 120}, "read_timeout"),
        (post, {"read_timeout": 120, "write_timeout": 0.3}, "write_timeout"),
        (delete, {"read_timeout": 120, "write_timeout": 0.3, "retry_timeout": 0}, "write_timeout"),
        (post, {"read_timeout": 0.3}, "read_timeout"),
    ],
)
def test_reads_have_their_own_timeout(
    call: Call, times: dict[str, float], option: str, server: Server, fake_time: FakeTime
) -> None:
    server.answers = [be_silent]
    with pytest.raises(Unreachable, match=f"no complete response within 0.3 seconds .{option}."):
        call(fake_time.client(server.url, **times))


@pytest.mark.parametrize("broken", [close, reset, say(502), say(503), say(504), send(HALF)])
@pytest.mark.parametrize("call", [get, delete, post_again])
def test_continues_when_the_server_responds_again(
    broken: Answer, call: Call, server: Server, fake_time: FakeTime
) -> None:
    server.answers = [broken, broken, say(200, {"id": "a"})]
    assert call(fake_time.client(server.url)) == {"id": "a"}
    assert len(server.asked) == 3
    assert {asked.body for asked in server.asked} == {b'{"a": 1}' if call is post_again else b""}
    assert fake_time.pauses == [0.5, 1]


@pytest.mark.parametrize(("asked", "waited"), [("3", 3), ("0", 0), ("11", 10), ("99999999999999999999", 10)])
def test_respects_retry_after_within_limits(asked: str, waited: float, server: Server, fake_time: FakeTime) -> None:
    server.answers = [say(503, Retry_After=asked), say(200, {})]
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
