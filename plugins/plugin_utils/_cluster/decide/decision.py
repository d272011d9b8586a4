# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide what a reconcile writes: a loop over the features, which only reads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import (
    deferred_removals,
    outdated_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    changed_objects,
    orphaned_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import (
    DraftPlan,
    Policy,
    confirmed,
    dry_runs,
    overridden_values,
    rejections,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import keep_finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import evictions, failing_pods
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import (
    events_of_missing_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step

# Each one judges the steps that those before it do not block. A finding blocks its group, or all groups.
# These come before the dry runs, so that the API server is not asked about changes that they block; the others after.
LOCAL_POLICIES: tuple[Policy, ...] = (
    *(feature.judge for feature in FEATURES),
    # A recreated workload would not adopt its running pods.
    orphaned_pods,
)
POLICIES: tuple[Policy, ...] = (
    # The API server rejects an object in a dry run.
    rejections,
    *(feature.judge_results for feature in FEATURES),
    # A group that was removed from the spec may be the old name of a blocked one.
    lambda draft: deferred_removals(draft.candidates, draft.findings),
)


def decide(inputs: Inputs) -> tuple[Plan, DraftPlan | None]:
    """Return the plan, and the draft with all that was read for it; None if the specification is refused."""
    if inputs.schema_errors:
        return Plan(findings=inputs.schema_errors), None
    kept = keep_finalizer(inputs.resource, inputs.keep_finalizer) if inputs.cluster.uid else ()
    for feature in FEATURES:
        refused = tuple(feature.refuse(inputs))
        if refused:
            return Plan(() if feature.refuses_finalizer else kept, refused), None
    draft = _settled_draft(_prepared(inputs))
    plan = _plan(draft)
    return replace(plan, steps=(*kept, *plan.steps)), draft


def _prepared(inputs: Inputs) -> Inputs:
    """Return the inputs with the live objects that no LIST of objects with the label contains."""
    # A desired object may exist without our label.
    unlisted = inputs.reads.unlisted(inputs)
    inputs = inputs.with_objects(live for live in unlisted if is_ours(live, inputs.cluster))
    # Only the events of a StatefulSet or PVC explain why a pod does not exist.
    inputs = inputs.with_objects(events_of_missing_pods(inputs))
    for feature in FEATURES:
        inputs = feature.prepared(inputs)
    return inputs


def _settled_draft(inputs: Inputs) -> DraftPlan:
    """Return the judged steps, once no feature desires something else because of what is blocked."""
    draft = _judged(inputs)
    # at most once for each group
    for _group in inputs.cluster.groups:
        other = next(filter(None, (feature.reconsidered(draft) for feature in FEATURES)), None)
        if other is None:
            break
        draft = _judged(other)
    return draft


def _judged(inputs: Inputs) -> DraftPlan:
    """Return the candidates, as the API server would store them, with the findings of all policies."""
    changed, others, removals = _candidates(inputs)
    draft = _with_findings(DraftPlan(inputs, in_order((*changed, *others), removals)), LOCAL_POLICIES)
    verdicts = dry_runs(draft)
    changed, others, removals = (confirmed(each, verdicts) for each in (changed, others, removals))
    evicted = evictions(inputs, (*changed, *failing_pods(inputs)))
    judged = replace(draft, candidates=in_order((*changed, *others, *evicted), removals), verdicts=verdicts)
    judged = _with_findings(judged, POLICIES)
    # The resource was changed since it was read, and a workload would be deleted or have fewer replicas.
    return judged.with_findings(outdated_resource(judged))


def _with_findings(draft: DraftPlan, policies: tuple[Policy, ...]) -> DraftPlan:
    for policy in policies:
        draft = draft.with_findings(policy(draft))
    return draft


def _plan(draft: DraftPlan) -> Plan:
    inputs = draft.inputs
    plan = draft.plan()
    warnings = (
        *(text for feature in FEATURES for text in feature.warnings(inputs)),
        *overridden_values(draft),
    )
    plan = replace(plan, warnings=warnings)
    for feature in FEATURES:
        plan = feature.after_gate(plan, inputs)
    return plan


def _candidates(inputs: Inputs) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[Step, ...]]:
    """Return a step for each object that is missing or differs, other writes, and the removals."""
    desired = inputs.desired
    for feature in FEATURES:
        desired = feature.desired(desired, inputs)
    changed = changed_objects(inputs.cluster, desired, inputs.observed, inputs.admitted)
    for feature in FEATURES:
        changed = tuple(feature.applies(changed, inputs))
    others = (*(step for feature in FEATURES for step in feature.steps(inputs)), *failing_pods(inputs))
    removals: list[Step] = []
    for feature in FEATURES:
        # Of a PVC that a removal changes, the next reconcile judges the rest: a second change would fail.
        known = {step.key for step in removals}
        removals += (step for step in feature.removals(inputs) if step.key not in known)
    return changed, others, tuple(removals)


def in_order(writes: Collection[Step], removals: Collection[Step]) -> tuple[Step, ...]:
    """Return all steps in the order of execution; both arguments are in rollout order."""
    shared = (step for step in writes if step.group is None)
    grouped = sorted((step for step in writes if step.group is not None), key=lambda step: not step.prepares)
    first = (step for step in removals if _comes_first(step))
    last = (step for step in removals if not _comes_first(step))
    return (*shared, *first, *grouped, *last)


def _comes_first(step: Step) -> bool:
    """True for the removed autoscaler of a group that stays: it would revert the replicas of the group."""
    return step.key.kind == "HorizontalPodAutoscaler" and step.group is not None
