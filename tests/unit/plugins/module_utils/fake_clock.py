# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waits that take no time: the clock of the modules advances with each pause."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import CLOCK


class FakeClock:
    """The seconds that were waited. ``at_each_second``: what happens meanwhile."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.at_each_second: Callable[[float], None] = lambda _seconds: None

    def sleep(self, seconds: float) -> None:
        """Advance."""
        self.seconds += seconds
        self.at_each_second(self.seconds)


@pytest.fixture
def clock() -> Iterator[FakeClock]:
    """The clock of all waits."""
    fake, real = FakeClock(), dict(vars(CLOCK))
    for name, value in {"monotonic": lambda: fake.seconds, "sleep": fake.sleep}.items():
        # it is frozen, and the default of an argument
        object.__setattr__(CLOCK, name, value)
    yield fake
    for name, value in real.items():
        object.__setattr__(CLOCK, name, value)
