# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""So many at once, then so many a second."""

from __future__ import annotations

import threading
import time


class TokenBucket:
    """Tells how long the next one has to wait."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._interval = 1 / per_second
        self._burst = burst
        self._lock = threading.Lock()
        # the moment at which the bucket would be full
        self._full_at = 0.0

    def reserve(self) -> float:
        """Take a token; in how many seconds it may be used."""
        with self._lock:
            now = time.monotonic()
            self._full_at = max(self._full_at, now) + self._interval
            return max(0.0, self._full_at - self._burst * self._interval - now)
