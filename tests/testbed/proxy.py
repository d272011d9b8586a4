# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP proxy on loopback in front of one server, whose owner decides what becomes of each request."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import urllib3

_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host"})
# With this a closed socket sends RST, not FIN.
_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Request:
    """One request as it came in; the path is followed by the query."""

    method: str
    path: str
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Answer:
    """A response to the client."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Loss(Enum):
    """Ways to get no response."""

    REFUSED = "connection reset before the server saw it"
    HUNG = "no answer, and the server never saw it"
    CUT = "connection reset after it took effect"
    LOST = "no answer after it took effect"
    BROKEN = "connection reset, because the server broke off"


# Forwards to the upstream server.
Forward = Callable[[Request], Answer | Loss]
# Responds with the help of the upstream server: later, to another request, or modified.
Go = Callable[[Request, Forward], Answer | Loss]
# The response instead of the server's; None to forward the request.
React = Callable[[Request], Answer | Loss | Go | None]
OnResponse = Callable[[Request, Answer | Loss], None]


@dataclass(frozen=True)
class Upstream:
    """The server behind."""

    url: str
    authority: Path | None = None
    certificate: tuple[Path, Path] | None = None

    def pool(self) -> urllib3.PoolManager:
        """Connections to it."""
        certificate, key = map(str, self.certificate) if self.certificate else (None, None)
        authority = self.authority and str(self.authority)
        return urllib3.PoolManager(ca_certs=authority, cert_file=certificate, key_file=key, maxsize=8, retries=False)


def _ignore(_request: Request, _answer: Answer | Loss) -> None:
    """Log nothing."""


@contextmanager
def proxy(upstream: Upstream, react: React, on_response: OnResponse = _ignore) -> Iterator[str]:
    """Yield the URL; `on_response` is called with each response just before the client gets it."""
    pool = upstream.pool()
    server = _Server(upstream.url, pool, react, on_response)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        pool.clear()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, url: str, pool: urllib3.PoolManager, react: React, on_response: OnResponse) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url, self.pool, self.react, self.on_response = url, pool, react, on_response

    def shutdown_request(self, request: Any) -> None:
        """Close without a farewell, so that a reset is one."""
        self.close_request(request)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle_any(self) -> None:
        """Forward the request, unless a rule applies to it."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(self.command, self.path, self.headers.get("Content-Type", ""), body)
        response = self._response(request, self.server.react(request))
        self.server.on_response(request, response)
        if isinstance(response, Answer):
            self._answer(response)
        else:
            self._lose_answer(response)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def log_message(self, *_arguments: Any) -> None:
        """Log nothing."""

    def _response(self, request: Request, reaction: Answer | Loss | Go | None) -> Answer | Loss:
        if reaction is None:
            return self._forward(request)
        if callable(reaction):
            return reaction(request, self._forward)
        if reaction in (Loss.CUT, Loss.LOST):
            self._forward(request)
        return reaction

    def _forward(self, request: Request) -> Answer | Loss:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        try:
            answer = self.server.pool.request(
                request.method,
                self.server.url + request.path,
                body=request.body or None,
                headers=headers,
                redirect=False,
                decode_content=False,
            )
        except urllib3.exceptions.HTTPError:
            return Loss.BROKEN
        return Answer(answer.status, tuple(answer.headers.items()), answer.data)

    def _answer(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.headers:
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def _lose_answer(self, loss: Loss) -> None:
        if loss in (Loss.HUNG, Loss.LOST):
            # Returns when the client has reached its timeout and closed the connection.
            self.connection.recv(1)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.close_connection = True
