# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free ports on loopback."""

from __future__ import annotations

import random
import socket

# Below the range from which the kernel takes ports for outgoing connections: what is free now stays free until used.
_CANDIDATES = range(20000, 32000)


def free_ports(count: int) -> list[int]:
    """This many ports of which none is in use."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.choice(_CANDIDATES)
        if port not in ports and _is_free(port):
            ports.append(port)
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as candidate:
        try:
            candidate.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
