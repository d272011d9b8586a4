# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waiting for several conditions in Druid together, with one timeout for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.wait import (
    CLOCK,
    INTERVAL,
    WaitTimeout,
    timeout_error,
    wait_until,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError


@dataclass
class Wait:
    """A status to read until it meets a condition, and its name in a message. ``last``: the last status."""

    read: Callable[[], Any]
    is_met: Callable[[Any], bool]
    waiting_for: str
    last: Any = None
    error: DruidError | None = None

    def is_pending(self) -> bool:
        """Read the status. True if it does not meet the condition yet. An error ends the wait."""
        try:
            self.last = self.read()
            return not self.is_met(self.last)
        except DruidError as error:
            self.error = error
            return False

    def outcome(self) -> Any:
        """Return the status that met the condition, or raise the error that ended the wait."""
        if self.error is not None:
            raise self.error
        return self.last


def wait_for_all(waits: Sequence[Wait], timeout: float) -> None:
    """Wait until each has an outcome, at most ``timeout`` seconds in total. Each status is read at least once."""
    pending, end = list(waits), CLOCK.monotonic() + timeout + INTERVAL
    seen: set[int] = set()

    def is_pending(wait: Wait) -> bool:
        """Reading all once may take longer than what is left."""
        is_first = id(wait) not in seen
        seen.add(id(wait))
        return (not is_first and CLOCK.monotonic() > end) or wait.is_pending()

    def still_pending() -> list[Wait]:
        pending[:] = [wait for wait in pending if is_pending(wait)]
        return pending

    try:
        wait_until(still_pending, lambda found: not found, timeout=timeout, waiting_for=_named(waits))
    except WaitTimeout:
        for wait in pending:
            wait.error = timeout_error(timeout, wait.waiting_for, wait.last)


def _named(waits: Sequence[Wait]) -> str:
    return waits[0].waiting_for if len(waits) == 1 else f"{len(waits)} conditions"
