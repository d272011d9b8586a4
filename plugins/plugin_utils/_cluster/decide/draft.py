# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan in the making."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import exists_since
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import drop_blocked
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.common_configuration import (
    early_pods,
    with_early_readers,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.druid_health import (
    waiting_for_druid,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.gate import gate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.restart_order import (
    blocked_restarts,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import (
    CLAIM,
    may_delete_claims,
    with_effects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding


@dataclass(frozen=True)
class Draft:
    """The candidates in the order of execution, the findings of the policies so far, and verdicts on candidates."""

    inputs: Inputs
    candidates: tuple[Step, ...]
    findings: tuple[Finding, ...] = ()
    verdicts: tuple[Verdict, ...] = ()

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The candidates that no finding blocks."""
        return drop_blocked(self.candidates, self.findings)

    @property
    def applies(self) -> tuple[Step, ...]:
        """The steps that apply a desired object; the others remove objects."""
        return tuple(step for step in self.steps if step.manifest)

    def with_findings(self, findings: Iterable[Finding]) -> Draft:
        """Return the same with more findings."""
        return replace(self, findings=(*self.findings, *findings))

    @property
    def _live_and_claims(self) -> Observed:
        """The live objects, with the PVCs without labels if some are deleted with pods."""
        inputs = self.inputs
        if not may_delete_claims(self.steps, inputs.observed):
            return inputs.with_all_claims
        return inputs.observed.with_objects(inputs.reads.list_objects(CLAIM))

    def plan(self) -> Plan:
        """Return the plan."""
        inputs, blocked = self.inputs, blocked_restarts(self.candidates, self.findings, self.inputs)
        gated = gate(self.steps, inputs, blocked)
        live, cluster = self._live_and_claims, inputs.cluster
        since = exists_since(inputs)
        steps, later = (with_effects(each, live, cluster, since) for each in (gated.steps, gated.later))
        waiting = (*blocked, *gated.later)
        return Plan(
            with_early_readers(steps, waiting, cluster),
            (*self.findings, *waiting_for_druid(gated.waits.awaited)),
            inputs.desired.warnings,
            rollout_warnings=(*gated.warnings, *early_pods(live, self.steps, waiting, cluster)),
            later=later,
            waits=gated.waits,
        )


# Findings about the draft.
Policy = Callable[[Draft], Iterable[Finding]]
