# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan in the making: candidates, findings, and the verdicts of the API server, which are dry runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, cast

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM, exists_since
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import drop_blocked
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import immutable_part
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.druid_health import waiting_for_druid
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.gate import gate
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.restart_order import (
    blocked_restarts,
    early_pods,
    with_early_readers,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import (
    may_delete_claims,
    with_effects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import Override, overrides
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masked_pair
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited, shown


@dataclass(frozen=True)
class DraftPlan:
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

    def with_findings(self, findings: Iterable[Finding]) -> DraftPlan:
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
            (*self.findings, *waiting_for_druid(gated.waits.not_recovered)),
            rollout_warnings=(*gated.warnings, *early_pods(live, self.steps, waiting, cluster)),
            later=later,
            waits=gated.waits,
        )


# Findings about the draft.
Policy = Callable[[DraftPlan], Iterable[Finding]]


_Step = TypeVar("_Step", bound=Step)


def dry_runs(draft: DraftPlan) -> tuple[Verdict, ...]:
    """Return the verdicts on all applies and deletions, and on all patches of PVCs, that no finding blocks."""
    return tuple(draft.inputs.reads.dry_run(step) for step in draft.steps if step.verdicts is not None)


def rejections(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return the rejections of writes by the API server; one for all if the namespace is missing."""
    rejected = (verdict.rejection for verdict in draft.verdicts if verdict.step.verdicts == "writes")
    return tuple(dict.fromkeys(rejection for rejection in rejected if rejection is not None))


def confirmed(candidates: Iterable[_Step], verdicts: Iterable[Verdict]) -> tuple[_Step, ...]:
    """Return the candidates with the results of their dry runs, without those that would change nothing."""
    known = {_identity(verdict.step): verdict for verdict in verdicts}
    steps = (_confirmed(step, known.get(_identity(step))) for step in candidates)
    return tuple(step for step in steps if step is not None)


def _identity(step: Step) -> tuple[ObjectKey, str | None]:
    """Return what the verdict is about: a PVC may be applied and patched."""
    return step.key, step.verdicts


def _confirmed(candidate: _Step, verdict: Verdict | None) -> _Step | None:
    if verdict is None or verdict.after is None:
        return candidate
    if not verdict.step.has_effect(verdict.after):
        return None
    # A patch has no other effect than what it sets.
    return candidate if candidate.verdicts == "patches" else replace(cast(_Step, verdict.step), after=verdict.after)


def overridden_values(draft: DraftPlan) -> tuple[str, ...]:
    """Return a warning for each object whose values admission overrides: its fields, with both values."""
    return tuple(
        f"{key}: {join_limited(map(_shown, found), '; ')}. A mutating webhook or policy overrides what is specified, "
        "and the stored value counts: change the specification, or the policy"
        for key, found in _overrides(draft).items()
    )


def stored_replicas(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return the number of pods of each group for which admission stores another one than specified, by group."""
    return {
        verdict.step.group or "": verdict.after["spec"]["replicas"]
        for verdict in verdicts
        if verdict.step.key.kind in WORKLOADS and verdict.after is not None and _overrides_replicas(verdict)
    }


def _overrides_replicas(verdict: Verdict) -> bool:
    specified = verdict.step.manifest["spec"].get("replicas")
    return specified is not None and (verdict.after or {})["spec"].get("replicas") != specified


def _overrides(draft: DraftPlan) -> dict[ObjectKey, list[Override]]:
    """Return the overridden fields of each object; those that only a recreation could change, from its dry run."""
    recreations = draft.inputs.reads.recreations(draft.inputs)
    recreated = ((immutable_part(each.step.manifest), each) for each in recreations)
    written = ((each.step.manifest, each) for each in draft.verdicts if each.step.verdicts == "writes")
    by_object: dict[ObjectKey, dict[str, Override]] = {}
    for manifest, verdict in (*recreated, *written):
        # The exit does not know what is stored. The search takes long, and most objects are stored as specified.
        if verdict.after is not None and any(overrides(manifest, verdict.after)):
            masked = masked_pair(manifest, verdict.after)
            by_object.setdefault(verdict.step.key, {}).update(
                {override.path: override for override in overrides(*masked)}
            )
    return {key: [*each.values()] for key, each in by_object.items()}


def _shown(override: Override) -> str:
    specified, stored = map(shown, override[1:])
    return f"{override.path}: specified {specified}, stored {stored}"
