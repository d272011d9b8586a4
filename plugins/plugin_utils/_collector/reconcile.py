# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a Collector: observe, decide, act."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide, names, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.finalize import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import (
    UnreadableChart,
    chart_of,
    observe,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import decide_plan
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reads import CollectorReads
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import (
    Observed,
    Plan,
    Reconciled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.steps import act
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    Finding,
    pause_finding,
    spec_errors,
)


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
