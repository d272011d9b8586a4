# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free ports on loopback."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

# Below the range from which the kernel takes ports for outgoing connections: what is free now stays free until used.
_CANDIDATES = range(20000, 32000)


@contextmanager
def reserved_ports(count: int) -> Iterator[list[int]]:
    """This many ports that no other process gets until the context ends, and that a server can listen on."""
    with ExitStack() as held:
        ports: list[int] = []
        while len(ports) < count:
            port = random.choice(_CANDIDATES)
            if _reserve(port, held):
                ports.append(port)
        yield ports


def _reserve(port: int, held: ExitStack) -> bool:
    with ExitStack() as own:
        holder = own.enter_context(socket.socket())
        try:
            holder.bind(("127.0.0.1", port))
        except OSError:
            return False
        # Too late for the bind above, which therefore fails if another process uses the port. Servers set it as well,
        # and two that have it may bind the same port as long as only one of them listens.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.enter_context(own.pop_all())
    return True
