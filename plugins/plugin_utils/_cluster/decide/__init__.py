# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide what a reconcile writes: a chain of policies, pure functions with one file each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    changed_objects,
    recreated_objects,
    unlisted_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.collisions import name_collisions
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.groups import questions
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.removed_groups import (
    removal_warnings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.settings import (
    strategy_warnings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.steps import (
    with_decommission,
    with_held_replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.deferred_removals import deferred_removals
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft, Policy
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.copies import with_copies
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.groups import (
    templates_of_workers,
    workers_of_groups,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.plan import (
    drain_document,
    drain_findings,
    drain_refusals,
    drain_requests,
    drain_timeouts,
    drains,
    with_drains,
    with_kept_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.settings import drain_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.go_operator_conflict import (
    go_operator_conflict,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.headless_services import headless_services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.immutable import orphaned_pods
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.order import in_order
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.outdated_resource import outdated_resource
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.preconditions import (
    disallowed_references,
    invalid_spec,
    missing_references,
    unreadable_spec,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.prune import (
    removed_objects,
    replica_sets_without_owner,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.quota import exceeded_quotas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.removed_roles import (
    all_groups_removed,
    role_warnings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.retained_services import retained_services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.evictions import (
    all_budgets,
    evictions,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.failing_pods import failing_pods
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.missing_pods import (
    events_of_missing_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.setting_warnings import setting_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.added_claims import added_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claims_without_labels import (
    claims_without_labels,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.infeasible_expansions import (
    infeasible_expansions,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.orphaned_claims import (
    orphaned_claims,
    users_of_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.pvc_expansion import (
    blocked_expansion,
    expanding_volumes,
    expansion_finding,
    not_expandable,
    storage_classes,
    with_deferred_sizes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.pvc_size import (
    oversized_pvcs,
    shrinking_claims,
    undersized_pvcs,
    unlabelled_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.pvc_updates import (
    ignored_updates,
    pvc_updates,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.rejected_patches import (
    rejected_patches,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.released_claims import (
    all_claims,
    released_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.segment_cache import (
    oversized_caches,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.taken_services import taken_services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.verdicts import (
    confirmed,
    overridden_values,
    rejections,
    stored_replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.finalizer import keep_finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.gather import Need

Blocker = Callable[[Inputs], tuple[Finding, ...]]

# The first one with findings blocks the cluster: nothing is written.
CLUSTER_BLOCKERS: tuple[Blocker, ...] = (
    # A field has the wrong type.
    unreadable_spec,
    # Two operators would revert each other's writes.
    go_operator_conflict,
)
# The first one with findings blocks the cluster: only the finalizer of the resource is written.
SPEC_BLOCKERS: tuple[Blocker, ...] = (
    # A reference to another namespace is not permitted.
    disallowed_references,
    # Kubernetes would reject the objects, or they could never work.
    invalid_spec,
    # Without the files of a referenced object, every pod would restart.
    missing_references,
)
# What has to be read before the candidates are known.
READS: tuple[Callable[[Inputs], Need | None], ...] = (
    # A desired object without our label exists, or has another owner.
    unlisted_objects,
    # Admission may be the only reason for a recreation.
    recreated_objects,
    # A removed group leaves ReplicaSets without an owner.
    replica_sets_without_owner,
    # A StatefulSet owns PVCs that the cluster retains.
    all_claims,
    # A PVC of a group may be too small or too large, and has no labels.
    unlabelled_claims,
    # The storage class of a PVC must allow its expansion.
    storage_classes,
    # Others may use a PVC that the groups do not need.
    users_of_claims,
    # A PodDisruptionBudget of others may not allow an eviction.
    all_budgets,
    # Only the events of a StatefulSet or PVC explain why a pod does not exist.
    events_of_missing_pods,
    # A difference in the template of workers may be none for the API server.
    templates_of_workers,
    # Workers are drained before their pods are replaced or removed.
    workers_of_groups,
    # Historicals must be empty before their number decreases.
    questions,
)
# Each one judges the steps that those before it do not block. A finding blocks its group, or all groups.
POLICIES: tuple[Policy, ...] = (
    # The spec has no groups, and everything would be deleted.
    all_groups_removed,
    # An object of another owner has the name of a desired one.
    name_collisions,
    # A PVC cannot shrink.
    shrinking_claims,
    # A PVC cannot grow.
    not_expandable,
    # A recreated workload would not adopt its running pods.
    orphaned_pods,
    # A pod cannot get another volume.
    added_claims,
    # The names of running pods would no longer resolve.
    headless_services,
    # A group takes a Service that resolves the names of another group's pods.
    taken_services,
    # The API server rejects an object in a dry run.
    rejections,
    # The API server rejects a change of a PVC in a dry run.
    rejected_patches,
    # The objects of a group exceed a quota together.
    exceeded_quotas,
    # A group that was removed from the spec may be the old name of a blocked one.
    deferred_removals,
    # PVCs are deleted with pods or with a StatefulSet.
    claims_without_labels,
    # The resource was changed since it was read, and a workload would be deleted or have fewer replicas.
    outdated_resource,
)


def decide(inputs: Inputs) -> Plan | Need:
    """Return the plan, or what is needed in addition to decide."""
    blockers = _first_findings(CLUSTER_BLOCKERS, inputs)
    if blockers:
        return Plan(findings=blockers)
    kept = keep_finalizer(inputs.resource, inputs.keep_finalizer) if inputs.cluster.uid else ()
    blockers = _first_findings(SPEC_BLOCKERS, inputs)
    if blockers:
        return Plan(kept, blockers)
    draft = _first_need(inputs) or _apply_policies(_candidates(inputs))
    if isinstance(draft, Need):
        return draft
    if (others := blocked_expansion(draft)) is not None:
        return others
    drafted = draft.plan()
    plan = drafted if isinstance(drafted, Need) else with_decommission(drafted, inputs)
    if isinstance(plan, Need):
        return plan
    of_volumes = (*undersized_pvcs(inputs), *oversized_pvcs(inputs), *oversized_caches(inputs))
    warnings = (*plan.warnings, *of_volumes, *retained_services(inputs), *strategy_warnings(inputs.cluster))
    warnings = (*warnings, *setting_warnings(inputs.cluster), *ignored_updates(inputs), *overridden_values(inputs))
    expanding = expanding_volumes(inputs)
    findings = (*plan.findings, *infeasible_expansions(inputs), *expansion_finding(expanding))
    plan = replace(plan, steps=(*kept, *plan.steps), findings=findings, warnings=warnings, expanding=expanding)
    plan = replace(plan, stored_replicas=stored_replicas(inputs))
    return _with_drains(plan, inputs)


def _with_drains(plan: Plan, inputs: Inputs) -> Plan:
    found = drains(inputs)
    return replace(
        plan,
        findings=(*plan.findings, *drain_findings(found)),
        warnings=(*plan.warnings, *drain_warnings(inputs.cluster)),
        rollout_warnings=(
            *plan.rollout_warnings,
            *drain_refusals(found),
            *drain_timeouts(found),
            *removal_warnings(inputs.cluster, (*plan.steps, *plan.later)),
            *role_warnings(inputs.cluster, (*plan.steps, *plan.later)),
        ),
        drain=drain_document(found) if found or "middleManagerDrain" in (inputs.resource.get("status") or {}) else None,
    )


def _first_findings(blockers: tuple[Blocker, ...], inputs: Inputs) -> tuple[Finding, ...]:
    return next((found for blocker in blockers if (found := blocker(inputs))), ())


def _first_need(inputs: Inputs) -> Need | None:
    return next((need for read in READS if (need := read(inputs)) is not None), None)


def _candidates(inputs: Inputs) -> Draft:
    """Return a step for each object that is missing, differs or is not desired any more."""
    found = drains(inputs)
    desired = with_drains(with_held_replicas(with_deferred_sizes(inputs), inputs), found)
    desired = with_copies(desired, found, inputs.live, inputs.admitted)
    changed = confirmed(changed_objects(inputs.cluster, desired, inputs.live, inputs.admitted), inputs.verdicts)
    changed = tuple(with_kept_pods(changed, found))
    # PVCs are patched before their StatefulSet is recreated.
    failing = failing_pods(inputs)
    evicted = evictions(inputs, (*changed, *failing))
    writes = (*pvc_updates(inputs), *changed, *released_claims(inputs), *drain_requests(found), *failing, *evicted)
    live = inputs.live_and_all_claims
    removed = removed_objects(inputs.cluster, inputs.desired, live)
    # A PVC that a removal changes is judged by the next reconcile: a second change of it would fail.
    changed_claims = {step.key for step in removed}
    orphaned = (step for step in orphaned_claims(inputs) if step.key not in changed_claims)
    return Draft(inputs, in_order(writes, (*removed, *orphaned)))


def _apply_policies(draft: Draft) -> Draft | Need:
    for policy in POLICIES:
        found = policy(draft)
        if isinstance(found, Need):
            return found
        draft = draft.with_findings(found)
    return draft
