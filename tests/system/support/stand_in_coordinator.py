# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Coordinator answers about Historicals, for tests whose pods run no Druid. The real one: tests/system/node."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_API = "/druid/coordinator/v1"
_ROOM = 1000


@dataclass
class StandInCoordinator:
    """The bytes of each Historical by its name, the list of those that are decommissioned, and its history.

    `url` is set while it responds. `requests` are the methods and paths that were sent to it.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    room: int = _ROOM
    url: str = ""
    requests: list[str] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)

    def move_segments(self) -> None:
        """Move the segments of the decommissioned Historicals to another one."""
        target = next(name for name in self.sizes if name not in self.listed)
        for name in self.listed:
            self.sizes[target] += self.sizes.get(name, 0)
            if name in self.sizes:
                self.sizes[name] = 0

    def answer(self, path: str) -> Any:
        """The response to a GET."""
        if path == f"{_API}/servers":
            kind = {"type": "historical", "tier": "_default_tier", "maxSize": self.room}
            return [{"host": name, "currSize": size, **kind} for name, size in self.sizes.items()]
        documents = {
            f"{_API}/isLeader": {"leader": True},
            f"{_API}/loadqueue": {},
            f"{_API}/rules": {"_default": [{"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}]},
            f"{_API}/loadstatus": {"visits": 0},
            f"{_API}/config": {"decommissioningNodes": self.listed, "maxSegmentsToMove": 100},
            f"{_API}/config/history": self.history[::-1][:2],
        }
        return documents.get(path)

    def write(self, body: dict[str, Any], author: str) -> None:
        """Store the list."""
        self.listed = list(body["decommissioningNodes"])
        self.history.append({"auditInfo": {"author": author}, "payload": json.dumps(body)})


@contextmanager
def stand_in_coordinator() -> Iterator[StandInCoordinator]:
    """Yield one that responds."""
    found = StandInCoordinator()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            found.requests.append(f"GET {path}")
            document = found.answer(path)
            self._respond(404 if document is None else 200, document)

        def do_POST(self) -> None:
            found.requests.append(f"POST {self.path}")
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.write(body, self.headers["X-Druid-Author"])
            self._respond(200, None)

        def _respond(self, status: int, document: Any) -> None:
            content = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
