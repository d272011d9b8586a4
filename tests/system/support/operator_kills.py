# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kills an operator when one of its runs makes a certain request, and starts it again."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.fault_proxy import Fault, FaultProxy
from testbed.operator.started import Operator

KILLS = 2


class Killer:
    """Kills the operator whose runs make their requests through the proxy; with its runs, as when a container ends."""

    def __init__(self, program: Operator, proxy: FaultProxy, chance: random.Random, *, with_runs: bool) -> None:
        self._program = program
        self._proxy = proxy
        self._chance = chance
        self._with_runs = with_runs
        self._lock = threading.Lock()
        self._is_armed = False
        self._was_killed = threading.Event()
        self._moments: list[str] = []

    def change(self, change: Callable[[], object], is_done: Callable[[], bool], requests: int) -> int:
        """Make the change, and kill the operator while it carries that out, which takes so many requests at least.

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
            self._program.start()
            if kill < KILLS:
                self._arm(requests)
        return len(self._moments) - before

    def __str__(self) -> str:
        return f"{len(self._moments)} times, before " + ", ".join(self._moments)

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
            self._program.kill(runs=self._with_runs)
            self._moments.append(str(self._proxy.reached))
            self._was_killed.set()
