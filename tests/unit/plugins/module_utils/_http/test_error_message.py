# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The message in a response, and the remedies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http import error_message
from ansible_collections.druidops.druid.plugins.module_utils._http.connection import Connection
from ansible_collections.druidops.druid.plugins.module_utils._http.error_message import (
    MAX_TEXT_LENGTH,
    NO_TEXT,
    OF_OTHERS,
    ErrorText,
    Source,
    parse_error_text,
)
from ansible_collections.druidops.druid.plugins.module_utils._http.request import HttpRequest
from ansible_collections.druidops.druid.plugins.module_utils._http.response import ResponseParser
from ansible_collections.druidops.druid.plugins.module_utils._http.transport import Response
from hypothesis import given
from hypothesis import strategies as st

# (name, the document, the message)
DOCUMENTS: list[tuple[str, Any, str]] = [
    ("of old", {"error": "[a] is already running"}, "[a] is already running"),
    (
        "DruidException",
        {"error": "druidException", "errorCode": "notFound", "errorMessage": "Task [a] does not exist."},
        "Task [a] does not exist.",
    ),
    (
        "DruidException in a report",
        {"error": {"error": "druidException", "errorMessage": "Column [x] not found"}},
        "Column [x] not found",
    ),
    (
        "QueryException",
        {"error": "Unknown exception", "errorMessage": "no broker", "errorClass": "java.lang.X", "host": "h"},
        "no broker",
    ),
    ("403", {"Access-Check-Result": "Unauthorized"}, "Unauthorized"),
    ("403 of Druid 27", {"Access-Check-Result": "Allowed:false, Message:"}, ""),
    ("403 of Druid 27, of a task", {"Access-Check-Result": ""}, ""),
    ("403 with a reason", {"Access-Check-Result": "Allowed:false, Message:no, Policy: Optional.empty"}, "no"),
    ("no message", {"error": "druidException", "errorMessage": None}, "druidException"),
    (
        "Jackson",
        {"error": "Cannot construct instance of `org.apache.druid.X`, problem: no\n at [Source: (x); line: 1]"},
        "Cannot construct instance of `org.apache.druid.X`, problem: no",
    ),
]


@pytest.mark.parametrize(("what", "document", "words"), DOCUMENTS, ids=[what for what, *_rest in DOCUMENTS])
def test_reads_documents(what: str, document: Any, words: str) -> None:
    assert parse_error_text(json.dumps(document).encode()) == ErrorText(words, Source.API), what


# (name, the page, the message)
PAGES: list[tuple[str, str, str]] = [
    (
        "Jetty 9.4 and newer",
        "<html>\n<head><title>Error 500 x</title></head><body><h2>HTTP ERROR 500 x</h2>\n<table>\n"
        "<tr><th>URI:</th><td>/a</td></tr>\n<tr><th>STATUS:</th><td>500</td></tr>\n"
        "<tr><th>MESSAGE:</th><td>javax.servlet.ServletException: com.fasterxml.X: no</td></tr>\n"
        "<tr><th>CAUSED BY:</th><td>com.fasterxml.jackson.core.JsonParseException: Unexpected character (&#39;}&#39; "
        "(code 125))\n at [Source: (x); line: 1]</td></tr>\n"
        "<tr><th>CAUSED BY:</th><td>java.lang.RuntimeException: deeper</td></tr></table>\n"
        "<h3>Caused by:</h3><pre>...</pre></body></html>",
        "JsonParseException: Unexpected character ('}' (code 125))",
    ),
    (
        "Jetty of old",
        "<html><head><title>Error 404 Not Found</title></head><body><h2>HTTP ERROR 404</h2>\n"
        "<p>Problem accessing /a. Reason:\n<pre>    Not Found</pre></p></body></html>",
        "Not Found",
    ),
]


@pytest.mark.parametrize(("what", "page", "words"), PAGES, ids=[what for what, *_rest in PAGES])
def test_reads_pages(what: str, page: str, words: str) -> None:
    assert parse_error_text(page.encode()) == ErrorText(words, Source.WEB_SERVER), what


def test_document_of_jetty_is_not_druids() -> None:
    page = {
        "servlet": "x",
        "cause0": "java.lang.IllegalStateException: no",
        "message": "y",
        "url": "/",
        "status": "500",
    }
    assert parse_error_text(json.dumps(page).encode()) == ErrorText("IllegalStateException: no", Source.WEB_SERVER)
    assert parse_error_text(json.dumps({**page, "cause0": None}).encode()) == ErrorText("y", Source.WEB_SERVER)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"Cannot find any supervisor with id: [a]\n", "Cannot find any supervisor with id: [a]"),
        (b'{"error": "a\\r\\n  b\\t c"}', "a b c"),
        (b'{"error": "java.lang.NullPointerException\\n\\tat org.apache.druid.A.b(A.java:1)"}', "NullPointerException"),
        (b'{"error": "' + b"x" * 10_000 + b'"}', "x" * (MAX_TEXT_LENGTH - 1) + "…"),
    ],
)
def test_text_is_one_short_line(body: bytes, words: str) -> None:
    assert parse_error_text(body) == ErrorText(words, Source.API)


