# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a Collector: observe, decide, act, report."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide, names, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.drift import compare_objects, rejected_object
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.finalize import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm_modules import HelmError
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import (
    UnreadableChart,
    chart_of,
    latest_problem,
    namespace_state,
    observe,
    refused_in_chart,
    refused_in_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import (
    Chart,
    Objects,
    Observed,
    Plan,
    Reconciled,
    Target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.steps import (
    Deploy,
    Mark,
    RemovePending,
    Restore,
    act,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import (
    Finding,
    pause_finding,
    spec_errors,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import Finalizer

_NOT_PERMITTED = frozenset({reasons.REF_NOT_PERMITTED, reasons.CLUSTER_SCOPED_OBJECTS})


def reconcile_once(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Reconciled:
    """Reconcile a Collector: from the API, or (without a uid) built from a spec; KubernetesError if it fails."""
    if is_terminating(resource):
        return finalize(api, resource, options)
    collector = Collector.from_resource(resource)
    planned = Reconciled(resource, Plan(), collector)
    problems = spec_errors(names.KIND, resource) or (
        *validate.problems(collector, options.allowed_chart_repositories),
        *decide.tenant_problem(collector, options.allowed_tenant_namespaces),
    )
    if problems:
        return planned.blocked(*problems)
    try:
        chart = chart_of(collector, options.chart)
    except UnreadableChart as error:
        return planned.blocked(Finding(reasons.HELM_FAILED, str(error)))
    with options.phases("observe"):
        observed = _observed(api, collector)
    if isinstance(observed, Finding):
        return planned.blocked(observed)
    with options.phases("decide"):
        planned = _planned(api, planned, observed, chart, options, now)
    paused = pause_finding(collector.annotations, collector.spec)
    if paused is not None:
        return replace(planned, plan=planned.plan.paused(paused))
    if options.check_mode:
        return planned
    with options.phases("act"):
        return act(api, planned, options)


def _observed(api: KubernetesApi, collector: Collector) -> Observed | Finding:
    """Return what was read. The permission to read it goes with the namespace of the tenant."""
    try:
        return observe(api, collector)
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        problem = decide.namespace_problem(collector, namespace_state(api, collector.tenant))
        if problem is None:
            raise
        return problem


def _planned(
    api: KubernetesApi, planned: Reconciled, observed: Observed, chart: Chart, options: Options, now: datetime
) -> Reconciled:
    """Return the reconcile with its plan; it reads the objects of the release, or renders the chart."""
    collector = planned.collector
    planned = replace(
        planned,
        release=observed.release,
        secret=observed.source,
        failed_attempt=collector.failed_attempt,
        is_installing=decide.is_installing(collector, observed.release, chart),
    )
    problems = tuple(decide.ownership_problems(collector, observed, chart))
    if problems:
        return replace(planned, release=None, is_owned=False, is_installing=False).blocked(*problems)
    desired = decide.target(collector, observed, chart)
    if isinstance(desired, Finding):
        return planned.blocked(desired)
    planned = replace(planned, desired=desired)
    pending = decide.interrupted(observed.release, now, options.helm_timeout)
    if isinstance(pending, Finding):
        return planned.blocked(pending)
    deployed = None if pending else decide.is_deployed(desired, observed.release)
    if deployed is None:
        return _to_deploy(api, planned, desired, pending, options)
    return _to_keep(api, planned, deployed, options).with_findings(*decide.chart_mismatch(desired, deployed))


def _to_keep(api: KubernetesApi, planned: Reconciled, deployed: Revision, options: Options) -> Reconciled:
    """Plan for a release that is deployed as specified: its objects, and its mark."""
    collector = planned.collector
    is_marked = planned.release is not None and planned.release.owner == (collector.namespace, collector.name)
    # A chart can have other objects with an API server than those that were rendered without one.
    refused = refused_in_chart(api, collector, (*deployed.manifest, *deployed.hooks), options)
    objects = Objects()
    # What is not permitted is not even compared.
    if not any(each.reason in _NOT_PERMITTED for each in refused):
        connection = options.connection_of(api, collector.tenant)
        objects = compare_objects(connection, deployed.manifest, collector.release, collector.tenant)
    cause = latest_problem(api, collector) if objects.unavailable else ""
    steps = (
        *_finalizer(collector),
        *(() if is_marked else (Mark(deployed, collector.release),)),
        *(Restore(change, deployed) for change in objects.changes),
    )
    plan = Plan(steps, (*refused, *objects.problems), objects.warnings)
    return replace(planned, plan=plan, objects=replace(objects, cause=cause), failed_attempt={})


def _to_keep_after_failure(api: KubernetesApi, planned: Reconciled, failed: Finding, options: Options) -> Reconciled:
    """Plan for the revision that Helm has restored after a failure, until another attempt is due."""
    deployed = planned.release.deployed if planned.release else None
    if deployed is None:
        return planned.blocked(failed)
    kept = _to_keep(api, planned, deployed, options)
    plan = replace(kept.plan, findings=(failed, *kept.plan.findings))
    return replace(kept, plan=plan, failed_attempt=planned.failed_attempt)


def _to_deploy(
    api: KubernetesApi, planned: Reconciled, desired: Target, pending: Revision | None, options: Options
) -> Reconciled:
    """Plan for a release that is to be installed or upgraded; the chart is rendered without the API server."""
    collector = planned.collector
    failed = decide.failed_before(collector, desired)
    if failed is not None:
        return _to_keep_after_failure(api, planned, failed, options)
    namespace_problem = decide.namespace_problem(collector, namespace_state(api, collector.tenant))
    if namespace_problem is not None:
        return planned.blocked(namespace_problem)
    try:
        rendered, described = options.helm.rendered(desired)
    except HelmError as error:
        return planned.blocked(Finding(reasons.HELM_FAILED, str(error)))
    refused = refused_in_chart(api, collector, rendered, options)
    if refused:
        return planned.blocked(*refused)
    foreign = refused_in_release(api, collector, planned.release, options)
    if foreign:
        return planned.blocked(decide.foreign_objects(collector, foreign))
    connection = options.connection_of(api, collector.tenant)
    problem = rejected_object(connection, rendered, collector.release, collector.tenant)
    if problem:
        found = decide.rejected(problem)
        digest = decide.attempt_digest(desired, collector.annotations)
        failed_attempt = {"digest": digest, "message": found.message}
        return _to_keep_after_failure(api, replace(planned, failed_attempt=failed_attempt), found, options)
    stale = pending or decide.failed_last(planned.release)
    is_installed = planned.release is not None and planned.release.deployed is not None
    deploy = Deploy(
        "upgrade" if is_installed else "install",
        described,
        decide.object_changes(rendered, planned.release),
    )
    steps = (
        *_finalizer(collector),
        *((RemovePending(stale, decide.left_objects(stale, rendered, planned.release)),) if stale else ()),
        deploy,
    )
    return replace(planned, plan=Plan(steps), failed_attempt={})


def _finalizer(collector: Collector) -> tuple[Finalizer, ...]:
    return (Finalizer(names.FINALIZER, is_set=True),) if collector.lacks(names.FINALIZER) else ()
