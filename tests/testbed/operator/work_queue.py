# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work queue of a controller: a key is processed by one worker at a time, and is queued at most once."""

from __future__ import annotations

import threading
import time
from collections import deque

from .kinds import Key

_FIRST_DELAY_SECONDS = 0.005
_LONGEST_DELAY_SECONDS = 1000.0


def backoff(failures: int) -> float:
    """Seconds until the next attempt after so many failures in a row."""
    return min(_FIRST_DELAY_SECONDS * 2.0 ** min(failures - 1, 64), _LONGEST_DELAY_SECONDS)


class WorkQueue:
    """Keys that are to be processed, now or later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready: deque[Key] = deque()
        self._dirty: set[Key] = set()
        self._processing: set[Key] = set()
        self._due: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._closed = False

    def add(self, key: Key) -> None:
        """Have the key processed as soon as no worker processes it."""
        with self._changed:
            # a key whose time has come precedes it, also while all workers are busy
            self._add_due()
            self._add(key)
            self._changed.notify()

    def add_after(self, key: Key, delay: float) -> None:
        """Add the key after this many seconds, unless it is added earlier."""
        with self._changed:
            due = time.monotonic() + delay
            self._due[key] = min(due, self._due.get(key, due))
            self._changed.notify()

    def add_failed(self, key: Key) -> None:
        """The same after a backoff that grows with each failure."""
        with self._changed:
            self._failures[key] = self._failures.get(key, 0) + 1
            delay = backoff(self._failures[key])
        self.add_after(key, delay)

    def forget(self, key: Key) -> None:
        """Forget the failures."""
        with self._changed:
            self._failures.pop(key, None)

    def get(self) -> Key | None:
        """The next key, as soon as there is one; None when the queue is closed."""
        with self._changed:
            while not self._closed:
                wait = self._add_due()
                if self._ready:
                    key = self._ready.popleft()
                    self._dirty.discard(key)
                    self._processing.add(key)
                    return key
                self._changed.wait(wait)
            return None

    def done(self, key: Key) -> None:
        """The worker has processed the key."""
        with self._changed:
            self._processing.discard(key)
            if key in self._dirty:
                self._ready.append(key)
                self._changed.notify()

    @property
    def depth(self) -> int:
        """How many keys could be processed at once."""
        return len(self._ready)

    def close(self) -> None:
        """Return no more keys."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _add(self, key: Key) -> None:
        if key not in self._dirty:
            self._dirty.add(key)
            if key not in self._processing:
                self._ready.append(key)

    def _add_due(self) -> float | None:
        """Add what is due; the seconds until the next is."""
        now = time.monotonic()
        for key in [key for key, due in self._due.items() if due <= now]:
            del self._due[key]
            self._add(key)
        return min(self._due.values()) - now if self._due else None
