# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a task: one reconcile, or with wait, repeated ones until the outcome is final."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request

_Plan = TypeVar("_Plan", bound=Plan[Any])


@dataclass(frozen=True)
class Outcome(Generic[_Plan]):
    """The outcome of a task; the plan has the steps of all reconciles.

    `report` is that of the last reconcile, None if there was none. `remains` names the objects that are not deleted
    yet; with `is_deleted` the resource is. `stuck`: why the task does not wait any longer, although the desired state
    is not reached. `masker` has the secrets of all reconciles whose steps are shown.
    """

    plan: _Plan
    changed: bool = False
    report: Report[_Plan] | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False
    remains: tuple[str, ...] = ()
    is_deleted: bool = False
    stuck: str = ""
    masker: Masker = field(default=Masker(), repr=False)

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.report.problems if self.report else self.plan.problems

    def after(self, report: Report[_Plan]) -> Self:
        """Return the outcome after one more reconcile."""
        plan = report.plan.following(self.plan)
        warnings = tuple(dict.fromkeys((*self.warnings, *report.warnings)))
        # Without steps, all texts of the report are masked already.
        masker = self.masker | report.masking.masker if report.plan.shows_steps else self.masker
        changed = self.changed or report.changed
        return replace(self, plan=plan, changed=changed, report=report, warnings=warnings, masker=masker)


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
    last: str | None = None

    def report_change(line: str) -> None:
        nonlocal last
        if line and line != last:
            last = line
            progress(line)

    return report_change
