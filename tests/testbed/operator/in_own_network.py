# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first steps in a new network, before the program that it is for: loopback, and what is passed on."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import sys
from functools import partial
from pathlib import Path

from ..forwarding import serve
from ..processes import end_with_parent
from .own_network import by_file, listen_on_file, listen_on_port, local

_SET_FLAGS = 0x8914
_UP = 1


def main() -> None:
    """Become the program; the arguments are its needed ports and those that it offers, and then the program's own."""
    needed, offered, *command = sys.argv[1:]
    # the signal may have been lost when the namespace was created
    end_with_parent()
    _bring_up_loopback()
    listeners = [
        *((listen_on_port(port), partial(by_file, file)) for port, file in _pairs(needed)),
        *((listen_on_file(file), partial(local, port)) for port, file in _pairs(offered)),
    ]
    if os.fork() == 0:
        end_with_parent()
        for listener, connect in listeners:
            serve(listener, connect)
        while True:
            signal.pause()
    # the listeners are not inherited by what comes now
    os.execvp(command[0], command)


def _pairs(text: str) -> list[tuple[int, Path]]:
    """Ports and files of PORT=FILE,PORT=FILE."""
    pairs = (each.split("=", 1) for each in text.split(",") if each)
    return [(int(port), Path(file)) for port, file in pairs]


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
