# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that end with others: what a run has started ends with the run, and a run with the resident process."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress

# prctl(2): the signal when the parent ends, and the new parent of orphans.
_PDEATHSIG, _SUBREAPER = 1, 36
_prctl = ctypes.CDLL(None).prctl
HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)


def collect_orphans() -> None:
    """Become the parent of descendants whose parent ends."""
    _prctl(_SUBREAPER, 1, 0, 0, 0)


def end_with(parent: int, number: int) -> None:
    """Have the kernel send this signal to this process when its parent ends."""
    _prctl(_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        # it has ended before
        os.kill(os.getpid(), number)


def end_all_with_parent() -> None:
    """End this process and its descendants when its parent ends, or on SIGTERM. It collects orphans."""

    def end(_number: int, _frame: object) -> None:
        end_all()
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    end_with(os.getppid(), signal.SIGTERM)


def reset_signals() -> None:
    """Have signals do what they do by default, and no signal come when the parent ends."""
    for each in HANDLED:
        signal.signal(each, signal.SIG_DFL)


def children() -> set[int]:
    """The children of this process, also ended ones; none if this kernel does not list them."""
    with suppress(FileNotFoundError), open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return {*map(int, file.read().split())}
    return set()


def wait(program: int) -> int:
    """Wait for a child, and end all others that it has left; its exit status."""
    while True:
        pid, status = os.wait()
        if pid == program:
            end_all()
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def end_all() -> None:
    """End all children, and theirs, which become children of this process."""
    with suppress(ChildProcessError):
        while True:
            for each in children():
                os.kill(each, signal.SIGKILL)
            os.wait()
