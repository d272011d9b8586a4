# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
A network namespace for a program, as a pod has one: two programs can listen on the same ports.

The program reaches only forwarded servers, at the same port of 127.0.0.1, and only forwarded ports can be reached from
outside. The bytes are sent through unix sockets, which are files and so the same on both sides.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Self

from ..forwarding import end, serve

# The second way is for those who are not root.
_WAYS = (("unshare", "--net"), ("unshare", "--map-root-user", "--net"))
_TESTS = Path(__file__).parents[2]


@cache
def way_in() -> tuple[str, ...] | None:
    """The command that starts the program after it in a network namespace, None if the machine does not allow it."""
    if shutil.which("unshare") is None:
        return None
    return next(filter(_is_allowed, _WAYS), None)


def _is_allowed(way: Sequence[str]) -> bool:
    return subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0


def local(port: int) -> socket.socket:
    """A connection to a port of this machine, or of the network that we are in."""
    return socket.create_connection(("127.0.0.1", port))


def by_file(path: Path) -> socket.socket:
    """A connection to a unix socket."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


def listen_on_file(path: Path) -> socket.socket:
    """A listening unix socket, in place of one that is left there."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(128)
    return listener


def listen_on_port(port: int) -> socket.socket:
    """A listening port."""
    return socket.create_server(("127.0.0.1", port), backlog=128)


class OwnNetwork:
    """What is passed on between here and there: `needed` are ports of ours, `offered` those of the program."""

    def __init__(self, needed: Sequence[int], offered: Sequence[int]) -> None:
        self._needed, self._offered = needed, offered
        self._listeners: list[socket.socket] = []
        self._directory = Path()

    def __enter__(self) -> Self:
        # the path of a unix socket may not be long
        self._directory = Path(tempfile.mkdtemp(prefix="network-"))
        for port in self._needed:
            self._serve(listen_on_file(self._file(port)), partial(local, port))
        for port in self._offered:
            self._serve(listen_on_port(port), partial(by_file, self._file(port)))
        return self

    def __exit__(self, *_exception: object) -> None:
        for listener in self._listeners:
            end(listener)
        shutil.rmtree(self._directory)

    def command(self, command: Sequence[str]) -> list[str]:
        """The command, in that network; it keeps its process number."""
        way = way_in()
        if way is None:
            raise RuntimeError("this machine allows no network namespaces")
        imports = f"import sys; sys.path.insert(0, {str(_TESTS)!r}); from testbed.operator.in_own_network import main"
        needed = [f"{port}={self._file(port)}" for port in self._needed]
        offered = [f"{port}={self._file(port)}" for port in self._offered]
        return [*way, sys.executable, "-c", f"{imports}; main()", ",".join(needed), ",".join(offered), *command]

    def _serve(self, listener: socket.socket, connect: partial[socket.socket]) -> None:
        self._listeners.append(listener)
        serve(listener, connect)

    def _file(self, port: int) -> Path:
        return self._directory / str(port)
