# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Namespaces whose runs hang do not keep others waiting, and all runs have their turn."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from ansible_collections.druidops.druid.build.runner.fairness import DISTRUST_SECONDS, SLOW_SECONDS, Fairness
from hypothesis import example, given
from hypothesis import strategies as st

WORKERS = 4
LIMIT = 40.0


def known(*durations: float, end: float = 0.0) -> Fairness:
    """Return what is known after runs of namespace a that took so long."""
    found = Fairness()
    for each in durations:
        found.ended("a", end - each, end)
    return found


@pytest.mark.parametrize(
    ("fairness", "running", "begins"),
    [
        (known(), "", True),
        (known(), "aa", True),
        (known(), "aaa", False),
        (known(0.1), "aaa", False),
        # the last worker
        (known(), "bbb", True),
        (known(), "bcd", True),
        (known(), "abc", False),
        (known(SLOW_SECONDS + 1), "bbb", False),
        # what has hung may hang again, also after a quick run
        (known(SLOW_SECONDS + 1, 0.1), "bbb", False),
        (known(SLOW_SECONDS + 1, 0.1, end=-DISTRUST_SECONDS - 1), "bbb", True),
        (known(SLOW_SECONDS + 1), "bb", True),
    ],
)
def test_which_runs_begin(fairness: Fairness, running: str, begins: bool) -> None:
    wait = fairness.wait("a", [(each, 0.0) for each in running], 0.0, WORKERS)
    assert (wait == 0) == begins


def test_turns_are_a_little_closer_than_workers_become_free() -> None:
    fairness = known(2.7)
    found = [fairness.wait("a", [("a", 0.0)] * 3, 0.0, WORKERS) for _run in range(3)]
    assert found == pytest.approx([0.3, 0.6, 0.9])
    # Runs that go on take at least as long again.
    assert known().wait("a", [("a", 0.0)] * 3, 12.0, WORKERS) == pytest.approx(2.4)
    assert known().wait("a", [("a", 0.0)] * 3, 1200.0, WORKERS) == pytest.approx(30.0)


def test_only_worker_runs_everything() -> None:
    assert known(SLOW_SECONDS + 1).wait("a", [], 0.0, 1) == 0


def test_namespace_that_has_waited_gets_the_next_worker() -> None:
    fairness, busy = known(SLOW_SECONDS + 1), [("b", 0.0), ("b", 0.0)]
    wait = fairness.wait("a", [*busy, ("b", 0.0)], 0.0, WORKERS)
    assert fairness.wait("b", busy, wait, WORKERS) > 0
    assert fairness.wait("a", busy, wait, WORKERS) == 0
    assert fairness.wait("b", [busy[0], ("a", 0.0)], wait, WORKERS) == 0
    # one that does not come does not reserve it for long
    assert known(SLOW_SECONDS + 1).wait("a", [*busy, ("b", 0.0)], 0.0, WORKERS) > 0
    assert fairness.wait("b", [busy[0]], LIMIT, WORKERS) == 0


ASIDE_SECONDS = 0.05


class Run(NamedTuple):
    """A run of a new resource, and how long it takes."""

    namespace: str
    seconds: float


@dataclass
class Operator:
    """The queue and the workers of ansible-operator: first in, first out; a run that may not begin comes back."""

    workers: int
    fairness: Fairness = field(default_factory=Fairness)
    now: float = 0.0
    queue: deque[Run] = field(default_factory=deque)
    later: list[tuple[float, Run]] = field(default_factory=list)
    running: list[tuple[float, float, Run]] = field(default_factory=list)
    aside: list[float] = field(default_factory=list)
    begun: list[Run] = field(default_factory=list)
    slow: dict[str, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Give work to the free workers."""
        while self.queue and len(self.running) + len(self.aside) < self.workers:
            run = self.queue.popleft()
            running = [(other.namespace, begin) for _end, begin, other in self.running]
            if wait := self.fairness.wait(run.namespace, running, self.now, self.workers):
                self.aside.append(self.now + ASIDE_SECONDS)
                self.later.append((self.now + ASIDE_SECONDS + wait, run))
            else:
                self.begun.append(run)
                self.running.append((self.now + run.seconds, self.now, run))

    def step(self) -> bool:
        """Go on to the next event; False if there is none."""
        times = [*(end for end, *_run in self.running), *self.aside, *(time for time, _run in self.later)]
        if not times:
            return False
        self.now = min(times)
        for end, begin, run in [each for each in self.running if each[0] <= self.now]:
            self.running.remove((end, begin, run))
            self.fairness.ended(run.namespace, begin, self.now)
            if run.seconds > SLOW_SECONDS:
                self.slow[run.namespace] = self.now
        self.aside = [end for end in self.aside if end > self.now]
        self.queue.extend(run for time, run in sorted(self.later) if time <= self.now)
        self.later = [each for each in self.later if each[0] > self.now]
        self.begin()
        return True


DURATIONS = st.one_of(st.floats(0.01, 1.0), st.floats(SLOW_SECONDS + 1, LIMIT))
RUNS = st.lists(st.builds(Run, st.sampled_from("abcdef"), DURATIONS), min_size=1, max_size=60)


@given(st.integers(2, 6), RUNS, st.integers(0, 60))
@example(2, [Run(each, LIMIT) for each in "ab" * 10], 0)
@example(2, [Run(each, LIMIT) for each in "ab" * 10], 12)
@example(4, [Run("a", LIMIT)] * 20, 0)
def test_another_namespace_does_not_wait_for_those_that_hang(workers: int, runs: list[Run], events: int) -> None:
    """Runs of six namespaces, of any duration; then comes one of another namespace."""
    operator = Operator(workers)
    operator.queue.extend(runs)
    operator.begin()
    for _event in range(events):
        operator.step()
    other, came, ahead = Run("new", 1.0), operator.now, [*operator.queue, *(run for _time, run in operator.later)]
    operator.queue.append(other)
    operator.begin()
    # Each namespace takes the last worker with a slow run once; the others of the queue are as quick as they are.
    names = {run.namespace for run in (*ahead, *(run for *_times, run in operator.running))}
    slow = {run for run in names if came - operator.slow.get(run, -DISTRUST_SECONDS) > DISTRUST_SECONDS / 2}
    quick = sum(run.seconds for run in ahead if run.seconds <= SLOW_SECONDS)
    while other not in operator.begun:
        assert operator.step()
    assert operator.now - came <= LIMIT * len(slow) + quick + (len(ahead) + 1) * ASIDE_SECONDS + 1
    while operator.step():
        pass
    assert len(operator.begun) == len(runs) + 1
