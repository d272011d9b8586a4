# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The resident process of an operator's runs, which is none of the operator's own processes."""

from __future__ import annotations

import os
import signal
import socket
import struct
from contextlib import suppress
from pathlib import Path

# The directory of its socket, in the environment of the operator.
DIRECTORY = "DRUIDOPS_WARM_RUNNER"
_SOCKET = "socket"
# For the tests of an operator without it.
_WITHOUT = "DRUIDOPS_TEST_WITHOUT_RESIDENT"


def variables(directory: Path) -> dict[str, str]:
    """The variable of an operator that has a resident process, unless the tests are to run without."""
    return {DIRECTORY: "" if os.environ.get(_WITHOUT) else str(directory)}


def resident_process(directory: Path) -> int | None:
    """The process that accepts connections in the directory, None if there is none."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        handle = os.open(directory, os.O_RDONLY)
        try:
            connection.connect(f"/proc/self/fd/{handle}/{_SOCKET}")
        finally:
            os.close(handle)
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[0])
    return None


def children(pid: int) -> list[int]:
    """The processes of its runs."""
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def end_resident(directory: Path, number: int = signal.SIGKILL) -> None:
    """Send it the signal, if there is one."""
    pid = resident_process(directory)
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
