# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The time for which something is waited for."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock


class Time:
    """A clock that advances only while a test sleeps."""

    def __init__(self) -> None:
        self.moment = 100.0
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.moment += seconds


# (timeout, pause, pauses made)
TICKS: list[tuple[float, float, list[float]]] = [
    (0, 2, []),
    (2, 2, [2]),
    (5, 2, [2, 2, 1]),
    (1, 2, [1]),
    (6, 2, [2, 2, 2]),
]


@pytest.mark.parametrize(("timeout", "pause", "pauses"), TICKS)
def test_ticks_until_the_time_is_over(timeout: float, pause: float, pauses: list[float]) -> None:
    time = Time()
    clock = Clock(monotonic=lambda: time.moment, sleep=time.sleep)
    assert len(list(clock.ticks(timeout, pause))) == len(pauses)
    assert time.pauses == pauses


def test_the_time_begins_before_the_first_pause() -> None:
    time = Time()
    clock = Clock(monotonic=lambda: time.moment, sleep=time.sleep)
    ticks = clock.ticks(5, 2)
    time.moment += 4
    assert len(list(ticks)) == 1
    assert time.pauses == [1]
