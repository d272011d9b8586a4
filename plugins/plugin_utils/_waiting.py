# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Passes, until there is nothing left to wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding

# Takes a line for the person who waits.
Progress = Callable[[str], None]


class Report(Protocol):
    """What a pass says of itself."""

    @property
    def is_over(self) -> bool:
        """True when there is nothing to wait for: it is as wanted, or something lasting is in the way."""

    @property
    def progress(self) -> str:
        """How far it is, in words."""

    @property
    def is_ready(self) -> bool:
        """True when the condition Ready is."""

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What is in the way."""

    @property
    def status(self) -> Mapping[str, Any]:
        """The status of the resource."""

    @property
    def is_gone(self) -> bool:
        """True when the resource has gone, so that it has no status any more."""

    @property
    def requeue_after(self) -> int | None:
        """Seconds until the next look; None where the regular period will do."""


_Report = TypeVar("_Report", bound=Report)


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[_Report]):
    """What came of a task; `report` is that of the last pass, None when there was nothing to report on.

    `remains` names what is still there of what was to go.
    """

    report: _Report | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False
    remains: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        return self.report is None or self.report.is_over

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.report.problems if self.report else ()


_Outcome = TypeVar("_Outcome", bound=Outcome[Any])


def until_over(
    outcome: _Outcome, again: Callable[[_Outcome], _Outcome], ticks: Iterator[bool], progress: Progress
) -> _Outcome:
    """Return what came of the pass after which there is nothing to wait for, or of the last one that was in time."""
    say = without_repeats(progress)
    _tell(say, outcome)
    while not outcome.is_over and next(ticks, False):
        outcome = again(outcome)
        _tell(say, outcome)
    return outcome if outcome.is_over else replace(outcome, timed_out=True)


def without_repeats(progress: Progress) -> Progress:
    """Return what passes a line on unless it is that of the last time."""
    said: str | None = None

    def say(line: str) -> None:
        nonlocal said
        if line != said:
            said = line
            progress(line)

    return say


def _tell(say: Progress, outcome: Outcome[Any]) -> None:
    if outcome.report is not None:
        say(outcome.report.progress)
