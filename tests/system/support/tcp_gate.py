# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A way to the API server that can be closed and opened, as a network that fails."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from testbed.forwarding import end, join


class Gate:
    """Forwards bytes in both directions while it is open."""

    def __init__(self, url: str) -> None:
        split = urlsplit(url)
        self._behind = (split.hostname or "", split.port or 0)
        self._lock = threading.Lock()
        self._connections: list[socket.socket] = []
        self._is_open = True
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"{split.scheme}://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Close all connections, and accept none."""
        with self._lock:
            self._is_open = False
            for connection in self._connections:
                end(connection)
            self._connections.clear()

    def open(self) -> None:
        """Let new connections through."""
        with self._lock:
            self._is_open = True

    def remove(self) -> None:
        """Close it permanently."""
        self.close()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._connect(self._listener.accept()[0])

    def _connect(self, front: socket.socket) -> None:
        with self._lock:
            if not self._is_open:
                end(front)
                return
            back = socket.create_connection(self._behind)
            self._connections += [front, back]
        join(front, back)


@contextmanager
def gate(url: str) -> Iterator[Gate]:
    """A gate in front of that address."""
    created = Gate(url)
    try:
        yield created
    finally:
        created.remove()