# The text of a server that is not Druid is not repeated.
FOREIGN: list[str | bytes] = [
    "no route to hunter2",
    b"\xff\xfe",
    '"hunter2"',
    "[1]",
    '{"status": "FAILED"}',
    '{"message": "hunter2"}',
    '{"kind": "Status", "message": "hunter2", "code": 404}',
    '{"error": "Not Found", "timestamp": 1, "path": "/"}',
    '{"error": {"hunter2": 1}}',
    '{"error": 5}',
    '{"error": null}',
    "{}",
    "[" * 100_000,
    "<html><head><title>502 Bad Gateway</title></head><body>hunter2</body></html>",
    "<!DOCTYPE html>\n<body><style>p {}</style><h1>hunter2</h1><p>for now</p>",
    "<html><body>hunter2",
    "<html></html>",
]


@pytest.mark.parametrize("body", FOREIGN)
def test_the_text_of_another_server_is_not_shown(body: str | bytes) -> None:
    assert parse_error_text(body if isinstance(body, bytes) else body.encode()) == OF_OTHERS


@pytest.mark.parametrize("body", [b"", b" \n"])
def test_empty_body(body: bytes) -> None:
    assert parse_error_text(body) == NO_TEXT


def test_masks_before_it_truncates() -> None:
    body = b'{"error": "' + b"x" * (MAX_TEXT_LENGTH - 4) + b'hunter2"}'
    assert "hun" not in parse_error_text(body, lambda text: text.replace("hunter2", "*")).text


@given(
    st.one_of(
        st.binary(),
        st.text(alphabet='<>/&;"{}[]: htmlbodyprea\n').map(str.encode),
        st.text().map(lambda text: f"<html><tr><th>MESSAGE:<td>{text}".encode()),
    )
)
def test_reads_anything_in_one_short_line(body: bytes) -> None:
    words = parse_error_text(body).text
    assert len(words) <= MAX_TEXT_LENGTH
    assert "\n" not in words


INSERT = "INSERT INTO a SELECT * FROM b PARTITIONED BY ALL"
ANONYMOUS = Connection(("http://druid",))
ADMIN = Connection(("http://druid",), username="admin", password="hunter2")
BEARER = Connection(("http://druid",), token="hunter2")


def test_known_types_are_left_to_the_hint() -> None:
    text = (
        "Please make sure to load all the necessary extensions and jars with type 'loadForver' on 'druid/coordinator' "
        "service. Could not resolve type id 'loadForver' as a subtype of `org.apache.druid.server.coordinator.Rule` "
        "known type ids = [broadcastByInterval, dropForever, loadForever] (for POJO property 'rule')"
    )
    found = parse_error_text(json.dumps({"error": text}).encode()).text
    assert found == "Could not resolve type id 'loadForver' (for POJO property 'rule')"


@pytest.mark.parametrize(
    ("connection", "hint"),
    [
        (ANONYMOUS, "Set the options username and password (DRUID_USERNAME, DRUID_PASSWORD), or token (DRUID_TOKEN)"),
        (ADMIN, "Check the options username and password (DRUID_USERNAME, DRUID_PASSWORD)"),
        (BEARER, "Druid does not accept the token. Check the option token (DRUID_TOKEN) and whether it has expired"),
    ],
)
def test_names_the_authentication_options(connection: Connection, hint: str) -> None:
    assert error_message.hint_of_unauthorized(connection) == hint


def test_names_the_missing_permission() -> None:
    read, insert = HttpRequest("GET", "/status"), HttpRequest("POST", "/druid/v2/sql/task", document={"query": INSERT})

    assert error_message.hint_of_forbidden(ADMIN, read) == "The user admin needs the permission READ on STATE STATE"
    assert error_message.hint_of_forbidden(BEARER, insert) == (
        "The user needs the permissions WRITE on DATASOURCE a and READ on DATASOURCE of each table that it reads"
    )


def test_no_hint_for_other_errors() -> None:
    assert error_message.hint_of_forbidden(BEARER, HttpRequest("GET", "/statuses")) == "The user lacks a permission"


@given(st.text(), st.text(min_size=4), st.integers(470, 510))
def test_a_secret_is_masked_before_the_end_is_cut(text: str, secret: str, start: int) -> None:
    body = f"{text}{'-' * start}{secret}{'-' * 99}".encode()
    quoted = error_message.quoted(body, lambda found: found.replace(secret, "*"))
    assert len(quoted) <= error_message.MAX_QUOTED_LENGTH
    assert quoted == error_message.quoted(f"{text}{'-' * start}{'*'}{'-' * 99}".encode(), str) or secret in text


def test_lookup_in_an_error_that_a_gateway_wraps_is_left_out() -> None:
    text = "given update for lookup [t]:[a] can't replace existing spec [Lookup{version='v1', f={password=hunter2}}]."
    body = json.dumps({"message": text}).encode()
    assert error_message.quoted(body, str).endswith("[t]:[a] can't replace existing spec")


@pytest.mark.parametrize(("quotes", "expected"), [(True, ": the ******** of another server"), (False, "")])
@pytest.mark.parametrize("status", [400, 404, 500])
def test_only_who_specified_the_server_reads_what_it_responds(quotes: bool, expected: str, status: int) -> None:
    """The author of a resource would read the responses of other servers in the network of the operator."""
    url = "http://druid:1"
    connection = Connection((url,), username="u", password="hunter2", quotes_errors=quotes)
    parser = ResponseParser(connection, None)  # type: ignore[arg-type]
    response = Response(status, {}, b"the hunter2 of another server", "GET", url)
    error = parser.error("", HttpRequest("GET", "/druid/v2/sql"), response)
    assert error.message == f"text, which is in no form of Druid's{expected}"
