# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reconcile: steps, and findings; and what came of it. Each kind has its own types of steps. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar, cast

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import (
    Finding,
    Rank,
    joined_messages,
    pending_changes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import (
    Result,
    Shown,
    completed,
    failures,
    state_after,
)

_Step = TypeVar("_Step", bound=Shown)
# The default of the status in the CRDs.
NEVER_RECONCILED = {"observedGeneration": -1}


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
    def reported(self) -> tuple[str, ...]:
        """All warnings for the user."""
        return self.warnings

    @property
    def changes(self) -> bool:
        return bool(self.steps)

    @property
    def shows_steps(self) -> bool:
        """True if lines and diff have steps."""
        return bool(self.steps)

    def following(self, earlier: Self) -> Self:
        """Return the plan of a later reconcile with the steps of the earlier one before its own."""
        return replace(self, steps=(*earlier.steps, *self.steps))

    def with_texts(self, change: Callable[[str], str]) -> Self:
        """Return the plan with this change of all its texts, apart from those of the steps."""
        findings = tuple(replace(each, message=change(each.message)) for each in self.findings)
        return replace(self, findings=findings, warnings=tuple(map(change, self.warnings)))

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
        return (
            (Finding(reasons.CHANGES_PENDING, message, is_problem=False, rank=Rank.PENDING),)
            if changes or blockers
            else ()
        )


_Plan = TypeVar("_Plan", bound=Plan[Any])


@dataclass(frozen=True)
class Completed(Generic[_Plan]):
    """What came of a reconcile: the plan has only completed steps, except in check mode, and all findings.

    `is_deleted`: the finalizer was removed, so that the resource is deleted.
    """

    resource: Manifest
    plan: _Plan
    is_deleted: bool = field(default=False, kw_only=True)

    @property
    def previous(self) -> Mapping[str, Any]:
        """The status before the reconcile; empty before the first one, where the CRD has a default."""
        return previous_status(self.resource)

    def with_findings(self, *findings: Finding) -> Self:
        """Return the reconcile with further findings."""
        return replace(self, plan=replace(self.plan, findings=(*self.plan.findings, *findings)))

    def blocked(self, *problems: Finding) -> Self:
        """Return the reconcile with these findings, and nothing to do."""
        return replace(self, plan=replace(self.plan, steps=())).with_findings(*problems)

    def after(self, results: Iterable[Result[Any]]) -> Self:
        """Return the reconcile after its steps: with the completed ones, and a finding about each that failed."""
        done = cast(Self, state_after(results, self))
        return replace(done, plan=replace(done.plan, steps=completed(results))).with_findings(*failures(results))


def previous_status(resource: Manifest) -> Mapping[str, Any]:
    """Return the status of a resource; empty before its first reconcile."""
    status = resource.get("status") or {}
    return {} if status == NEVER_RECONCILED else status
