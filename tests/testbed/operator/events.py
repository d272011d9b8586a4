# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run tells of itself, event by event, over a unix socket."""

from __future__ import annotations

import json
import queue
import re
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from threading import Event, Thread
from typing import Any

_PATH = "/events/"
_CAPACITY = 1000
_PATIENCE = 10.0
_CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?\+00:00")


def socket_of(ident: str) -> Path:
    """Where the events of a run are received."""
    return Path(f"/tmp/ansibleoperator-{ident}")


class Events:
    """The events of one run; iterating ends when it is closed and all of them have been seen."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue(_CAPACITY)
        self._closed = Event()
        self._server = _Server(str(socket), self)
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            was_closed = self._closed.is_set()
            try:
                yield self._queue.get(timeout=0.02)
            except queue.Empty:
                if was_closed:
                    return

    def close(self) -> None:
        """Receive no more."""
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._socket.unlink(missing_ok=True)

    def receive(self, body: bytes) -> int:
        """Take what was posted; the status of the answer."""
        try:
            event = json.loads(body)
        except ValueError:
            return 400
        if not isinstance(event, dict) or not _well_formed(event):
            return 400
        if self._closed.is_set():
            return 410
        # what has no uuid tells of the runner, not of the playbook
        if event.get("uuid"):
            try:
                self._queue.put(event, timeout=_PATIENCE)
            except queue.Full:
                return 500
        return 204


def _well_formed(event: dict[str, Any]) -> bool:
    return "created" not in event or bool(_CREATED.fullmatch(str(event["created"])))


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, path: str, events: Events) -> None:
        super().__init__(path, _Handler)
        self.events = events


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Receive an event."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != _PATH:
            self._answer(404)
        elif self.headers.get("Content-Type", "").split(";")[0] != "application/json":
            self._answer(415)
        else:
            self._answer(self.server.events.receive(body))

    def do_other(self) -> None:
        """Refuse."""
        self._answer(405 if self.path == _PATH else 404)

    do_GET = do_PUT = do_PATCH = do_DELETE = do_other  # noqa: N815

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""

    def _answer(self, status: int) -> None:
        with suppress(BrokenPipeError):
            self.send_response_only(status)
            if status != 204:
                self.send_header("Content-Length", "0")
            self.end_headers()
