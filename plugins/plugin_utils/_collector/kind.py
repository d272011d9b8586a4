# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind Collector: how a release is reconciled, removed, reported and counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._collector import status as statuses
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.helm import Helm, no_helm
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.options import ARGUMENTS, Options, to_options
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.reconcile import finalize, reconcile_once
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import FINALIZER, KIND
from ansible_collections.druidops.druid.plugins.plugin_utils._collector.state import CollectorResult, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import ConditionsByType
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Completed, EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import from_spec
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, Progress


class CollectorKind(Kind[Options, CollectorResult, Plan]):
    """The kind Collector, with the Helm of a task."""

    name = KIND
    finalizer = FINALIZER
    variable = "druid_collector_resource"
    arguments = ARGUMENTS
    transient = reasons.TRANSIENT_OF_COLLECTOR
    requested = frozenset({reasons.PAUSED, reasons.IGNORED, reasons.CHANGES_PENDING})
    # ansible-operator would watch Secrets, and the kinds of all charts.
    reads_cache = False
    texts = (("release", "description"), ("failedAttempt", "message"))
    plural = "collectors"
    condition_types = ("Ready", "Progressing", "Degraded")
    plan = Plan

    def __init__(self, helm: Helm) -> None:
        self._helm = helm

    def to_options(self, arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
        return to_options(self._helm, arguments, check_mode, meter)

    def reconcile_once(
        self, api: KubernetesApi, resource: Manifest, options: Options, now: datetime
    ) -> CollectorResult:
        return reconcile_once(api, resource, options, now)

    def delete_without_resource(
        self, api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock
    ) -> Outcome[Plan]:
        """Uninstall the release of a Collector that variables define."""
        resource, warnings = from_spec(KIND, request.spec or {}, request.name, request.namespace)
        result = finalize(api, resource, request.options)
        with request.options.phases("report"):
            report = self.report(api, result, request.options.check_mode, clock.now())
        return Outcome(Plan(), warnings=warnings).after(report)

    def details(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"release": status["release"]} if "release" in status else {}

    def is_as_desired(self, conditions: ConditionsByType) -> bool:
        """Return whether the release is as specified, or the Collector is paused."""
        return self.is_settled(conditions.values())

    def completed(self, result: CollectorResult, check_mode: bool) -> Completed[Plan]:
        return result

    def masker(self, result: CollectorResult) -> Masker:
        """Return a masker for the secrets in the resource, in all Secrets that were read, and in the values."""
        configuration = [] if result.desired is None else [result.desired.values]
        return masker_of([searched(result.resource), *configuration, *result.secrets])

    def status(self, result: CollectorResult, plan: Plan, now: datetime, check_mode: bool) -> dict[str, Any]:
        return statuses.status(result, plan.findings, now, check_mode)

    def events(self, result: CollectorResult, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
        yield from super().events(result, completed, change)
        if completed.is_deleted or change.is_new_generation:
            reason = reasons.RELEASE_RETAINED if completed.is_deleted else reasons.SPEC_WARNING
            yield from (EventText("Warning", reason, text) for text in completed.plan.warnings)


COLLECTOR = CollectorKind(no_helm())
