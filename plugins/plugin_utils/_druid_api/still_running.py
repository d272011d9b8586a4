# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A module on Druid's API that is still running: reports of what it may be waiting for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo


def still_running(arguments: Mapping[str, Any], seconds: int) -> str:
    """Return what the module may be waiting for. ``arguments``: those of the task, the only thing that is known."""
    url = arguments.get("url")
    servers = ", ".join(map(str, url)) if isinstance(url, list) else str(url or "the server in DRUID_URL")
    waits = ", and for the requested state (wait_timeout)" if arguments.get("wait") else ""
    return (
        f"no result after {seconds} s. It sends requests to {without_userinfo(servers)}, tries again for a limited "
        f"time if there is no connection (retry_timeout), and waits for each response (read_timeout){waits}."
    )


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
