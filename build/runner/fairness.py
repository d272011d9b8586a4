# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which runs of a kind begin at once, so that namespaces whose runs hang do not keep others waiting.

ansible-operator's queue is first in, first out, and only a free worker sees who waits in it. So a run either begins or
only asks to be repeated, in a few hundredths of a second, and two rules hold whatever runs do:

- The last free worker is for a namespace that has no run in progress, and has had no slow one for a while. So a
  namespace takes it with a slow run once in that time, for as long as a run may take, and any number of namespaces
  whose runs keep hanging leave it free.
- A namespace without a run in progress that had to wait gets the next free worker of the others.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

# A run that takes longer waits for something: another server, or hooks of a chart.
SLOW_SECONDS = 5.0
# For so long after a slow run, its namespace does not get the last worker: what hangs may hang again.
DISTRUST_SECONDS = 600.0
# How long a run takes, until one has been measured.
_SECONDS = 0.3
# How often a namespace without a run in progress asks for a worker, and how late it may come.
_FIRST_SECONDS, _LATE_SECONDS = 1.0, 1.0
# Turns are closer by this factor: a run that comes too early costs a twentieth of a second, and one that comes too late
# leaves a worker idle.
_EARLY = 0.6
# ansible-operator would take a shorter wait for none, and would not repeat the run.
_LEAST_SECONDS, _MOST_SECONDS = 0.05, 30.0
_MOST_NAMESPACES = 10_000


@dataclass
class _Namespace:
    """When its next turn is, how long a run takes, when the last slow run ended, and until when it is expected."""

    next_turn: float = 0.0
    seconds: float = _SECONDS
    slow: float | None = None
    expected: float = 0.0


@dataclass
class Fairness:
    """What is known of the namespaces with runs of a kind. Times are of one clock, in seconds."""

    namespaces: dict[str, _Namespace] = field(default_factory=dict)

    def wait(self, namespace: str, running: Collection[tuple[str, float]], now: float, workers: int) -> float:
        """Return in how many seconds a run of the namespace is to be repeated, 0 if it may begin.

        ``running``: the namespaces of the runs in progress of this kind, and when each began.
        """
        known = self.namespaces.setdefault(namespace, _Namespace())
        own = [since for other, since in running if other == namespace]
        if len(running) >= max(1, workers - 1):
            begins = not own and (known.slow is None or now - known.slow > DISTRUST_SECONDS)
        else:
            begins = not own or not self._is_another_first(running, now)
        if begins:
            known.expected = 0.0
            return 0.0
        # turns are as far apart as workers become free: a run that has not ended takes at least as long again
        longest = max([known.seconds, *(now - each for each in own)])
        seconds = _EARLY * longest / max(1, workers - 1) if own else _FIRST_SECONDS
        known.next_turn = min(max(known.next_turn, now) + seconds, now + _MOST_SECONDS)
        wait = max(known.next_turn - now, _LEAST_SECONDS)
        known.expected = now + wait + _LATE_SECONDS
        return wait

    def _is_another_first(self, running: Collection[tuple[str, float]], now: float) -> bool:
        """Return whether a namespace without a run in progress has been told to come back."""
        busy = {namespace for namespace, _since in running}
        return any(known.expected >= now and name not in busy for name, known in self.namespaces.items())

    def ended(self, namespace: str, begin: float, now: float) -> None:
        """Note that a run has ended, however."""
        known = self.namespaces.setdefault(namespace, _Namespace())
        known.seconds = (known.seconds + now - begin) / 2
        if now - begin > SLOW_SECONDS:
            known.slow = now
        if len(self.namespaces) > _MOST_NAMESPACES:
            self.namespaces.clear()
