# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a Collector: observe, decide, act. A terminating one is finalized: its release is uninstalled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide, spec
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decide import is_ours, tenant_problem
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import (
    UnreadableChart,
    chart_of,
    is_deleted_namespace,
    observe,
    observe_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import decide_plan
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import CollectorReads
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import Release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import refused_in_release
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import (
    FINALIZER,
    KIND,
    Collector,
    is_namespace,
    is_safe_release,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import (
    Chart,
    CollectorResult,
    Observed,
    Plan,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.steps import Uninstall, act
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, NOT_FOUND, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    DELETING,
    Finding,
    pause_finding,
    spec_errors,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def reconcile_once(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> CollectorResult:
    """Reconcile a Collector: from the API, or (without a uid) built from a spec; KubernetesError if it fails."""
    if is_terminating(resource):
        return finalize(api, resource, options)
    collector = Collector.from_resource(resource)
    planned = CollectorResult(resource, Plan(), collector)
    problems = spec_errors(KIND, resource) or (
        *spec.problems(collector, options.allowed_chart_repositories),
        *decide.tenant_problem(collector, options.allowed_tenant_namespaces),
    )
    if problems:
        return planned.blocked(*problems)
    try:
        chart = chart_of(collector, options.chart)
    except UnreadableChart as error:
        return planned.blocked(Finding(reasons.HELM_FAILED, str(error)))
    with options.phases("observe"):
        reads = CollectorReads(api, collector, options)
        observed = _observed(reads, collector)
    if isinstance(observed, Finding):
        return planned.blocked(observed)
    with options.phases("decide"):
        planned = decide_plan(planned, observed, chart, options, now, reads)
    paused = pause_finding(collector.annotations, collector.spec)
    if paused is not None:
        return replace(planned, plan=planned.plan.paused(paused))
    if options.check_mode:
        return planned
    with options.phases("act"):
        return act(api, planned, options)


def _observed(reads: CollectorReads, collector: Collector) -> Observed | Finding:
    """Return what was read. The permission to read it goes with the namespace of the tenant."""
    try:
        return observe(reads, collector)
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        problem = decide.namespace_problem(collector, reads.namespace())
        if problem is None:
            raise
        return problem


def finalize(api: KubernetesApi, resource: Manifest, options: Options) -> CollectorResult:
    """Uninstall the release that belongs to this resource, and remove the finalizer. The spec may be invalid."""
    specified, collector = Collector.from_resource(resource), Collector.from_resource(_with_recorded(resource))
    reads = CollectorReads(api, collector, options)
    release, warning = _release(reads, collector, _chart(specified, collector, options), options)
    uninstall = () if release is None else (Uninstall(release, collector.release),)
    plan = Plan((*uninstall, *_last_step(collector)), (DELETING,), (warning,) if warning else ())
    planned = CollectorResult(resource, plan, collector, release)
    if options.check_mode:
        return planned
    result = act(api, planned, options)
    reads.forget()
    if result.is_deleted or not result.plan.problems or not is_deleted_namespace(reads, collector.tenant):
        return result
    # With its namespace, the release goes without Helm.
    last = Plan(_last_step(collector), (DELETING,), (_deleted_with_namespace(collector),))
    return act(api, replace(planned, plan=last, release=None), options)


def _last_step(collector: Collector) -> tuple[Finalizer, ...]:
    return (Finalizer(FINALIZER, is_set=False),) if FINALIZER in collector.finalizers else ()


def _chart(specified: Collector, collector: Collector, options: Options) -> Chart | None:
    """Return the chart of the specified release; None if the status, which others can write, names another release."""
    if (specified.tenant, specified.release) != (collector.tenant, collector.release):
        return None
    try:
        return chart_of(specified, options.chart)
    except UnreadableChart:
        return None


def _release(
    reads: CollectorReads, collector: Collector, chart: Chart | None, options: Options
) -> tuple[Release | None, str]:
    """Return the release to uninstall, and a warning about one that stays.

    A resource whose status has no release has not installed any: the status is written first.
    """
    name, namespace = collector.release, collector.tenant
    is_recorded = collector.uid is None or any(collector.recorded_release)
    if not (is_recorded and is_safe_release(name) and is_namespace(namespace)):
        return None, ""
    kept = _kept(collector)
    # Nothing is read of a release that stays: the permission for it may be missing.
    if collector.retains:
        return None, f"{kept} (deletionPolicy: Retain). Remove it with: helm uninstall."
    if tenant_problem(collector, options.allowed_tenant_namespaces):
        return None, f"{kept}, because the administrator does not allow this tenant any more."
    try:
        release, unreadable = observe_release(reads, namespace, name)
    except ApiError as error:
        if error.status not in (FORBIDDEN, NOT_FOUND) or not is_deleted_namespace(reads, namespace):
            raise
        return None, _deleted_with_namespace(collector)
    if unreadable:
        return None, f"{kept}, because it cannot be read: {unreadable}."
    if release is not None and not is_ours(collector, release, chart):
        return None, f"{kept}, because it has no label of this resource. If it is not needed, use: helm uninstall."
    return _removable(reads, collector, release, options) if release else (None, "")


def _removable(
    reads: CollectorReads, collector: Collector, release: Release, options: Options
) -> tuple[Release | None, str]:
    """Return the release, or why Helm must not uninstall it."""
    foreign = refused_in_release(
        collector, release, reads.kinds, allows_cluster_scoped=options.allow_cluster_scoped_objects
    )
    if not foreign:
        return release, ""
    return None, (
        f"{_kept(collector)}, because it has objects that its chart may not have, and that Helm would delete: "
        f"{join_limited(foreign)}. Examine it (helm get manifest), and remove the Secrets of its revisions, or "
        "uninstall it."
    )


def _kept(collector: Collector) -> str:
    return f"The release {collector.release} in namespace {collector.tenant} is kept"


def _deleted_with_namespace(collector: Collector) -> str:
    return f"The release {collector.release} is deleted with its namespace {collector.tenant}, not by Helm."


def _with_recorded(resource: Manifest) -> Manifest:
    """Return the resource with the release in its status: the spec may have been changed since."""
    collector = Collector.from_resource(resource)
    namespace, name = collector.recorded_release
    if not (namespace and name):
        return resource
    specified: Mapping[str, Any] = collector.spec.get("collector") or {}
    named = {**(specified if isinstance(specified, Mapping) else {}), "name": name}
    return {**resource, "spec": {**collector.spec, "tenant": namespace, "collector": named}}
