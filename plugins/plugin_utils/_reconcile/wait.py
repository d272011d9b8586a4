# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Repeated reconciles until a final state, and the clock that times them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


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


class Report(Protocol):
    """The report of one reconcile."""

    @property
    def is_final(self) -> bool:
        """True when there is nothing to wait for: the desired state is reached, or a lasting problem blocks it."""

    @property
    def progress(self) -> str:
        """The progress, as a line of text."""

    @property
    def is_ready(self) -> bool:
        """True when the condition Ready is true."""

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The problems that block the resource."""

    @property
    def status(self) -> Mapping[str, Any]:
        """The status of the resource."""

    @property
    def is_gone(self) -> bool:
        """True when the resource was deleted and has no status."""

    @property
    def requeue_after(self) -> int | None:
        """Seconds until the next reconcile; None for the regular period."""


_Report = TypeVar("_Report", bound=Report)


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[_Report]):
    """The outcome of a task; `report` is that of the last reconcile, None if there was none.

    `remains` names the objects that are not deleted yet.
    """

    report: _Report | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False
    remains: tuple[str, ...] = ()

    @property
    def is_final(self) -> bool:
        return self.report is None or self.report.is_final

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.report.problems if self.report else ()


_Outcome = TypeVar("_Outcome", bound=Outcome[Any])


def wait_until_final(
    outcome: _Outcome, again: Callable[[_Outcome], _Outcome], ticks: Iterator[bool], progress: Progress
) -> _Outcome:
    """Return the outcome of the first final reconcile, or of the last one before the timeout."""
    say = without_repeats(progress)
    _show(say, outcome)
    while not outcome.is_final and next(ticks, False):
        outcome = again(outcome)
        _show(say, outcome)
    return outcome if outcome.is_final else replace(outcome, timed_out=True)


def without_repeats(progress: Progress) -> Progress:
    """Return a progress function that skips a line equal to the one before."""
    said: str | None = None

    def say(line: str) -> None:
        nonlocal said
        if line != said:
            said = line
            progress(line)

    return say


def _show(say: Progress, outcome: Outcome[Any]) -> None:
    if outcome.report is not None:
        say(outcome.report.progress)
