# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The processes that a process has started, and those that they have."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def parents() -> dict[int, int]:
    """The parent of each process."""
    found = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            # the second field, the name, may hold blanks and brackets
            found[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    return found


def descendants(pid: int) -> list[int]:
    """The children of the process, their children, and so on."""
    of = parents()
    found = [pid]
    for each in found:
        found += [child for child, parent in of.items() if parent == each]
    return found[1:]


def kill_with_descendants(pid: int) -> None:
    """Kill all of them, as the end of a container does: stopped first, so that none has time to start another."""
    chosen: list[int] = []
    while left := [each for each in [pid, *descendants(pid)] if each not in chosen]:
        for each in left:
            _signal(each, signal.SIGSTOP)
        chosen += left
    for each in chosen:
        _signal(each, signal.SIGKILL)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
