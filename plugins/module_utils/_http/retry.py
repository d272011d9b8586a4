# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retries with exponential backoff and a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MIN_PAUSE = 0.5
MAX_PAUSE = 10.0


@dataclass
class RetryBudget:
    """Pauses that start at half a second and double each time, for ``total`` seconds in all."""

    total: float
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        self._start = self.now()
        self._pause = MIN_PAUSE

    @property
    def remaining(self) -> float:
        """The seconds in which further attempts can start."""
        return self._start + self.total - self.now()

    def allows(self, requested: float | None) -> bool:
        """Return whether another attempt can start, after a pause of the requested time up to a limit."""
        return self._seconds(requested) <= self.remaining

    def elapsed_after(self, requested: float | None) -> float:
        """Return the seconds that will have passed after that pause."""
        return self.now() - self._start + self._seconds(requested)

    def pause(self, requested: float | None) -> bool:
        """Sleep, for the requested time up to a limit. Return False immediately if the remaining time is too short."""
        if not self.allows(requested):
            return False
        seconds = self._seconds(requested)
        self._pause = min(self._pause * 2, MAX_PAUSE)
        self.sleep(seconds)
        return True

    def _seconds(self, requested: float | None) -> float:
        return min(self._pause if requested is None else requested, MAX_PAUSE)


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds of a Retry-After header (RFC 9110, 10.2.3: number or date), None if it is invalid."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())
