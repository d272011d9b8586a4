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


class Answer(NamedTuple):
    """What the server says; `body` as text is sent as it is, None breaks the connection."""

    status: int = 200
    body: Any = ""
    headers: tuple[tuple[str, str], ...] = ()


BROKEN = Answer(body=None)


class Asked(NamedTuple):
    """What the server was asked."""

    method: str
    path: str
    headers: dict[str, list[str]]
    body: bytes

    @property
    def document(self) -> Any:
        """The body as a JSON document."""
        return json.loads(self.body)


class Server(ThreadingHTTPServer):
    """Gives the answers in their order; the last one again and again."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scheme = "http"
        if tls:
            self.scheme, self.socket = "https", tls.wrap_socket(self.socket, server_side=True)
        self.answers: list[Answer] = [Answer(body={})]
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        """The address."""
        return f"{self.scheme}://127.0.0.1:{self.server_port}"

    def next_answer(self) -> Answer:
        """Return what to say now."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Each answer in one piece: two would wait for each other (Nagle's algorithm and delayed acknowledgements).
    wbufsize = -1
    server: Server

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            headers.setdefault(name.lower(), []).append(value)
        self.server.asked.append(Asked(self.command, self.path, headers, body))
        answer = self.server.next_answer()
        if answer.body is None:
            self._reset()
            return
        text = answer.body if isinstance(answer.body, bytes) else _text(answer.body).encode()
        self.send_response(answer.status)
        for name, value in (*answer.headers, ("Content-Length", str(len(text)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def _reset(self) -> None:
        """Break the connection at once, without a word."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


for _method in ("GET", "POST", "PUT", "PATCH", "DELETE", "CONNECT"):
    setattr(_Handler, f"do_{_method}", _Handler._serve)


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body)


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server as long as the block lasts."""
    with Server(tls) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
