# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An API server on a real socket that returns prepared responses, and records the requests."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Response(NamedTuple):
    """A response; a string or bytes as `body` are sent unchanged, None breaks the connection."""

    status: int = 200
    body: Any = ""
    headers: tuple[tuple[str, str], ...] = ()


BROKEN = Response(body=None)


class Request(NamedTuple):
    """A request that the server received."""

    method: str
    path: str
    headers: dict[str, list[str]]
    body: bytes

    @property
    def document(self) -> Any:
        """Return the body as a JSON document."""
        return json.loads(self.body)


class Server(ThreadingHTTPServer):
    """Returns the responses in order, and then repeats the last one."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scheme = "http"
        if tls:
            self.scheme, self.socket = "https", tls.wrap_socket(self.socket, server_side=True)
        self.responses: list[Response] = [Response(body={})]
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        """Return the address."""
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    def next_response(self) -> Response:
        """Return the next response."""
        return self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Each response in one packet: two would wait for each other (Nagle's algorithm and delayed acknowledgements).
    wbufsize = -1
    server: Server

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            headers.setdefault(name.lower(), []).append(value)
        self.server.requests.append(Request(self.command, self.path, headers, body))
        response = self.server.next_response()
        if response.body is None:
            self._reset()
            return
        text = response.body if isinstance(response.body, bytes) else _text(response.body).encode()
        self.send_response(response.status)
        for name, value in (*response.headers, ("Content-Length", str(len(text)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def _reset(self) -> None:
        """Reset the connection without a response."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, *_arguments: Any) -> None:
        """Write no log."""


for _method in ("GET", "POST", "PUT", "PATCH", "DELETE", "CONNECT"):
    setattr(_Handler, f"do_{_method}", _Handler._serve)


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server in the context."""
    with Server(tls) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
