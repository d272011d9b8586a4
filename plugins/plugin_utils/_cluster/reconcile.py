# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One reconcile: observe, render, decide, act, report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import Result, act
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import (
    changes,
    collisions,
    dynamic_config,
    immutable,
    preconditions,
    prune,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.duplicate_merge_keys import keep_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.go_operator_conflict import (
    go_operator_conflict,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import (
    deferred_removals,
    drop_blocked,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.order import in_order
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.pause import without_steps
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.pvc_shrink import shrinking_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.sequence import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dry_run import dry_run
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.external_autoscalers import (
    with_foreign_autoscalers,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import (
    get_existing,
    observe,
    replica_sets,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import REPORTING, Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, cluster_references
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.paused import pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reconcile import reconcile_and_report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.spec_errors import spec_errors


def reconcile(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Report[Plan]:
    """Reconcile a Druid resource: from the API, or (without a uid) built from a spec.

    KubernetesError if the cluster cannot be read; the conditions report it. Failed writes are in the report.
    """
    reconcile_once = _finalize if is_terminating(resource) else _reconcile
    return reconcile_and_report(REPORTING, reconcile_once, api, resource, options, now)


def _finalize(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    """Finalize a terminating resource. Its spec is ignored, since it may be invalid."""
    cluster = Cluster.from_resource({**resource, "spec": {}})
    with options.phases("observe"):
        steps, observed, warnings = finalize(api, resource, cluster, options.check_mode)
    deleting = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False)
    results = () if options.check_mode else _act(api, steps, options)
    planned = tuple(steps) if options.check_mode else tuple(result.step for result in results)
    return _with_written(Reconciled(resource, cluster, observed, Plan(planned, (deleting,), tuple(warnings)), results))


def _reconcile(api: KubernetesApi, resource: Manifest, options: Options) -> Reconciled:
    errors = spec_errors(names.KIND, resource)
    if errors:
        return Reconciled(resource, *_observe(api, {**resource, "spec": {}}, options), Plan(findings=errors))
    cluster, observed = _observe(api, resource, options)
    with options.phases("decide"):
        plan, observed = _decide(api, resource, cluster, observed, options)
    done = Reconciled(resource, cluster, observed, plan)
    paused = pause_finding(cluster.annotations, cluster.spec)
    if paused is not None:
        done = _dynamic_config(api, done, options, read_only=True)
        return replace(done, plan=without_steps(done.plan, paused))
    if options.check_mode:
        return _dynamic_config(api, done, options, read_only=True)
    done = _with_written(replace(done, results=_act(api, plan.steps, options)))
    return _dynamic_config(api, done, options, read_only=False)


def _act(api: KubernetesApi, steps: Iterable[Step], options: Options) -> tuple[Result, ...]:
    with options.phases("act"):
        return act(api, steps, options.on_step)


def _observe(api: KubernetesApi, resource: Manifest, options: Options) -> tuple[Cluster, Observed]:
    cluster = Cluster.from_resource(resource)
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        # The name is not a valid label value; the validation reports it.
        return cluster, Observed()
    not_permitted = preconditions.disallowed_references(resource, options.allowed_reference_namespaces)
    followed = [key for key in cluster_references(resource) if key not in not_permitted]
    with options.phases("observe"):
        observed = observe(api, cluster, followed)
        cluster = Cluster.from_resource(resource, observed.references)
        return with_foreign_autoscalers(api, cluster, observed), observed


def _decide(
    api: KubernetesApi, resource: Manifest, cluster: Cluster, observed: Observed, options: Options
) -> tuple[Plan, Observed]:
    """Return the plan, and the live state including objects that were only found by name."""
    contested = go_operator_conflict(cluster, observed)
    if contested is not None:
        return Plan(findings=(contested,)), observed
    kept = finalizer.keep_finalizer(resource, options.keep_finalizer) if cluster.uid else ()
    blockers = _blockers(resource, cluster, options)
    if blockers:
        return Plan(kept, blockers), observed
    desired = _render(cluster, observed)
    plan, observed = _decide_objects(api, cluster, desired, observed)
    return Plan((*kept, *plan.steps), plan.findings, desired.warnings), observed


def _render(cluster: Cluster, observed: Observed) -> Desired:
    preserved = observed.preserved(cluster)
    desired = render(cluster, preserved)
    if not desired.deduplicated:
        return desired
    return keep_duplicates(desired, render(cluster, preserved, desired.deduplicated), observed)


def _blockers(resource: Manifest, cluster: Cluster, options: Options) -> tuple[Finding, ...]:
    not_permitted = preconditions.disallowed_references(resource, options.allowed_reference_namespaces)
    if not_permitted:
        return preconditions.disallowed(not_permitted, cluster.namespace)
    return preconditions.invalid(cluster) or preconditions.not_found(cluster)


def _decide_objects(
    api: KubernetesApi, cluster: Cluster, desired: Desired, observed: Observed
) -> tuple[Plan, Observed]:
    found = get_existing(api, cluster.namespace, changes.not_listed(desired, observed))
    findings = (
        *collisions.name_collisions(cluster, desired, observed.with_objects(found)),
        *shrinking_claims(cluster, observed),
    )
    observed = observed.with_objects(live for live in found if is_ours(live, cluster))
    steps = drop_blocked(changes.changed_objects(cluster, desired, observed), findings)
    findings = (*findings, *immutable.not_adoptable_pods(cluster, steps, observed))
    steps = drop_blocked(steps, findings)
    confirmed, rejections = dry_run(api, steps)
    findings = (*findings, *rejections)
    if prune.may_leave_replica_sets(cluster, desired, observed):
        observed = observed.with_objects(replica_sets(api, cluster))
    removals = prune.removed_objects(cluster, desired, observed)
    steps = drop_blocked(in_order(confirmed, removals), findings)
    return Plan(steps, (*findings, *deferred_removals(removals, findings))), observed


def _dynamic_config(api: KubernetesApi, done: Reconciled, options: Options, *, read_only: bool) -> Reconciled:
    """Reconcile the dynamic configurations, unless the whole cluster is blocked or stopped."""
    is_blocked = any(finding.is_problem and finding.group is None for finding in done.plan.findings)
    if is_blocked or done.cluster.stopped:
        return done
    due = dynamic_config.due(done.cluster, done.observed)
    findings, warnings = (*done.plan.findings, *due.findings), (*done.plan.warnings, *due.warnings)
    done = replace(done, plan=replace(done.plan, findings=findings, warnings=warnings))
    if not due.configs:
        return done
    # The import of the HTTP client is slow, and most clusters have no dynamicConfig.
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dynamic_config import configure

    return configure(api, done, due.configs, options, read_only=read_only)


def _with_written(done: Reconciled) -> Reconciled:
    """Return the reconcile with the live state updated from the results of the writes."""
    carried_out = [result for result in done.results if result.is_done]
    written = [result.live for result in carried_out if result.live and result.live["kind"] != names.KIND]
    deleted = [result.step.key for result in carried_out if result.step.operation == "delete"]
    return replace(done, observed=done.observed.with_objects(written).without(deleted))
