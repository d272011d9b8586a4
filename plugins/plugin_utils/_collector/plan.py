# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide about a Collector: from what was observed, and what the reader reads, to a plan. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Revision
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import (
    refused_in_chart,
    refused_in_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import FINALIZER, Collector
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
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Finalizer

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


def _refused_in_chart(
    collector: Collector, manifest: tuple[Manifest, ...], options: Options, reads: CollectorReads
) -> tuple[Finding, ...]:
    return refused_in_chart(
        collector, manifest, reads.kinds(manifest), allows_cluster_scoped=options.allow_cluster_scoped_objects
    )
