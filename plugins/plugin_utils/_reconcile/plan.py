# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reconcile: steps, and findings. Each kind has its own types of steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import (
    Finding,
    joined_messages,
    pending_changes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import Shown

_Step = TypeVar("_Step", bound=Shown)


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

    @property
    def titles(self) -> list[str]:
        """The title of each change, in order."""
        return [step.title for step in self.steps]

    def paused(self, pause: Finding) -> Self:
        """Return the plan of a paused resource: its changes are pending, and its findings are not problems."""
        blockers = tuple(replace(finding, is_problem=False) for finding in self.findings)
        pending = self._pending()
        warnings = (*self.warnings, *(finding.message for finding in pending))
        return replace(self, steps=(), findings=(pause, *pending, *blockers), warnings=warnings)

    def _pending(self) -> tuple[Finding, ...]:
        changes = [pending_changes(self.titles)] if self.titles else []
        blockers = [f"Blocked by: {joined_messages(self.problems)}"] if self.problems else []
        message = " ".join(["Paused.", *changes, *blockers])
        return (Finding(reasons.CHANGES_PENDING, message, is_problem=False),) if changes or blockers else ()
