# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide about a Collector: from what was observed, and what the reader reads, to a plan. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release, Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import (
    refused_in_chart,
    refused_in_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    FINALIZER,
    Collector,
    is_namespace,
    is_safe_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import (
    Chart,
    CollectorResult,
    Objects,
    Observed,
    Plan,
    Target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.steps import (
    Deploy,
    Mark,
    RemovePending,
    Restore,
    Uninstall,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, NOT_FOUND, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import DELETING, Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Finalizer, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
    from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import CollectorReads

_NOT_PERMITTED = frozenset({reasons.REF_NOT_PERMITTED, reasons.CLUSTER_SCOPED_OBJECTS})


def decide_plan(
    planned: CollectorResult, observed: Observed, chart: Chart, options: Options, now: datetime, reads: CollectorReads
) -> CollectorResult:
    """Return the reconcile with its plan; it reads the objects of the release, or renders the chart."""
    collector = planned.collector
    planned = replace(
        planned,
        release=observed.release,
        secrets=observed.secrets,
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
        return _to_deploy(planned, desired, pending, options, reads)
    return _to_keep(planned, deployed, options, reads).with_findings(*decide.chart_mismatch(desired, deployed))


def _to_keep(planned: CollectorResult, deployed: Revision, options: Options, reads: CollectorReads) -> CollectorResult:
    """Plan for a release that is deployed as specified: its objects, and its mark."""
    collector = planned.collector
    is_marked = planned.release is not None and planned.release.owner == (collector.namespace, collector.name)
    # A chart can have other objects with an API server than those that were rendered without one.
    refused = _refused_in_chart(collector, (*deployed.manifest, *deployed.hooks), options, reads)
    objects = Objects()
    # What is not permitted is not even compared.
    if not any(each.reason in _NOT_PERMITTED for each in refused):
        objects = reads.compared(deployed.manifest)
    cause = reads.latest_problem() if objects.unavailable else ""
    steps = (
        *_finalizer(collector),
        *(() if is_marked else (Mark(deployed, collector.release),)),
        *(Restore(change, deployed) for change in objects.changes),
    )
    plan = Plan(steps, (*refused, *objects.problems), objects.warnings)
    return replace(planned, plan=plan, objects=replace(objects, cause=cause), failed_attempt={})


def _to_keep_after_failure(
    planned: CollectorResult, failed: Finding, options: Options, reads: CollectorReads
) -> CollectorResult:
    """Plan for the revision that Helm has restored after a failure, until another attempt is due."""
    deployed = planned.release.deployed if planned.release else None
    if deployed is None:
        return planned.blocked(failed)
    kept = _to_keep(planned, deployed, options, reads)
    plan = replace(kept.plan, findings=(failed, *kept.plan.findings))
    return replace(kept, plan=plan, failed_attempt=planned.failed_attempt)


def _to_deploy(
    planned: CollectorResult, desired: Target, pending: Revision | None, options: Options, reads: CollectorReads
) -> CollectorResult:
    """Plan for a release that is to be installed or upgraded; the chart is rendered without the API server."""
    collector = planned.collector
    failed = decide.failed_before(collector, desired)
    if failed is not None:
        return _to_keep_after_failure(planned, failed, options, reads)
    namespace_problem = decide.namespace_problem(collector, reads.namespace())
    if namespace_problem is not None:
        return planned.blocked(namespace_problem)
    found = reads.rendered(desired)
    if isinstance(found, Finding):
        return planned.blocked(found)
    rendered, described = found
    refused = _refused_in_chart(collector, rendered, options, reads)
    if refused:
        return planned.blocked(*refused)
    foreign = refused_in_release(
        collector, planned.release, reads.kinds, allows_cluster_scoped=options.allow_cluster_scoped_objects
    )
    if foreign:
        return planned.blocked(decide.foreign_objects(collector, foreign))
    problem = reads.rejected(rendered)
    if problem:
        failed = decide.rejected(problem)
        digest = decide.attempt_digest(desired, collector.annotations)
        failed_attempt = {"digest": digest, "message": failed.message}
        return _to_keep_after_failure(replace(planned, failed_attempt=failed_attempt), failed, options, reads)
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
    return (Finalizer(FINALIZER, is_set=True),) if collector.lacks(FINALIZER) else ()


def decide_deletion(
    planned: CollectorResult, chart: Chart | None, options: Options, reads: CollectorReads
) -> CollectorResult:
    """Return the reconcile with the plan of a deletion: the release is uninstalled, or a warning is about it.

    A chart of None: the status, which others can write, names another release than the spec.
    """
    release, warning = _release(planned.collector, chart, options, reads)
    uninstall = () if release is None else (Uninstall(release, planned.collector.release),)
    return _deletion(replace(planned, release=release), *uninstall, warning=warning)


def deletion_with_namespace(planned: CollectorResult) -> CollectorResult:
    """Return the deletion of a resource whose release goes with its namespace, without Helm."""
    return _deletion(replace(planned, release=None), warning=_deleted_with_namespace(planned.collector))


def _deletion(planned: CollectorResult, *steps: Step, warning: str = "") -> CollectorResult:
    last = (Finalizer(FINALIZER, is_set=False),) if FINALIZER in planned.collector.finalizers else ()
    return replace(planned, plan=Plan((*steps, *last), (DELETING,), (warning,) if warning else ()))


def _release(
    collector: Collector, chart: Chart | None, options: Options, reads: CollectorReads
) -> tuple[Release | None, str]:
    """Return the release to uninstall, and a warning about one that stays.

    A resource whose status has no release has not installed any: the status is written first.
    """
    is_recorded = collector.uid is None or any(collector.recorded_release)
    if not (is_recorded and is_safe_release(collector.release) and is_namespace(collector.tenant)):
        return None, ""
    kept = f"The release {collector.release} in namespace {collector.tenant} is kept"
    # Nothing is read of a release that stays: the permission for it may be missing.
    if collector.retains:
        return None, f"{kept} (deletionPolicy: Retain). Remove it with: helm uninstall."
    if decide.tenant_problem(collector, options.allowed_tenant_namespaces):
        return None, f"{kept}, because the administrator does not allow this tenant any more."
    try:
        release, unreadable = reads.release()
    except ApiError as error:
        if error.status not in (FORBIDDEN, NOT_FOUND) or not reads.is_namespace_deleted():
            raise
        return None, _deleted_with_namespace(collector)
    if release is None:
        return None, f"{kept}, because it cannot be read: {unreadable}." if unreadable else ""
    why = _why_kept(collector, release, chart, options, reads)
    return (None, f"{kept}, because {why}") if why else (release, "")


def _why_kept(
    collector: Collector, release: Release, chart: Chart | None, options: Options, reads: CollectorReads
) -> str:
    """Return why Helm must not uninstall the release; empty if it may."""
    if not decide.is_ours(collector, release, chart):
        return "it has no label of this resource. If it is not needed, use: helm uninstall."
    foreign = refused_in_release(
        collector, release, reads.kinds, allows_cluster_scoped=options.allow_cluster_scoped_objects
    )
    if not foreign:
        return ""
    return (
        f"it has objects that its chart may not have, and that Helm would delete: {join_limited(foreign)}. Examine it "
        "(helm get manifest), and remove the Secrets of its revisions, or uninstall it."
    )


def _deleted_with_namespace(collector: Collector) -> str:
    return f"The release {collector.release} is deleted with its namespace {collector.tenant}, not by Helm."


def _refused_in_chart(
    collector: Collector, manifest: tuple[Manifest, ...], options: Options, reads: CollectorReads
) -> tuple[Finding, ...]:
    return refused_in_chart(
        collector, manifest, reads.kinds(manifest), allows_cluster_scoped=options.allow_cluster_scoped_objects
    )
