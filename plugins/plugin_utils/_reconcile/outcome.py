# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcome of a task: one reconcile, or several with wait."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report

_Plan = TypeVar("_Plan", bound=Plan[Any])


@dataclass(frozen=True)
class Outcome(Generic[_Plan]):
    """The outcome of a task; the plan has the steps of all reconciles.

    `report` is that of the last reconcile, None if there was none. `remains` names the objects that are not deleted
    yet.
    """

    plan: _Plan
    changed: bool = False
    report: Report[_Plan] | None = None
    warnings: tuple[str, ...] = ()
    timed_out: bool = False
    remains: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.report.problems if self.report else self.plan.problems

    def after(self, report: Report[_Plan]) -> Self:
        """Return the outcome after one more reconcile."""
        plan = report.plan.following(self.plan)
        warnings = tuple(dict.fromkeys((*self.warnings, *report.warnings)))
        return replace(self, plan=plan, changed=self.changed or report.changed, report=report, warnings=warnings)
