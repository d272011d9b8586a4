# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the kubelet asks: whether the program is alive and ready, which it is as long as it answers."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def serve(address: tuple[str, int]) -> None:
    """Answer in the background."""
    server = ThreadingHTTPServer(address, _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer ok."""
        known = self.path.split("?")[0].rstrip("/") in ("/healthz", "/readyz", "/healthz/ping")
        content = b"ok" if known else b"404 page not found"
        self.send_response_only(200 if known else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""
