# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs in turn and takes the median, so that other load on the machine affects all of them equally."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Cost:
    """The wall-clock time and the CPU time of a program in seconds, including its child processes."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Program:
    """A command line with its environment; `check` verifies its output."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    check: Callable[[str], bool] = lambda _output: True


def alternate(programs: Sequence[Program], rounds: int) -> dict[str, Cost]:
    """Return the median cost of each program, after a warm-up round that does not count."""
    costs: dict[str, list[Cost]] = {program.name: [] for program in programs}
    for number in range(rounds + 1):
        print(f"  round {number} of {rounds}" if number else "  warming up", file=sys.stderr, flush=True)
        for program in programs:
            cost = run(program)
            if number:
                costs[program.name].append(cost)
    return {name: middle(found) for name, found in costs.items()}


def verdict(target: str, found: float, bound: float, unit: str = " s", *, at_least: bool = False) -> None:
    """Print whether the target is met."""
    is_met = found >= bound if at_least else found <= bound
    limit = "at least" if at_least else "at most"
    print(f"  {'met    ' if is_met else 'NOT MET'}  {target}: {found:.2f}{unit}, {limit} {bound:.2f}{unit}", flush=True)


def middle(costs: Sequence[Cost]) -> Cost:
    """Return the medians."""
    return Cost(median(cost.wall for cost in costs), median(cost.cpu for cost in costs))


def run(program: Program) -> Cost:
    """Return the cost of one run, which has to succeed."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        begin = time.monotonic()
        process = subprocess.Popen(
            program.command, env=program.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _pid, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode or not program.check(text):
        sys.exit(f"{program.name} failed ({process.returncode}):\n{text}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)
