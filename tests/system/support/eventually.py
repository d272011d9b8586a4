# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wait for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock

Result = TypeVar("Result")
# Seconds. What is waited for needs the processors, too, so that a pause is at least as long as the question before.
SHORTEST, LONGEST = 0.02, 0.3


def eventually(
    condition: Callable[[], Result | None], timeout: float = 180, *, otherwise: Callable[[], str] = str
) -> Result:
    """Return the first true result of the condition; if there is none, `otherwise` returns the text of the error."""
    begin = time.monotonic()
    asked = begin
    while not (result := condition()):
        answered = time.monotonic()
        assert answered < begin + timeout, f"gave up waiting {otherwise()}"
        time.sleep(pause(answered - asked, answered - begin))
        asked = time.monotonic()
    return result


def pausing() -> Clock:
    """Return a clock for reconciles without a time between them."""
    begin = time.monotonic()
    return Clock(sleep=lambda _seconds: time.sleep(pause(5 * SHORTEST, time.monotonic() - begin)))


def pause(asked: float, waited: float) -> float:
    """Return the seconds until the next question, from the duration of this one, and of all since the first."""
    return min(max(SHORTEST, asked, waited / 10), LONGEST)
