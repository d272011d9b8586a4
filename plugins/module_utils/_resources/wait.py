# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting for something in Druid: a JMESPath expression over its status, asked again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput

try:
    import jmespath
    from jmespath.exceptions import JMESPathError
except ImportError:
    jmespath = None  # type: ignore[assignment]

# Seconds between two looks.
INTERVAL = 1.0


class WaitTimeout(DruidError):
    """What was waited for has not come to be. ``last``: the status that was seen last."""

    def __init__(self, message: str, last: Any) -> None:
        super().__init__(message)
        self.last = last


@dataclass(frozen=True)
class Clock:
    """Time, in seconds; another one in tests."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def condition(expression: str, option: str = "wait_for") -> Callable[[Any], bool]:
    """Return a test for a status; InvalidInput names ``option`` when the expression is no JMESPath."""
    if jmespath is None:
        raise InvalidInput(option, expression, "waiting needs the Python library jmespath where the module runs")
    try:
        compiled = jmespath.compile(expression)
    except JMESPathError as error:
        # the message draws an arrow below the expression, over several lines
        problem = " ".join(str(error).split())
        raise InvalidInput(option, expression, f"is no JMESPath expression: {problem}") from None
    return lambda status: _is_true(compiled, status, option)


def wait_until(
    read: Callable[[], Any], is_met: Callable[[Any], bool], *, timeout: float, awaited: str, clock: Clock = Clock()
) -> Any:
    """Return the first status that meets the condition; WaitTimeout after ``timeout`` seconds. Looks at least once."""
    end = clock.now() + timeout
    while True:
        status = read()
        if is_met(status):
            return status
        if clock.now() >= end:
            raise WaitTimeout(f"Waited {timeout:g} s for {awaited}.", status)
        clock.sleep(min(INTERVAL, max(end - clock.now(), 0)))


def _is_true(compiled: Any, status: Any, option: str) -> bool:
    try:
        return bool(compiled.search(status))
    except JMESPathError as error:
        problem = " ".join(str(error).split())
        raise InvalidInput(option, compiled.expression, f"cannot be evaluated: {problem}") from None
