# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recording proxy forwards requests, records them, and injects failures."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, RemoteDisconnected
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.testbed.ports import reserved_ports
from ansible_collections.druidops.druid.tests.testbed.proxy import Answer, Loss, Upstream
from ansible_collections.druidops.druid.tests.testbed.recording_proxy import (
    SERVER_ERROR_PAGE,
    UNAVAILABLE,
    Exchange,
    RecordingProxy,
    recording_proxy,
)

SUPERVISORS = "/druid/indexer/v1/supervisor"


@dataclass
class Server:
    """A server that returns the request, compressed, and redirects requests for a leader."""

    url: str = ""
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    served = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            served.requests.append((self.command, self.path, body))
            content = gzip.compress(f"{self.command} {self.path} {body.decode()}".encode())
            self.send_response(307 if "leader" in self.path else 200)
            self.send_header("Location", "http://leader.example.com/")
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_DELETE = do_POST  # noqa: N815

        def log_message(self, *_arguments: Any) -> None:
            """Log nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield served
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.fixture
def proxy(server: Server) -> Iterator[RecordingProxy]:
    with recording_proxy(Upstream(server.url)) as recording:
        yield recording


def ask(proxy: RecordingProxy, method: str, path: str, body: str = "", timeout: float = 30) -> Answer:
    """The response through the proxy."""
    connection = HTTPConnection(proxy.url.removeprefix("http://"), timeout=timeout)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        return Answer(response.status, tuple(response.getheaders()), response.read())
    finally:
        connection.close()


def test_forwards_and_records(server: Server, proxy: RecordingProxy) -> None:
    answer = ask(proxy, "POST", f"{SUPERVISORS}?skipRestartIfUnmodified=true", '{"type": "kafka"}')
    assert answer.status == 200
    assert dict(answer.headers)["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.body).decode().startswith("POST /druid/indexer/v1/supervisor?skip")
    assert server.requests == [("POST", f"{SUPERVISORS}?skipRestartIfUnmodified=true", b'{"type": "kafka"}')]
    assert proxy.exchanges == [Exchange("POST", f"{SUPERVISORS}?skipRestartIfUnmodified=true", 200)]


def test_redirect_reaches_the_client(proxy: RecordingProxy) -> None:
    answer = ask(proxy, "GET", "/leader")
    assert (answer.status, dict(answer.headers)["Location"]) == (307, "http://leader.example.com/")


def test_counts_writes(proxy: RecordingProxy) -> None:
    for method in ("GET", "POST", "DELETE"):
        ask(proxy, method, "/")
    assert [each.method for each in proxy.writes] == ["POST", "DELETE"]
    proxy.clear()
    assert proxy.exchanges == []


@pytest.mark.parametrize("answer", [UNAVAILABLE, SERVER_ERROR_PAGE])
def test_responds_instead_of_the_server_once(server: Server, proxy: RecordingProxy, answer: Answer) -> None:
    proxy.fail_next(answer, method="POST", path="/supervisor$")
    assert ask(proxy, "GET", SUPERVISORS).status == 200
    assert ask(proxy, "POST", "/druid/v2/sql").status == 200
    failed = ask(proxy, "POST", SUPERVISORS)
    assert (failed.status, failed.body) == (answer.status, answer.body)
    assert proxy.unmet == 0
    assert ask(proxy, "POST", SUPERVISORS).status == 200
    assert len(server.requests) == 3
    assert [each.status for each in proxy.exchanges] == [200, 200, answer.status, 200]


@pytest.mark.parametrize(("loss", "arrives"), [(Loss.REFUSED, False), (Loss.CUT, True)])
def test_cuts_the_connection(server: Server, proxy: RecordingProxy, loss: Loss, arrives: bool) -> None:
    proxy.fail_next(loss)
    with pytest.raises((ConnectionResetError, RemoteDisconnected)):
        ask(proxy, "POST", SUPERVISORS)
    assert bool(server.requests) is arrives
    assert proxy.exchanges == [Exchange("POST", SUPERVISORS, None)]


@pytest.mark.parametrize(("loss", "arrives"), [(Loss.HUNG, False), (Loss.LOST, True)])
def test_lets_the_client_wait(server: Server, proxy: RecordingProxy, loss: Loss, arrives: bool) -> None:
    proxy.fail_next(loss)
    with pytest.raises(TimeoutError):
        ask(proxy, "POST", SUPERVISORS, timeout=0.5)
    assert bool(server.requests) is arrives
    assert [str(each) for each in proxy.exchanges] == ["POST /druid/indexer/v1/supervisor: no answer"]


def test_unused_failure_is_counted_and_reset(proxy: RecordingProxy) -> None:
    proxy.fail_next(UNAVAILABLE, path="/never")
    assert (ask(proxy, "GET", "/").status, proxy.unmet) == (200, 1)
    proxy.clear()
    assert proxy.unmet == 0


def test_forwards_a_modified_response(proxy: RecordingProxy) -> None:
    proxy.fail_next(lambda request, forward: forward(replace(request, path="/other")), path="/supervisor$")
    answer = ask(proxy, "POST", SUPERVISORS, "x")
    assert gzip.decompress(answer.body).decode() == "POST /other x"
    assert proxy.exchanges == [Exchange("POST", SUPERVISORS, 200)]


def test_unreachable_server_closes_the_connection() -> None:
    with reserved_ports(1) as (port,):
        unreachable = f"http://127.0.0.1:{port}"
    with recording_proxy(Upstream(unreachable)) as proxy, pytest.raises((ConnectionResetError, RemoteDisconnected)):
        ask(proxy, "POST", SUPERVISORS)
    assert proxy.exchanges == [Exchange("POST", SUPERVISORS, None)]
