# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A proxy in front of the API server that sees every request, fails a chosen one, or lets somebody act before it."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Transport
from testbed.control_plane import ControlPlane

# How long a client waits for an answer that never comes.
SHORT_TIMEOUT_SECONDS = 0.5
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host"})
# With this a closed socket says RST, not FIN.
_NO_LINGER = struct.pack("ii", 1, 0)


class Fault(Enum):
    """What becomes of the chosen request."""

    RESET_BEFORE = "connection reset before the server saw it"
    RESET_AFTER = "connection reset after it took effect"
    TIMEOUT = "no answer after it took effect"
    CONFLICT = 409
    TOO_MANY_REQUESTS = 429
    SERVER_ERROR = 500
    UNAVAILABLE = 503


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    content_type: str
    body: Any

    @property
    def changes_something(self) -> bool:
        """True for what is sent to be stored."""
        dry = "dryRun" in self.query or (isinstance(self.body, dict) and bool(self.body.get("dryRun")))
        return self.method != "GET" and not dry

    def __str__(self) -> str:
        return f"{self.method} {self.path}{' (dry run)' if 'dryRun' in self.query else ''}"


Meanwhile = Callable[[], object]


@dataclass
class FaultProxy:
    """Plain HTTP on loopback, the API server behind. Requests are counted from one."""

    plane: ControlPlane
    server: ThreadingHTTPServer
    pool: urllib3.PoolManager
    seen: list[Seen] = field(default_factory=list)
    position: int = 0
    fault: Fault | None = None
    meanwhile: Meanwhile | None = None
    reached: Seen | None = None
    failure: BaseException | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def wrote(self) -> bool:
        """True when an object was sent to be stored; status and events do not count."""
        objects = (each for each in self.seen if not each.path.endswith(("/status", "/events")))
        return any(each.changes_something for each in objects)

    def expect(self, position: int = 0, fault: Fault | None = None, meanwhile: Meanwhile | None = None) -> None:
        """Count anew; fail the request at that position, or let somebody do something just before it."""
        self.seen.clear()
        self.position, self.fault, self.meanwhile, self.reached = position, fault, meanwhile, None
        if self.failure is not None:
            raise AssertionError("what was to happen meanwhile went wrong") from self.failure

    def api(self, user: str = "druidops") -> KubernetesApi:
        """Return a connection of the user through the proxy; pauses that the server asks for cost no time."""
        api = connect({"host": f"http://127.0.0.1:{self.server.server_port}", "api_key": self.plane.token(user)})
        return replace(api, transport=_Impatient(api.transport, self), sleep=lambda _seconds: None)

    def take(self, request: Seen) -> Fault | None:
        """Count a request and return what becomes of it."""
        with self.lock:
            self.seen.append(request)
            if len(self.seen) != self.position:
                return None
            self.reached = request
        if self.meanwhile is not None:
            self._step_in(self.meanwhile)
        return self.fault

    def _step_in(self, meanwhile: Meanwhile) -> None:
        """Let somebody act; what goes wrong with that is kept for the test, which is in another thread."""
        try:
            meanwhile()
        except BaseException as error:
            self.failure = error
            raise


@contextmanager
def fault_proxy(plane: ControlPlane) -> Iterator[FaultProxy]:
    """A proxy in front of that control plane."""
    server = _Server(("127.0.0.1", 0), _Handler)
    pool = urllib3.PoolManager(ca_certs=str(plane.ca_file), maxsize=8, retries=False)
    proxy = server.proxy = FaultProxy(plane, server, pool)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        pool.clear()


class _Server(ThreadingHTTPServer):
    proxy: FaultProxy
    daemon_threads = True
    block_on_close = False

    def shutdown_request(self, request: Any) -> None:
        """Close without a farewell, so that a reset is one."""
        self.close_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle_any(self) -> None:
        """Pass the request on, unless it is the chosen one."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.proxy.take(self._seen(body))
        if fault is Fault.RESET_BEFORE:
            self._reset()
        elif fault is None:
            self._answer(*self._forward(body))
        elif isinstance(fault.value, int):
            self._answer(
                fault.value, [("Retry-After", "1"), ("Content-Type", "application/json")], _status(fault.value)
            )
        else:
            self._forward(body)
            self._lose_answer(fault)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""

    def _seen(self, body: bytes) -> Seen:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        content_type = self.headers.get("Content-Type", "")
        return Seen(self.command, url.path, query, content_type, json.loads(body) if body else None)

    def _forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        proxy = self.server.proxy
        answer = proxy.pool.request(self.command, proxy.plane.url + self.path, body=body or None, headers=headers)
        return answer.status, list(answer.headers.items()), answer.data

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _lose_answer(self, fault: Fault) -> None:
        if fault is Fault.TIMEOUT:
            # Returns when the client has lost patience and closed the connection.
            self.connection.recv(1)
        self._reset()

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.close_connection = True


def _status(code: int) -> bytes:
    document = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "made to fail"}
    return json.dumps(document).encode()


@dataclass(frozen=True)
class _Impatient:
    """Does not wait long for an answer when none will come."""

    transport: Transport
    proxy: FaultProxy

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send the request."""
        timeout = {"timeout": SHORT_TIMEOUT_SECONDS} if self.proxy.fault is Fault.TIMEOUT else {}
        return self.transport.request(method, url, **{**arguments, **timeout})
