# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting for a condition in Druid: polls a status until a JMESPath expression holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput

try:
    import jmespath
    from jmespath.exceptions import JMESPathError
except ImportError:
    jmespath = None  # type: ignore[assignment]

CLOCK = Clock()
# Seconds between two reads.
INTERVAL = 1.0


class WaitTimeout(DruidError):
    """The condition was not met in time. ``last``: the last status."""

    def __init__(self, message: str, last: Any) -> None:
        super().__init__(message)
        self.last = last


def condition(expression: str, option: str = "wait_for") -> Callable[[Any], bool]:
    """Return a predicate for a status. InvalidInput names ``option`` if the expression is not valid JMESPath."""
    if jmespath is None:
        raise InvalidInput(option, expression, "waiting requires the Python library jmespath where the module runs")
    try:
        compiled = jmespath.compile(expression)
    except JMESPathError as error:
        # the message of jmespath has several lines, with an arrow below the expression
        problem = " ".join(str(error).split())
        raise InvalidInput(option, expression, f"is not a valid JMESPath expression: {problem}") from None
    return lambda status: _is_true(compiled, status, option)


def wait_until(
    read: Callable[[], Any], is_met: Callable[[Any], bool], *, timeout: float, waiting_for: str, clock: Clock = CLOCK
) -> Any:
    """Return the first status that meets the condition. WaitTimeout after ``timeout`` seconds. Reads at least once."""
    ticks = clock.ticks(timeout, INTERVAL)
    status = read()
    while not is_met(status):
        if not next(ticks, False):
            raise timeout_error(timeout, waiting_for, status)
        status = read()
    return status


def timeout_error(timeout: float, waiting_for: str, last: Any) -> WaitTimeout:
    """Return the error of a wait that took ``timeout`` seconds. ``last``: the last status."""
    return WaitTimeout(f"Timed out after {timeout:g} s waiting for {waiting_for}.", last)


def _is_true(compiled: Any, status: Any, option: str) -> bool:
    try:
        return bool(compiled.search(status))
    except JMESPathError as error:
        problem = " ".join(str(error).split())
        raise InvalidInput(option, compiled.expression, f"cannot be evaluated: {problem}") from None
