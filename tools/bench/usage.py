# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU time and memory of an operator: of its process, its runs, and the resident process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from testbed.operator.descendants import descendants
from testbed.operator.resident import resident_process
from testbed.operator.started import Operator

# In /proc/PID/stat behind the name: the CPU time of the process in ticks, and of its children that have ended.
_OWN, _ENDED = slice(11, 13), slice(13, 15)
_KIB_PER_MIB = 1024


def cpu_seconds(program: Operator) -> float:
    """Return the CPU time of the operator and of all runs that have ended."""
    return sum(_ticks(pid, _OWN) + _ticks(pid, _ENDED) for pid in _roots(program)) / os.sysconf("SC_CLK_TCK")


def run_cpu_seconds(program: Operator) -> float:
    """Return the CPU time of the resident process and of all its runs that have ended; 0 without one."""
    ticks = sum(_ticks(pid, _OWN) + _ticks(pid, _ENDED) for pid in _resident(program))
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_mib(program: Operator) -> float:
    """Return the memory of all processes; what several share is counted once (PSS)."""
    roots = _roots(program)
    return sum(map(_pss_kib, {*roots, *(each for pid in roots for each in descendants(pid))})) / _KIB_PER_MIB


def _roots(program: Operator) -> list[int]:
    return [*([program.pid] if program.pid else []), *_resident(program)]


def _resident(program: Operator) -> Iterable[int]:
    found = resident_process(program.resident) if program.resident else None
    return [found] if found else []


def _ticks(pid: int, fields: slice) -> int:
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[fields]))


def _pss_kib(pid: int) -> int:
    # it may have ended
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0
