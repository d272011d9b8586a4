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
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.decision import (
    decide_deletion,
    decide_plan,
    deletion_with_namespace,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import (
    CollectorReads,
    UnreadableChart,
    chart_of,
    observe,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import KIND, Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import (
    Chart,
    CollectorResult,
    Observed,
    Plan,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.steps import act
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    FORBIDDEN,
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    Finding,
    pause_finding,
    spec_errors,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import masked_errors


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
    reads = CollectorReads(api, collector, options)
    # A webhook may quote the object that it rejects in a dry run.
    with masked_errors(read=reads.read_objects):
        return _reconcile(api, planned, chart, options, now, reads)


def _reconcile(
    api: KubernetesApi, planned: CollectorResult, chart: Chart, options: Options, now: datetime, reads: CollectorReads
) -> CollectorResult:
    collector = planned.collector
    with options.phases("observe"):
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
    planned = CollectorResult(resource, Plan(), collector)
    planned = decide_deletion(planned, _chart(specified, collector, options), options, reads)
    if options.check_mode:
        return planned
    result = act(api, planned, options)
    if result.is_deleted or not result.plan.problems:
        return result
    reads.forget()
    try:
        is_with_namespace = reads.is_namespace_deleted()
    except KubernetesError:
        # the next reconcile asks again; this one reports what failed
        return result
    return act(api, deletion_with_namespace(planned), options) if is_with_namespace else result


def _chart(specified: Collector, collector: Collector, options: Options) -> Chart | None:
    """Return the chart of the specified release; None if the status, which others can write, names another release."""
    if (specified.tenant, specified.release) != (collector.tenant, collector.release):
        return None
    try:
        return chart_of(specified, options.chart)
    except UnreadableChart:
        return None


def _with_recorded(resource: Manifest) -> Manifest:
    """Return the resource with the release in its status: the spec may have been changed since."""
    collector = Collector.from_resource(resource)
    namespace, name = collector.recorded_release
    if not (namespace and name):
        return resource
    specified: Mapping[str, Any] = collector.spec.get("collector") or {}
    named = {**(specified if isinstance(specified, Mapping) else {}), "name": name}
    return {**resource, "spec": {**collector.spec, "tenant": namespace, "collector": named}}
