# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the runs post their metrics, and where Prometheus reads them all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .metrics import RefusedError

_PATH = "/metrics"


def serve_posts(port: int, post: Callable[[bytes], None]) -> None:
    """Take metrics in the background; what goes wrong is answered as 400."""
    _serve(("127.0.0.1", port), _Posts, post)


def serve_scrapes(address: tuple[str, int], text: Callable[[], str]) -> None:
    """Answer scrapes in the background."""
    _serve(address, _Scrapes, text)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[_Handler], call: Callable[..., Any]) -> None:
        super().__init__(address, handler)
        self.call = call


def _serve(address: tuple[str, int], handler: type[_Handler], call: Callable[..., Any]) -> None:
    server = _Server(address, handler, call)
    threading.Thread(target=server.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""

    @property
    def _is_known(self) -> bool:
        return self.path.split("?")[0] == _PATH

    def _answer(self, status: int, text: str = "", content_type: str = "text/plain; charset=utf-8") -> None:
        content = text.encode()
        self.send_response_only(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class _Posts(_Handler):
    def do_POST(self) -> None:
        """Take one metric."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self._is_known:
            self._answer(404, "404 page not found\n")
            return
        try:
            self.server.call(body)
        except RefusedError as error:
            self._answer(400, f"{error}\n")
        else:
            self._answer(200)

    def do_GET(self) -> None:
        """There is nothing to be read here."""
        self._answer(405 if self._is_known else 404, "Method not allowed\n")


class _Scrapes(_Handler):
    def do_GET(self) -> None:
        """Answer all metrics."""
        if self._is_known:
            self._answer(200, self.server.call(), "text/plain; version=0.0.4; charset=utf-8")
        else:
            self._answer(404, "404 page not found\n")
