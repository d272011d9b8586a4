# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kills an operator, or processes of its runs, when one of its runs makes a certain request; starts it again."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import Fault, FaultProxy
from testbed.operator.descendants import descendants
from testbed.operator.resident import children, resident_process
from testbed.operator.started import Operator

KILLS = 2


def _kill(processes: Iterable[int]) -> None:
    for each in processes:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def _resident(program: Operator) -> list[int]:
    found = resident_process(program.resident) if program.resident else None
    return [found] if found else []


def _clients(program: Operator) -> list[int]:
    """The programs that wait for a run, but not the shell that records it."""
    found = descendants(program.pid) if program.pid else []
    return [each for each in found if b"-IS\0" in _command(each)]


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


# What is killed, by name.
VICTIMS: Mapping[str, Callable[[Operator], None]] = {
    "the operator with its runs": lambda program: program.kill(runs=True),
    "the operator, and its runs go on": lambda program: program.kill(runs=False),
    "the clients of the runs": lambda program: _kill(_clients(program)),
    "the runs": lambda program: _kill(run for each in _resident(program) for run in children(each)),
    "the resident process": lambda program: _kill(_resident(program)),
}


class Killer:
    """Kills the victim, of VICTIMS, or any, of an operator whose runs make their requests through the proxy."""

    def __init__(self, program: Operator, proxy: FaultProxy, chance: random.Random, victim: str) -> None:
        self._program = program
        self._proxy = proxy
        self._chance = chance
        self._victims = [victim] if victim else [*VICTIMS]
        self._killed: list[str] = []
        self._lock = threading.Lock()
        self._is_armed = False
        self._was_killed = threading.Event()
        self._moments: list[str] = []

    def change(self, change: Callable[[], object], is_done: Callable[[], bool], requests: int) -> int:
        """Make the change, kill the victim while it is carried out, which takes so many requests at least, and wait.

        Return how often it was killed.
        """
        before = len(self._moments)
        self._arm(requests)
        change()
        # the last requests of a run come when all is done
        eventually(lambda: self._was_killed.is_set() or (is_done() and self._program.runs[-1].end))
        for kill in range(1, KILLS + 1):
            eventually(lambda: self._was_killed.is_set() or is_done())
            if not self._disarm():
                break
            if self._program.pid is None:
                self._program.start()
            if kill < KILLS:
                self._arm(requests)
        # A kill may come before the operator has noticed the change: a run that it repeats then has nothing to do.
        eventually(is_done)
        return len(self._moments) - before

    @property
    def leaves_runs(self) -> bool:
        """True if no run was killed, and those of a killed operator were continued."""
        return all(victim.endswith("go on") for victim in self._killed)

    def __str__(self) -> str:
        moments = (f"{each} ({victim})" for each, victim in zip(self._moments, self._killed, strict=True))
        return f"{len(self._moments)} times, before {', '.join(moments)}"

    def _arm(self, requests: int) -> None:
        self._was_killed.clear()
        self._is_armed = True
        # A request that is being sent when the sender is killed may or may not arrive.
        lost = self._chance.choice([None, Fault.RESET_BEFORE])
        self._proxy.expect(self._chance.randint(1, requests), lost, meanwhile=self._kill)

    def _disarm(self) -> bool:
        """Kill no more; true when it has been killed."""
        with self._lock:
            self._is_armed = False
        self._proxy.expect()
        return self._was_killed.is_set()

    def _kill(self) -> None:
        with self._lock:
            if not self._is_armed:
                return
            victim = self._chance.choice(self._victims)
            VICTIMS[victim](self._program)
            self._killed.append(victim)
            self._moments.append(str(self._proxy.reached))
            self._was_killed.set()
