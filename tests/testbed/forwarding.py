# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forwards the bytes of connections in both directions, in the background."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

_AT_ONCE = 65536


def serve(listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
    """Join each connection that comes in to one that is made for it, until the listener is closed."""
    threading.Thread(target=_accept, args=(listener, connect), daemon=True).start()


def join(front: socket.socket, back: socket.socket) -> None:
    """Forward the bytes of both; the end of one is the end of both."""
    for source, sink in ((front, back), (back, front)):
        threading.Thread(target=_pass_on, args=(source, sink), daemon=True).start()


def end(connection: socket.socket) -> None:
    """Close it, also while another thread reads from it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def _accept(listener: socket.socket, connect: Callable[[], socket.socket]) -> None:
    with suppress(OSError):
        while True:
            front = listener.accept()[0]
            try:
                join(front, connect())
            except OSError:
                # there is no server (yet), and the connection of the client is closed
                end(front)


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while content := source.recv(_AT_ONCE):
            sink.sendall(content)
    for each in (source, sink):
        end(each)
