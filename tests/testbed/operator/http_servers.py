# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HTTP servers in the background."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer, ThreadingMixIn, UnixStreamServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """A request to a server."""

    method: str
    # with the query
    url: str
    # by their names in lower case
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Response:
    """A response."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/plain; charset=utf-8"})


Answer = Callable[[Request], Response]


def serve(address: tuple[str, int] | str, answer: Answer) -> BaseServer:
    """Serve a port, or a unix socket."""
    handler = _handler(answer, isinstance(address, tuple))
    server = _TcpServer(address, handler) if isinstance(address, tuple) else _UnixServer(address, handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


class _Server(BaseServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log errors, except that a client has closed its connection, as Go's server does."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _TcpServer(_Server, ThreadingHTTPServer):
    request_queue_size = 128


class _UnixServer(_Server, ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


def _handler(answer: Answer, is_tcp: bool) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = is_tcp

        def respond(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            response = answer(Request(self.command, self.path, headers, body))
            self.send_response_only(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            if response.status != 204:
                self.send_header("Content-Length", str(len(response.content)))
            self.end_headers()
            self.wfile.write(response.content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond  # noqa: N815

        def log_message(self, *_arguments: Any) -> None:
            """Log nothing."""

    return Handler
