# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports how long a block has been running, while it is running."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

# Seconds after which a block that is still running is reported; then every 30 s.
FIRST = (3, 10, 30)
PERIOD = 30


def times() -> Iterator[int]:
    """Yield the seconds after which to report."""
    yield from FIRST
    yield from count(FIRST[-1] + PERIOD, PERIOD)


@contextmanager
def report_elapsed(report: Callable[[int], None]) -> Iterator[None]:
    """Call ``report`` with the seconds, in another thread, until the block ends; not at all if it ends early."""
    ended = threading.Event()
    thread = threading.Thread(target=report_until, args=(ended.wait, report), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def report_until(ended: Callable[[float], bool], report: Callable[[int], None]) -> None:
    """Report at these times. ``ended``: sleep for some seconds, and return whether the block has ended."""
    last = 0
    for seconds in times():
        if ended(seconds - last):
            return
        report(seconds)
        last = seconds
