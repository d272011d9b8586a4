# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One time limit for all requests of a run: it ends whatever servers do, and a run that could write has written."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http import time_limit
from ansible_collections.druidops.druid.plugins.module_utils._http.errors import Unreachable
from ansible_collections.druidops.druid.plugins.module_utils._http.time_limit import WRITE_SECONDS, TimeLimit
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.fake_time import FakeTime, fake_time
from ansible_collections.druidops.druid.tests.unit.plugins.module_utils.misbehaving_server import (
    be_silent,
    say,
    serving,
)
from hypothesis import given
from hypothesis import strategies as st

__all__ = ["fake_time"]

RUN = 30.0
REQUESTS = st.lists(st.tuples(st.booleans(), st.floats(0.0, 1.0)))


@given(REQUESTS)
def test_run_ends_and_its_first_write_has_time(requests: list[tuple[bool, float]]) -> None:
    """Each request takes some part of its timeout, or all of it."""
    clock = [0.0]
    limit, writes = TimeLimit(RUN, lambda: clock[0]), 0
    for is_write, part in requests:
        seconds = limit.timeout(is_write=is_write).seconds
        assert seconds >= (WRITE_SECONDS if is_write and not writes else 0)
        writes += is_write
        clock[0] += seconds * part
    assert clock[0] <= RUN + WRITE_SECONDS


@pytest.mark.parametrize(
    ("now", "writes", "read", "write"),
    [(0, 0, 30, 30), (15, 0, 15, 15), (25, 0, 5, 10), (25, 1, 5, 5), (30, 0, 0, 10), (30, 1, 0, 0), (90, 1, 0, 0)],
)
def test_what_is_left(now: float, writes: int, read: float, write: float) -> None:
    clock = [0.0]
    limit = TimeLimit(RUN, lambda: clock[0])
    for _write in range(writes):
        limit.timeout(is_write=True)
    clock[0] = now
    assert [limit.timeout(is_write=is_write).seconds for is_write in (False, True)] == [read, write]


def test_connections_of_a_run_share_its_time(fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "WRITE_SECONDS", 0.3)
    with serving() as server:
        server.answers = [be_silent, be_silent, say(200, [])]
        limit = TimeLimit(0.3)
        first, second = (fake_time.client(server.url, retry_timeout=0, time_limit=limit) for _client in range(2))
        with pytest.raises(Unreachable, match=r"no complete response within 0.* s of one reconcile in the operator"):
            first.get("/x")
        with pytest.raises(Unreachable, match="no time is left"):
            second.get("/x")
        # A query is none, although it is a POST.
        with pytest.raises(Unreachable, match="no time is left"):
            second.post("/druid/v2/sql", {"query": "SELECT 1"}, idempotent=True)
        with pytest.raises(Unreachable, match=r"within 0.3 seconds") as abandoned:
            second.post("/x", {})
        with pytest.raises(Unreachable, match="no time is left") as unsent:
            first.post("/x", {})
        assert (abandoned.value.sent, unsent.value.sent) == (True, False)
        assert [asked.method for asked in server.asked] == ["GET", "POST"]


def test_timeout_of_one_read_is_shorter(fake_time: FakeTime) -> None:
    with serving() as server:
        server.answers = [be_silent, say(200, [])]
        client = fake_time.client(server.url, read_timeout=0.3, retry_timeout=0, time_limit=TimeLimit(RUN))
        with pytest.raises(Unreachable, match=r"within 0.3 seconds \(read_timeout\)"):
            client.get("/x")
        assert client.get("/x") == []


@contextmanager
def silent_listeners() -> Iterator[list[tuple[str, int]]]:
    """Several addresses of this host that accept no connection: the backlog of each is full."""
    with ExitStack() as stack:
        found: list[tuple[str, int]] = []
        for last in range(2, 6):
            listener = stack.enter_context(socket.socket())
            listener.bind((f"127.0.0.{last}", found[0][1] if found else 0))
            listener.listen(0)
            found.append(listener.getsockname())
            for _connection in range(3):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(found[-1])
        yield found


OVER = r"no connection within the 0\.4 s of one reconcile in the operator"


@pytest.mark.parametrize("method", ["get", "post"])
def test_all_addresses_of_a_name_share_the_time_of_a_run(
    fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Each of them has the timeout of a connection."""
    monkeypatch.setattr(time_limit, "WRITE_SECONDS", 0.0)
    with silent_listeners() as addresses:
        tried: list[str] = []

        def resolve(host: str, *_arguments: Any, **_keywords: Any) -> list[Any]:
            tried.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", each) for each in addresses]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        url = f"http://druid.example:{addresses[0][1]}"
        client = fake_time.client(url, connect_timeout=0.3, retry_timeout=0, time_limit=TimeLimit(0.4))
        with pytest.raises(Unreachable, match=OVER) as abandoned:
            client.get("/x") if method == "get" else client.post("/x", {})
        assert (abandoned.value.sent, tried) == (False, ["druid.example"])
        # without a limit of the run, each of them is tried
        client = fake_time.client(url, connect_timeout=0.1, retry_timeout=0)
        with pytest.raises(Unreachable, match=r"no connection within 0\.1 seconds"):
            client.get("/x")


def test_resolution_of_a_name_has_the_time_of_a_run(fake_time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    is_resolved = threading.Event()

    def resolve(*_arguments: Any, **_keywords: Any) -> list[Any]:
        is_resolved.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    client = fake_time.client("http://druid.example", retry_timeout=0, time_limit=TimeLimit(0.4))
    with pytest.raises(Unreachable, match=OVER):
        client.get("/x")
    is_resolved.set()
    with pytest.raises(Unreachable, match="cannot be resolved"):
        fake_time.client("http://druid.example", retry_timeout=0, time_limit=TimeLimit(RUN)).get("/x")


def test_handshake_has_the_time_of_a_run(fake_time: FakeTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        client = fake_time.client(url, retry_timeout=0, time_limit=TimeLimit(0.4))
        with pytest.raises(Unreachable, match=OVER):
            client.get("/x")
