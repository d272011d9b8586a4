# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a query by SQL is sent with, and what is rejected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import ServerError, Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._operations.query import run_query
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import InvalidInput
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    Answer,
    Server,
    close,
    say,
    serving,
)

__all__ = ["fake_time"]

PARAMS: dict[str, Any] = {
    "query": "SELECT 1 AS a",
    "parameters": None,
    "context": None,
    "limit": 2,
    "read_timeout": 30.0,
}
ROWS = [{"a": 1}, {"a": 2}, {"a": 3}]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def test_rows_up_to_the_limit(server: Server, fake_time: FakeTime) -> None:
    client = fake_time.client(server.url)
    server.answers = [say(200, ROWS), say(200, ROWS[:2])]
    assert run_query(client, PARAMS) == {"changed": False, "rows": ROWS[:2], "truncated": True}
    assert run_query(client, PARAMS) == {"changed": False, "rows": ROWS[:2], "truncated": False}


def test_secrets_in_documents_of_druid_are_masked(server: Server, fake_time: FakeTime) -> None:
    rows = [{"spec": '{"ioConfig": {"consumerProperties": {"ssl.key.password": "hunter2"}}}', "password": "mine"}]
    server.answers = [say(200, rows)]
    client = fake_time.client(server.url)
    found = run_query(client, {**PARAMS, "query": "SELECT spec FROM sys.supervisors"})["rows"]
    assert "hunter2" not in str(found)
    assert run_query(client, PARAMS)["rows"] == rows


PARTS = [
    ('"requestHeaders": {"X-Id": "hunter2"}, "type": "http"}', '"requestHeaders":********'),
    ('a: {"spec": "{\\"headers\\": {\\"X-Id\\": \\"hunter2', 'a: {"spec": "{\\"headers\\":********'),
    ('"ssl.key.password": "hunter2', '"ssl.key.password":********'),
    ('"topic": "a", "type": "kafka"', '"topic": "a", "type": "kafka"'),
]


@pytest.mark.parametrize(("part", "expected"), PARTS)
def test_part_of_a_document_ends_at_a_secret(part: str, expected: str, server: Server, fake_time: FakeTime) -> None:
    server.answers = [say(200, [{"a": part}])]
    query = "SELECT SUBSTRING(spec, 9, 50) AS a FROM sys.supervisors"
    assert run_query(fake_time.client(server.url), {**PARAMS, "query": query})["rows"] == [{"a": expected}]


CONTEXTS = [
    ({}, {"timeout": 28000, "sqlOuterLimit": 3}),
    ({"read_timeout": 1.0}, {"timeout": 500, "sqlOuterLimit": 3}),
    ({"context": "timeout: 5\npriority: 1"}, {"timeout": 5, "priority": 1, "sqlOuterLimit": 3}),
    ({"query": "explain plan for select 1"}, {"timeout": 28000}),
]


@pytest.mark.parametrize(("params", "context"), CONTEXTS)
def test_context(params: dict[str, Any], context: dict[str, Any], server: Server, fake_time: FakeTime) -> None:
    server.answers = [say(200, [])]
    run_query(fake_time.client(server.url), {**PARAMS, **params})
    assert json.loads(server.asked[0].body)["context"] == context


INVALID = [
    ({"query": "DELETE FROM a"}, "query: it begins with DELETE"),
    ({"limit": 0}, "limit (0): set a number"),
    ({"context": {"sqlOuterLimit": 5}}, "context.sqlOuterLimit (5): limit the rows with the option limit"),
    ({"parameters": ["hunter2"]}, "parameters[0]: must be a mapping with type and value"),
]


@pytest.mark.parametrize(("params", "message"), INVALID)
def test_rejects(params: dict[str, Any], message: str, server: Server, fake_time: FakeTime) -> None:
    with pytest.raises(InvalidInput) as error:
        run_query(fake_time.client(server.url), {**PARAMS, **params})
    assert str(error.value).startswith(message)
    assert server.asked == []


ERROR = {"error": "Query timeout", "errorMessage": "Query did not complete within configured timeout period."}


@pytest.mark.parametrize(("answer", "requests"), [(say(504, ERROR), 1), (say(503, ERROR), 2), (close, 1)])
def test_query_that_took_too_long_or_ended_its_server_is_not_repeated(
    answer: Answer, requests: int, server: Server, fake_time: FakeTime
) -> None:
    server.answers = [answer, say(500, ERROR)]
    with pytest.raises((ServerError, Unreachable), match=r"did not complete|closed the connection"):
        run_query(fake_time.client(server.url, retry_timeout=20.0), PARAMS)
    assert len(server.asked) == requests
