# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reconcile: steps in order, and findings; and what a reconcile found and did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank, of_rank
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import StepResult


class Waits(NamedTuple):
    """What a rollout waits for besides pods.

    `not_recovered` is what the next group waits for in Druid, and `druid_before` the state of Druid at the start of the
    rollout, if it was read now. `refused_evictions`: the PodDisruptionBudgets that do not allow an eviction, each with
    the remedy.
    """

    not_recovered: str = ""
    druid_before: Mapping[str, int] | None = None
    refused_evictions: tuple[str, ...] = ()


NOTHING = Waits()


@dataclass(frozen=True)
class Plan(plan.Plan[Step]):
    """The plan of a cluster.

    `later` are the steps of later reconciles, which wait for the pods of other groups, in the order of the restarts.
    `warnings` are about the spec and the live state, `rollout_warnings` about the steps. `waits`: what the scheduler of
    restarts waits for besides pods.
    """

    rollout_warnings: tuple[str, ...] = ()
    later: tuple[Step, ...] = ()
    waits: Waits = NOTHING

    @property
    def shows_steps(self) -> bool:
        return super().shows_steps or bool(self.later)

    @property
    def reported(self) -> tuple[str, ...]:
        return (*self.warnings, *self.rollout_warnings)

    @property
    def is_destructive(self) -> bool:
        """True when a step deletes a PVC, or causes its deletion, or removes a role that others need."""
        return super().is_destructive or any(step.is_destructive for step in self.later)

    @property
    def restarts(self) -> tuple[str, ...]:
        """The keys of the groups that this reconcile restarts."""
        return tuple(step.group or "" for step in self.steps if step.restart.pods)

    @property
    def pending_restarts(self) -> tuple[str, ...]:
        """The keys of the groups that restart in later reconciles, in order."""
        return tuple(step.group or "" for step in self.later if step.restart.pods)

    @property
    def pending_removals(self) -> tuple[ObjectKey, ...]:
        """The workloads of removed groups that are deleted in later reconciles."""
        return tuple(step.key for step in self.later if step.removes_group and step.key.kind in WORKLOADS)

    @property
    def awaited_budgets(self) -> tuple[str, ...]:
        """The PodDisruptionBudgets because of which evictions are not possible now."""
        names = (key.name for step in self.later if (eviction := step.restart.eviction) for key in eviction.budgets)
        return tuple(dict.fromkeys(names))

    def with_warnings(self, warnings: Iterable[str]) -> Self:
        """Return the plan with more warnings about its steps."""
        return replace(self, rollout_warnings=(*self.rollout_warnings, *warnings))

    def with_texts(self, change: Callable[[str], str]) -> Self:
        return replace(
            super().with_texts(change),
            rollout_warnings=tuple(map(change, self.rollout_warnings)),
            waits=self.waits._replace(
                not_recovered=change(self.waits.not_recovered),
                refused_evictions=tuple(map(change, self.waits.refused_evictions)),
            ),
        )

    def paused(self, pause: Finding) -> Self:
        """Return the plan of a paused cluster: everything is pending."""
        waiting = {step.key for step in self.later}
        now = (step for step in self.steps if step.key not in waiting)
        whole = replace(self, steps=(*now, *self.later), later=())
        return replace(super(Plan, whole).paused(pause), waits=self.waits._replace(refused_evictions=()))

    def following(self, earlier: Self) -> Self:
        """Return the plan of a later reconcile with the steps of the earlier one before its own."""
        warnings = (*earlier.rollout_warnings, *self.rollout_warnings)
        return replace(super().following(earlier), rollout_warnings=warnings)


@dataclass(frozen=True)
class ClusterResult:
    """State, plan and (not in check mode) results of a reconcile.

    The plan is the one that was decided, with the steps that were not carried out: the status is about what is pending,
    too. So it is no `Completed`, whose plan has only what was done.

    `inputs` is what was decided on, None if nothing was. `stored_replicas`: the pods of each group for which admission
    stores another number than specified.
    """

    resource: Manifest
    cluster: Cluster
    observed: Observed
    plan: Plan
    results: tuple[StepResult[Step], ...] = ()
    inputs: Inputs | None = None
    stored_replicas: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_paused(self) -> bool:
        """True if the resource is paused: nothing is written."""
        return of_rank(self.plan.findings, Rank.PAUSED) is not None


def predicted(observed: Observed, steps: Iterable[Step]) -> Observed:
    """Return the predicted state after the steps, from the results of the dry runs."""
    for step in steps:
        observed = step.observed_after(observed, step.after)
    return observed
