# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reconcile: steps as data, and findings. Each kind has its own steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

_Step = TypeVar("_Step")


@dataclass(frozen=True)
class Plan(Generic[_Step]):
    """All writes of a reconcile in order, findings about blocked ones, and warnings."""

    steps: tuple[_Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_problem)

    @property
    def changes(self) -> bool:
        return bool(self.steps)

    def following(self, earlier: Self) -> Self:
        """Return the plan of a later reconcile with the steps of the earlier one before its own."""
        return replace(self, steps=(*earlier.steps, *self.steps))
