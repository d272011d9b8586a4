# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Servers that misbehave, and what the client reports: the message, and the number of its requests."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import (
    ApiError,
    Conflict,
    Forbidden,
    InvalidResponse,
    NotFound,
    ResponseTooLarge,
    ServerError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Answer,
    be_silent,
    close,
    drip,
    reset,
    say,
    send,
)

Call = Callable[[DruidClient], Any]

SUPERVISOR = "/druid/indexer/v1/supervisor"
# What half a second, doubled each time and never more than ten, gives in half a minute.
PAUSES = [0.5, 1, 2, 4, 8, 10]
TRIES = len(PAUSES) + 1

REMEDY = "Check Druid's log, and read the current state before you retry."
DOUBT = "It may have taken effect. Check before you send it again."
ELSEWHERE = "Check the option url and any proxy before Druid."
REREAD = f"{ELSEWHERE} Read the current state before you retry."
CLOSED = "got no response: the server closed the connection before the response was complete."
LATE = "got no response: no complete response within 0.3 seconds (read_timeout). Druid may be busy. Check its log."
TOO_LARGE = "a response of more than 1 MiB"
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


def foreign(what: str, quoted: str = "") -> str:
    """What is said about a response that is not Druid's; an error is quoted."""
    return f"{what}, which is in no form of Druid's{quoted and ': '}{quoted}"


LOGIN = "Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD)."
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
    "no JSON": Case(say(200, "{'a': 1}"), get, InvalidResponse, answered("200 OK", foreign("text"), ELSEWHERE)),
    "half JSON": Case(say(200, '{"a": 1'), get, InvalidResponse, answered("200 OK", foreign("text"), ELSEWHERE)),
    "a page": Case(
        say(200, "<!DOCTYPE html><title>Log in</title><p>Who are you?"),
        post,
        InvalidResponse,
        answered("200 OK", foreign("an HTML page"), REREAD),
    ),
    "deep": Case(say(200, "[" * 200_000), get, InvalidResponse, answered("200 OK", foreign("text"), ELSEWHERE)),
    "huge": Case(
        say(200, b"[" + b"1," * 600_000 + b"1]"),
        get,
        ResponseTooLarge,
        answered("200 OK", TOO_LARGE),
    ),
    "huge when unpacked": Case(
        say(200, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
        get,
        ResponseTooLarge,
        answered("200 OK", TOO_LARGE),
    ),
    "huge when parsed": Case(
        say(200, gzip.compress(b"[" + b"[]," * 20_000_000), Content_Encoding="gzip"),
        get,
        ResponseTooLarge,
        answered("200 OK", TOO_LARGE),
    ),
    "endless refusal, packed": Case(
        say(500, gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"),
        get,
        ServerError,
        answered("500 Internal Server Error", "", REMEDY),
    ),
    "another compression": Case(
        say(200, b"{}", Content_Encoding="br"),
        get,
        Unreachable,
        "got no response: the response cannot be decompressed (Content-Encoding). "
        "Check the proxy (http_proxy, https_proxy, no_proxy).",
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
            "The user admin needs the permission WRITE on DATASOURCE of the spec.",
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
    "non-standard status": Case(say(499), get, ApiError, answered("499 (non-standard status)", "")),
    **{
        f"{phrase}, of a gateway": Case(
            say(int(phrase[:3]), body),
            get,
            InvalidResponse,
            answered(phrase, foreign(what, quoted), f"{ELSEWHERE}{hint}"),
        )
        for phrase, body, what, quoted, hint in (
            ("400 Bad Request", "no upstream", "text", "no upstream", ""),
            (
                "401 Unauthorized",
                {"message": "no"},
                "a JSON object of another form",
                '{"message": "no"}',
                f" {LOGIN}",
            ),
            (
                "403 Forbidden",
                "<html><style>a</style><h1>No\n upstream</h1>\x00for &lt;it&gt;",
                "an HTML page",
                "No upstream for <it>",
                " The user admin needs the permission READ on DATASOURCE of the spec.",
            ),
            ("404 Not Found", {"error": "x"}, "a JSON object of another form", '{"error": "x"}', ""),
            ("409 Conflict", ["x"], "a JSON list of another form", '["x"]', ""),
        )
    },
    "500, of a gateway": Case(
        say(500, "busy"), get, ServerError, answered("500 Internal Server Error", foreign("text", "busy"), REMEDY)
    ),
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
        say(500, "x" * 3_000_000),
        get,
        ServerError,
        answered("500 Internal Server Error", foreign("text", f"{'x' * 499}…"), REMEDY),
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

_CHUNKED = b"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
# How a response begins, and what then follows without end.
ENDLESS: dict[str, tuple[bytes, bytes]] = {
    "body": (b"200 OK\r\n\r\n", b"[],"),
    "chunks": (_CHUNKED, b"3\r\n[],\r\n"),
    "size of a chunk": (_CHUNKED, b"0"),
    "trailer": (_CHUNKED + b"0\r\n", b"X"),
    "trailers": (_CHUNKED + b"0\r\n", b"X: y\r\n"),
    "interim responses": (b"100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "status line": (b"", b"2"),
    "header": (b"200 OK\r\nX: ", b"y"),
    "headers": (b"200 OK\r\n", b"X: y\r\n"),
    "refusal": (b"400 Bad Request\r\n\r\n", b"x"),
}
