# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The runs of one namespace leave a worker to others, and all of them are run."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import pytest
from ansible_collections.druidops.druid.build.runner.fairness import DISTRUST_SECONDS, SLOW_SECONDS, Fairness, Resource
from hypothesis import given
from hypothesis import strategies as st

ONE = Resource("Druid", "ns", "one")
WORKERS = 4


def never() -> bool:
    return False


def fairness(*durations: float, end: float = 0.0) -> Fairness:
    """Return what is known after runs of one resource that took so long."""
    found = Fairness()
    for each in durations:
        found.ended(ONE, end - each, end)
    return found


@pytest.mark.parametrize(
    ("known", "running", "is_deletion", "begins"),
    [
        (fairness(), 0, False, True),
        (fairness(), 2, False, True),
        (fairness(), 3, False, False),
        (fairness(0.1), 3, False, True),
        (fairness(0.1), 9, False, True),
        (fairness(0.1), 3, True, False),
        (fairness(0.1), 2, True, True),
        (fairness(SLOW_SECONDS + 1), 3, False, False),
        # What has hung may hang again, also after a quick run.
        (fairness(SLOW_SECONDS + 1, 0.1), 3, False, False),
        (fairness(SLOW_SECONDS + 1, 0.1, end=-DISTRUST_SECONDS), 3, False, True),
    ],
)
def test_which_runs_begin(known: Fairness, running: int, is_deletion: bool, begins: bool) -> None:
    wait = known.wait(ONE, [0.0] * running, 0.0, WORKERS, lambda: is_deletion)
    assert (wait == 0) == begins


def test_turns_are_as_far_apart_as_runs_take() -> None:
    known = fairness()
    found = [known.wait(ONE, [0.0] * 3, 0.0, WORKERS, never) for _run in range(3)]
    assert found == pytest.approx([0.1, 0.2, 0.3])
    # Runs that go on take at least as long again.
    assert fairness().wait(ONE, [0.0] * 3, 12.0, WORKERS, never) == pytest.approx(4.0)
    assert fairness().wait(ONE, [0.0] * 3, 1200.0, WORKERS, never) == pytest.approx(30.0)
    other = Resource("Collector", "ns", "one")
    assert known.wait(other, [0.0], 0.0, WORKERS, never) == 0


def test_only_worker_runs_everything() -> None:
    assert fairness().wait(ONE, [], 0.0, 1, never) == 0


ASIDE_SECONDS = 0.05


@dataclass
class Operator:
    """The queue and the workers of ansible-operator: first in, first out; a run that may not begin comes back."""

    workers: int
    known: Fairness = field(default_factory=Fairness)
    now: float = 0.0
    queue: deque[tuple[Resource, float]] = field(default_factory=deque)
    later: list[tuple[float, Resource, float]] = field(default_factory=list)
    running: list[tuple[float, float, Resource]] = field(default_factory=list)
    aside: list[float] = field(default_factory=list)
    begun: dict[Resource, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Give work to the free workers."""
        while self.queue and len(self.running) + len(self.aside) < self.workers:
            resource, seconds = self.queue.popleft()
            since = [begin for _end, begin, other in self.running if other.tenant == resource.tenant]
            wait = self.known.wait(resource, since, self.now, self.workers, never)
            if wait:
                self.aside.append(self.now + ASIDE_SECONDS)
                self.later.append((self.now + ASIDE_SECONDS + wait, resource, seconds))
            else:
                self.begun[resource] = self.now
                self.running.append((self.now + seconds, self.now, resource))

    def step(self) -> None:
        """Go on to the next event."""
        self.now = min([*(end for end, *_run in self.running), *self.aside, *(time for time, *_run in self.later)])
        for end, begin, resource in [run for run in self.running if run[0] <= self.now]:
            self.running.remove((end, begin, resource))
            self.known.ended(resource, begin, self.now)
        self.aside = [end for end in self.aside if end > self.now]
        self.queue.extend((resource, seconds) for time, resource, seconds in sorted(self.later) if time <= self.now)
        self.later = [each for each in self.later if each[0] > self.now]


@given(st.integers(2, 6), st.lists(st.floats(0.01, 40.0), min_size=1, max_size=80), st.integers(0, 60))
def test_another_namespace_does_not_wait(count: int, durations: list[float], events: int) -> None:
    """New resources of one namespace, with runs of any duration; then comes one of another namespace."""
    operator = Operator(count)
    operator.queue.extend((Resource("Druid", "a", str(number)), each) for number, each in enumerate(durations))
    for _event in range(events):
        operator.begin()
        if not (operator.running or operator.aside or operator.later):
            break
        operator.step()
    other = Resource("Druid", "b", "new")
    came, ahead = operator.now, len(operator.queue) + len(operator.later)
    operator.queue.append((other, 1.0))
    operator.begin()
    while operator.running or operator.aside or operator.later:
        operator.step()
        operator.begin()
    # One worker at least has only runs that come back at once; those that come back meanwhile are behind it.
    assert operator.begun[other] - came <= (ahead + 1) * ASIDE_SECONDS
    assert len(operator.begun) == len(durations) + 1
