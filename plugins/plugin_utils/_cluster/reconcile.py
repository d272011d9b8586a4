# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One reconcile: observe, desire, decide, act, report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.absence import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.act import Result, act
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.autoscaling import with_foreign_autoscalers
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.belonging import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import (
    candidates,
    dynamic_config,
    finalizer,
    validity,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.conflict import conflict
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.duplicates import keep_duplicates
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.order import in_order
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.pause import suspended
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage import shrinking
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.together import held_back, staying
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.judge import judge
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import (
    Observed,
    look_up,
    observe,
    replica_sets,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired, render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Pass, Report, report
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.settings import Settings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, cluster_references
from ansible_collections.druidops.druid.plugins.plugin_utils._errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._going import is_going
from ansible_collections.druidops.druid.plugins.plugin_utils._hands_off import hands_off
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._status import report_unreadable


def reconcile(api: KubernetesApi, resource: Manifest, settings: Settings, now: datetime) -> Report:
    """Make one pass for a Druid resource: as read from the API, or (without a uid) made of variables.

    KubernetesError when the cluster cannot be read, and the conditions say so; what cannot be written is in the report.
    """
    go_through = _finalize if is_going(resource) else _carry_on
    try:
        done = go_through(api, resource, settings)
    except KubernetesError as error:
        if not settings.check_mode:
            report_unreadable(api, resource, error, now)
        raise
    with settings.phases("report"):
        return report(api, done, settings.check_mode, now)


def _finalize(api: KubernetesApi, resource: Manifest, settings: Settings) -> Pass:
    """Let the resource go. Its specification may be anything: nobody may have to mend it first."""
    cluster = Cluster.from_resource({**resource, "spec": {}})
    with settings.phases("observe"):
        steps, observed, warnings = finalize(api, resource, cluster, settings.check_mode)
    deleting = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False)
    results = () if settings.check_mode else _act(api, steps, settings)
    planned = tuple(steps) if settings.check_mode else tuple(result.step for result in results)
    return _afterwards(Pass(resource, cluster, observed, Plan(planned, (deleting,), tuple(warnings)), results))


def _carry_on(api: KubernetesApi, resource: Manifest, settings: Settings) -> Pass:
    misshapen = validity.misshapen(resource)
    if misshapen:
        return Pass(resource, *_observe(api, {**resource, "spec": {}}, settings), Plan(findings=misshapen))
    cluster, observed = _observe(api, resource, settings)
    with settings.phases("decide"):
        plan, observed = _decide(api, resource, cluster, observed, settings)
    done = Pass(resource, cluster, observed, plan)
    paused = hands_off(cluster.annotations, cluster.spec)
    if paused is not None:
        done = _in_druid(api, done, settings, only_look=True)
        return replace(done, plan=suspended(done.plan, paused))
    if settings.check_mode:
        return _in_druid(api, done, settings, only_look=True)
    done = _afterwards(replace(done, results=_act(api, plan.steps, settings)))
    return _in_druid(api, done, settings, only_look=False)


def _act(api: KubernetesApi, steps: Iterable[Step], settings: Settings) -> tuple[Result, ...]:
    with settings.phases("act"):
        return act(api, steps, settings.announce)


def _observe(api: KubernetesApi, resource: Manifest, settings: Settings) -> tuple[Cluster, Observed]:
    cluster = Cluster.from_resource(resource)
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        # No object can carry its label; what is wrong is said by the validation.
        return cluster, Observed()
    refused = validity.refused_references(resource, settings.reference_namespaces)
    followed = [key for key in cluster_references(resource) if key not in refused]
    with settings.phases("observe"):
        observed = observe(api, cluster, followed)
        cluster = Cluster.from_resource(resource, observed.references)
        return with_foreign_autoscalers(api, cluster, observed), observed


def _decide(
    api: KubernetesApi, resource: Manifest, cluster: Cluster, observed: Observed, settings: Settings
) -> tuple[Plan, Observed]:
    """Return what is to be done, and what is there including what only a look by name has found."""
    contested = conflict(cluster, observed)
    if contested is not None:
        return Plan(findings=(contested,)), observed
    kept = finalizer.keep_finalizer(resource, settings.keep_finalizer) if cluster.uid else ()
    obstacles = _obstacles(resource, cluster, settings)
    if obstacles:
        return Plan(kept, obstacles), observed
    desired = _desire(cluster, observed)
    plan, observed = _decide_objects(api, cluster, desired, observed)
    return Plan((*kept, *plan.steps), plan.findings, desired.warnings), observed


def _desire(cluster: Cluster, observed: Observed) -> Desired:
    inherited = observed.inherited(cluster)
    desired = render(cluster, inherited)
    if not desired.deduplicated:
        return desired
    return keep_duplicates(desired, render(cluster, inherited, desired.deduplicated), observed)


def _obstacles(resource: Manifest, cluster: Cluster, settings: Settings) -> tuple[Finding, ...]:
    refused = validity.refused_references(resource, settings.reference_namespaces)
    if refused:
        return validity.refused(refused, cluster.namespace)
    return validity.invalid(cluster) or validity.not_found(cluster)


def _decide_objects(
    api: KubernetesApi, cluster: Cluster, desired: Desired, observed: Observed
) -> tuple[Plan, Observed]:
    found = look_up(api, cluster.namespace, candidates.unseen(desired, observed))
    findings = (
        *candidates.collisions(cluster, desired, observed.with_objects(found)),
        *shrinking(cluster, observed),
    )
    observed = observed.with_objects(live for live in found if is_ours(live, cluster))
    steps = held_back(candidates.candidates(cluster, desired, observed), findings)
    findings = (*findings, *candidates.not_adoptable_pods(cluster, steps, observed))
    steps = held_back(steps, findings)
    confirmed, refusals = judge(api, steps)
    findings = (*findings, *refusals)
    if candidates.may_have_left_replica_sets(cluster, desired, observed):
        observed = observed.with_objects(replica_sets(api, cluster))
    removals = candidates.prune(cluster, desired, observed)
    steps = held_back(in_order(confirmed, removals), findings)
    return Plan(steps, (*findings, *staying(removals, findings))), observed


def _in_druid(api: KubernetesApi, done: Pass, settings: Settings, *, only_look: bool) -> Pass:
    """Keep what is stated about Druid itself, as far as the whole cluster is not held back, and Druid is there."""
    held_back = any(finding.is_problem and finding.group is None for finding in done.plan.findings)
    if held_back or done.cluster.stopped:
        return done
    due = dynamic_config.due(done.cluster, done.observed)
    findings, warnings = (*done.plan.findings, *due.findings), (*done.plan.warnings, *due.warnings)
    done = replace(done, plan=replace(done.plan, findings=findings, warnings=warnings))
    if not due.configs:
        return done
    # What speaks HTTP with Druid takes a while to import: most clusters state nothing about it.
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.in_druid import configure

    return configure(api, done, due.configs, settings, only_look=only_look)


def _afterwards(done: Pass) -> Pass:
    """Return the pass with what is there now, as far as the answers to the writes say."""
    carried_out = [result for result in done.results if result.is_done]
    written = [result.live for result in carried_out if result.live and result.live["kind"] != names.KIND]
    gone = [result.step.key for result in carried_out if result.step.operation == "delete"]
    return replace(done, observed=done.observed.with_objects(written).without(gone))
