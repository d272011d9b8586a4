# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the operator, and release its Lease after it has been stopped, so that the next one can start immediately.

Usage: start PROGRAM ARGUMENT... (ansible-operator and its flags)

ansible-operator does not release the Lease, because it may exit while runs are still in progress. This program waits
for these as well: their processes become its children. If ansible-operator exits by itself, this program does not wait,
so that Kubernetes restarts the container.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress

from . import client, memory
from .restrictions import PENDING

RELEASE = "release-lease"
# prctl(2): processes whose parent exits become children of this one.
PR_SET_CHILD_SUBREAPER = 36
FORWARDED = (signal.SIGTERM, signal.SIGINT)
_POLL_SECONDS = 0.1


def main() -> None:
    """Run the program until it ends; the exit status is the program's."""
    # /tmp outlives the container, and the new operator may be a standby, which runs nothing.
    with suppress(OSError):
        os.unlink(os.environ.get(PENDING, ""))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    # the runs have the environment of ansible-operator, which has its number of workers from the flag only
    environment = memory.of_start(sys.argv, os.environ)
    program = os.posix_spawn(sys.argv[1], sys.argv[1:], environment, setsigmask=())
    is_stopped = forward_signals(program)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    status = wait(program)
    if is_stopped:
        wait_for_runs(os.environ.get(client.DIRECTORY, ""))
        release = os.path.join(os.path.dirname(sys.argv[0]), RELEASE)
        with suppress(OSError):
            os.spawnv(os.P_WAIT, release, [release, *sys.argv[2:]])
    sys.exit(status if status >= 0 else 128 - status)


def wait_for_runs(directory: str) -> None:
    """Wait for all processes that are left; the resident process, which may only just be starting, is asked to end."""
    while is_any_left():
        stop_resident(directory)
        time.sleep(_POLL_SECONDS)


def is_any_left() -> bool:
    """True while there is a child of this process that has not ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def stop_resident(directory: str) -> None:
    """Ask the resident process to end as soon as its runs have ended."""
    with suppress(OSError):
        if connection := client.connect(directory):
            client.send_signal(connection, signal.SIGTERM)
            connection.close()


def forward_signals(program: int) -> list[int]:
    """Forward signals to the program; return the list of those that have been received until now."""
    received: list[int] = []

    def forward(number: int, frame: object) -> None:
        received.append(number)
        with suppress(ProcessLookupError):
            os.kill(program, number)

    for each in FORWARDED:
        signal.signal(each, forward)
    return received


def wait(program: int) -> int:
    """Wait for the program; return the exit status, negative for a signal."""
    with suppress(ChildProcessError):
        while True:
            process, status = os.wait()
            if process == program:
                return os.waitstatus_to_exitcode(status)
    return 0
