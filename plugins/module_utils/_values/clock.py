# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Time and sleep."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass(frozen=True)
class Clock:
    """Time and sleep; tests replace it."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def ticks(self, timeout: float, pause: float) -> Iterator[bool]:
        """Return an iterator that yields True after each pause, until the timeout, which starts now."""
        return self._ticks(self.monotonic() + timeout, pause)

    def _ticks(self, end: float, pause: float) -> Iterator[bool]:
        while self.monotonic() < end:
            self.sleep(min(pause, max(0.0, end - self.monotonic())))
            yield True
