# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of a Collector: observe, decide, act; and what a decision reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._collector import decide, names, validate
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.drift import compare_objects, rejected_object
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.finalize import finalize
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm_modules import Rendered
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.observe import (
    UnreadableChart,
    chart_of,
    kinds_of,
    latest_problem,
    namespace_state,
    observe,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.plan import decide_plan
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconciled import (
    NamespaceState,
    Objects,
    Observed,
    Plan,
    Reconciled,
    Target,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.release import HelmError
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.scope import Kinds
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import Collector
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.steps import act
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import FORBIDDEN, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import (
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
        observed = _observed(api, collector)
    if isinstance(observed, Finding):
        return planned.blocked(observed)
    with options.phases("decide"):
        planned = decide_plan(planned, observed, chart, options, now, CollectorReads(api, collector, options))
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


class CollectorReads:
    """What a decision reads besides what was observed. No method writes. KubernetesError if one fails."""

    def __init__(self, api: KubernetesApi, collector: Collector, options: Options) -> None:
        self._api = api
        self._collector = collector
        self._options = options

    @property
    def _objects(self) -> KubernetesApi:
        return self._options.connection_of(self._api, self._collector.tenant)

    def namespace(self) -> NamespaceState:
        """Return whether objects can be created in the namespace of the release."""
        return namespace_state(self._api, self._collector.tenant)

    def kinds(self, manifests: Iterable[Manifest]) -> Kinds:
        """Return the kinds of these objects, without those that the server does not have."""
        return kinds_of(self._api, manifests)

    def latest_problem(self) -> str:
        """Return the latest warning about a pod of the release; empty if there is none."""
        return latest_problem(self._api, self._collector)

    def compared(self, manifest: Sequence[Manifest]) -> Objects:
        """Return how the live objects differ from the manifest of the release, by dry runs."""
        return compare_objects(self._objects, manifest, self._collector.release, self._collector.tenant)

    def rejected(self, rendered: Sequence[Manifest]) -> str:
        """Return why the API server rejects an object of a chart, by dry runs; empty if it accepts all of them."""
        return rejected_object(self._objects, rendered, self._collector.release, self._collector.tenant)

    def rendered(self, target: Target) -> Rendered | Finding:
        """Return the objects of the chart, or why Helm cannot render it. It is not connected to the API server."""
        try:
            return self._options.helm.rendered(target)
        except HelmError as error:
            return Finding(reasons.HELM_FAILED, str(error))
