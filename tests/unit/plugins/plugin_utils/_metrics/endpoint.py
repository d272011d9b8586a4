# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A metrics endpoint on a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint(ThreadingHTTPServer):
    """Records the posted metrics and the connections; responds with 400 to the metrics in `rejected`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.posted: list[tuple[str, Any]] = []
        self.connections: set[Any] = set()
        self.rejected: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/metrics"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.posted.append((self.path, body))
        self.server.connections.add(self.client_address)
        is_rejected = body["name"] in self.server.rejected
        content = b"cannot change metric type\n" if is_rejected else b""
        self.send_response(400 if is_rejected else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: Any) -> None:
        """Write no log."""


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Run the endpoint in the context."""
    with Endpoint() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            yield server
        finally:
            server.shutdown()
