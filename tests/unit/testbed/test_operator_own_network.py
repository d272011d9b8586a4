# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A program in its own network namespace."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from ansible_collections.druidops.druid.tests.testbed.operator.own_network import OwnNetwork, local, way_in
from ansible_collections.druidops.druid.tests.testbed.ports import reserved_ports

# Returns on its own port what it receives from another one. Forwarding ends with the program, which therefore waits
# until the client has received everything.
_PROGRAM = """
import socket, sys
offered, needed, hidden = map(int, sys.argv[1:])
with socket.create_server(("127.0.0.1", offered)) as server:
    front = server.accept()[0]
    with socket.create_connection(("127.0.0.1", needed)) as back:
        heard = back.recv(100)
    try:
        socket.create_connection(("127.0.0.1", hidden)).close()
    except OSError:
        heard += b", the other port is closed"
    front.sendall(heard)
    front.recv(1)
    front.close()
"""


def greet(server: socket.socket) -> None:
    """Respond with a greeting to every connection."""
    with server.accept()[0] as connection:
        connection.sendall(b"hello")


def receive(port: int) -> bytes:
    """Return the output of the program as soon as there is any."""
    received = b""
    end = time.monotonic() + 60
    while not received and time.monotonic() < end:
        time.sleep(0.02)
        with suppress(OSError), local(port) as connection:
            received = connection.recv(100)
    return received


@pytest.fixture
def servers() -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _each in range(2)]


def test_forwarded_ports_work_in_both_directions(servers: list[socket.socket]) -> None:
    needed, hidden = (each.getsockname()[1] for each in servers)
    with reserved_ports(1) as (offered,):
        if way_in() is None:
            with pytest.raises(RuntimeError, match="no network namespaces"):
                OwnNetwork([needed], [offered]).command([])
            return
        threading.Thread(target=greet, args=servers[:1], daemon=True).start()
        with OwnNetwork([needed], [offered]) as network:
            command = network.command([sys.executable, "-c", _PROGRAM, *map(str, (offered, needed, hidden))])
            with subprocess.Popen(command) as program:
                received = receive(offered)
                program.kill()

    assert received == b"hello, the other port is closed"
