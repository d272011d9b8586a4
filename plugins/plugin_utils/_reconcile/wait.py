# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting: an attempt is repeated until its outcome is final, and the clock that times it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request


@dataclass(frozen=True)
class Clock:
    """Time and sleep; tests replace it."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def ticks(self, timeout: float, pause: float) -> Iterator[bool]:
        """Yield True after each pause until the timeout."""
        end = self.monotonic() + timeout
        while self.monotonic() < end:
            self.sleep(min(pause, max(0.0, end - self.monotonic())))
            yield True


# Receives a line of progress.
Progress = Callable[[str], None]

_Outcome = TypeVar("_Outcome", bound=Outcome[Any])


def repeat_until(
    is_final: Callable[[_Outcome], bool],
    attempt: Callable[[_Outcome], _Outcome],
    outcome: _Outcome,
    request: Request[Any],
    progress: Callable[[_Outcome], None],
    clock: Clock,
) -> _Outcome:
    """Return the outcome of the first attempt; with `wait`, of the first final one, or of the last one in time."""
    outcome = attempt(outcome)
    if not request.waits:
        return outcome
    ticks = clock.ticks(request.wait_timeout, request.wait_sleep)
    progress(outcome)
    while not is_final(outcome) and next(ticks, False):
        outcome = attempt(outcome)
        progress(outcome)
    return outcome if is_final(outcome) else replace(outcome, timed_out=True)


def without_repeats(progress: Progress) -> Progress:
    """Return a progress function that skips a line equal to the one before, and empty ones."""
    said: str | None = None

    def say(line: str) -> None:
        nonlocal said
        if line and line != said:
            said = line
            progress(line)

    return say
