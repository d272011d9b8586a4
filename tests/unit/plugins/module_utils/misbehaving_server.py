# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server on a real socket that responds or misbehaves as configured, and records its requests."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

DRIP_SECONDS = 0.01


class Asked(NamedTuple):
    """A request to the server. The names of headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[["Handler"], None]


def say(status: int, body: Any = b"", **headers: str) -> Answer:
    """Respond with these bytes, this text or this JSON document."""
    content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()

    def answer(handler: Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def send(content: bytes) -> Answer:
    """Send these very bytes, then close the connection."""

    def answer(handler: Handler) -> None:
        handler.wfile.write(content)
        handler.close_connection = True

    return answer


def be_silent(handler: Handler) -> None:
    """Do not respond until the test is over."""
    handler.server.over.wait()


def close(handler: Handler) -> None:
    """Close the connection without a word."""
    handler.close_connection = True


def reset(handler: Handler) -> None:
    """Break the connection."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


def drip(head: bytes) -> Answer:
    """Send ``head``, then a byte now and then, until the client disconnects or the test is over."""

    def answer(handler: Handler) -> None:
        handler.close_connection = True
        with suppress(OSError):
            handler.wfile.write(head)
            handler.wfile.flush()
            while not handler.server.over.wait(DRIP_SECONDS):
                handler.wfile.write(b"x")
                handler.wfile.flush()

    return answer


def flood(head: bytes, endless: bytes) -> Answer:
    """Send ``head``, then the same bytes as fast as possible, until the client disconnects or the test is over."""
    piece = endless * (65536 // len(endless))

    def answer(handler: Handler) -> None:
        handler.close_connection = True
        with suppress(OSError):
            handler.wfile.write(head)
            while not handler.server.over.is_set():
                handler.wfile.write(piece)
                handler.server.flooded += len(piece)

    return answer


class Server(ThreadingHTTPServer):
    """Returns the responses for a path, or else those for any path, in their order; the last one repeatedly."""

    daemon_threads = True
    block_on_close = True

    def __init__(self, certificate: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = [say(200, {"id": "a"})]
        self.routes: dict[str, list[Answer]] = {}
        self.asked: list[Asked] = []
        self.over = threading.Event()
        self.flooded = 0
        self.certificate = certificate
        self.connections: list[socket.socket] = []

    @property
    def url(self) -> str:
        """The address."""
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.server_port}"

    @property
    def paths(self) -> list[str]:
        """Method and path of each request that arrived."""
        return [f"{asked.method} {asked.path}" for asked in self.asked]

    def next_answer(self, path: str) -> Answer:
        """Return what to do now."""
        answers = self.routes.get(path.partition("?")[0], self.answers)
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its own thread: the handshake of one must not block another."""
        with suppress(OSError):
            if self.certificate:
                request = self.certificate.wrap_socket(request, server_side=True)
            with request:
                self.connections.append(request)
                super().finish_request(request, client_address)

    def hang_up(self) -> None:
        """End all connections that are open."""
        self.over.set()
        for connection in self.connections:
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    # Each response in one piece: two would wait for each other (Nagle's algorithm and delayed acknowledgements).
    wbufsize = -1
    server: Server

    def serve(self) -> None:
        """Record the request and respond."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append(Asked(self.command, self.path, headers, body))
        self.server.next_answer(self.path)(self)

    do_GET = do_POST = do_DELETE = do_CONNECT = serve  # noqa: N815

    def log_message(self, *_arguments: Any) -> None:
        """Log nothing."""


@contextmanager
def serving(certificate: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server as long as the block lasts."""
    with Server(certificate) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.hang_up()
