# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of a request."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import wait
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


@dataclass(frozen=True)
class Outcome(wait.Outcome[Report]):
    """The outcome of a request; the plan has the steps of all reconciles."""

    plan: Plan = field(default_factory=Plan)
    changed: bool = False

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.report.problems if self.report else self.plan.findings
