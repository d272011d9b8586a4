# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind DruidIngestion: how an ingestion is reconciled, deleted, reported and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets import spec_masking
from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import status as statuses
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    read_last_applied,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import ARGUMENTS, Options, to_options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reconcile import (
    finalize_without_resource,
    reconcile_once,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import FINALIZER, KIND
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    IngestionResult,
    Plan,
    SupervisorState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import ConditionsByType, Status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Completed, EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, Progress

_FIELDS = ("taskId", "state", "detailedState", "suspended", "lag")
# A batch can run for any time, and a paused ingestion is in the desired state.
_NOT_AWAITED = frozenset({reasons.RUNNING, reasons.PAUSED})


class DruidIngestion(Kind[Options, IngestionResult, Plan]):
    """The kind DruidIngestion."""

    name = KIND
    finalizer = FINALIZER
    variable = "druid_ingestion_resource"
    arguments = ARGUMENTS
    transient = reasons.TRANSIENT_OF_INGESTION
    requested = frozenset({reasons.SUSPENDED, reasons.CHANGES_PENDING})
    texts = (("recentErrors",), ("state",), ("detailedState",))
    plural = "ingestions"
    condition_types = ("Ready", "Progressing", "Suspended", "Degraded")
    plan = Plan

    def to_options(self, arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
        return to_options(arguments, check_mode, meter)

    def reconcile_once(
        self, api: KubernetesApi, resource: Manifest, options: Options, now: datetime
    ) -> IngestionResult:
        return reconcile_once(api, resource, options, now)

    def delete_without_resource(
        self, api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock
    ) -> Outcome[Plan]:
        """Terminate what the ConfigMap names, and delete the ConfigMap; do nothing if there is none."""
        result = finalize_without_resource(api, request.name, request.namespace, request.spec or {}, request.options)
        if result is None:
            return Outcome(Plan())
        return Outcome(Plan()).after(self.report(api, result, request.options.check_mode, clock.now()))

    def details(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"ingestion": {name: status[name] for name in _FIELDS if name in status}}

    def is_as_desired(self, conditions: ConditionsByType) -> bool:
        """Return whether the ingestion is in the desired state: ready, suspended or paused, or a running batch."""
        return self.is_settled(conditions.values()) or conditions["Ready"].get("reason") in _NOT_AWAITED

    def gauges(self, statuses: Sequence[Status]) -> Mapping[str, float]:
        """Return the highest lag of a supervisor in records, as Druid last reported it; 0 if there is none."""
        lags = (status.get("lag") for status in statuses)
        return {"highest_lag_records": float(max((lag for lag in lags if isinstance(lag, int)), default=0))}

    def completed(self, result: IngestionResult, check_mode: bool) -> Completed[Plan]:
        return result

    def masker(self, result: IngestionResult) -> Masker:
        """Return a masker for the secrets in the spec, in the Secrets that were read, and in Druid's spec."""
        change = result.druid_state.change if isinstance(result.druid_state, SupervisorState) else None
        in_druid = () if change is None else (change.before, change.after)
        secrets = (secret for secret in result.observed.secrets.values() if secret)
        return spec_masking.masker_of([*_documents(result), *in_druid]) | masker_of(secrets)

    def status(self, result: IngestionResult, plan: Plan, now: datetime, check_mode: bool) -> dict[str, Any]:
        previous = result.resource.get("status") or {}
        document = statuses.status(
            result.ingestion,
            result.druid_state,
            plan.findings,
            previous,
            now,
            _record_after(result, plan, check_mode),
        )
        applied = [step for step in plan.steps if step.in_druid and step.operation.counted == "applied"]
        if not applied or check_mode or result.failed_step is not None:
            return document
        is_created = any(step.creates for step in applied)
        return statuses.with_last_update(document, result.ingestion, is_created, now)

    def events(self, result: IngestionResult, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
        yield from super().events(result, completed, change)
        if completed.is_deleted or are_warnings_new(completed.plan.steps, change.before, change.after):
            reported = {finding.message for finding in completed.plan.findings}
            texts = (text for text in change.warnings if text not in reported)
            yield from events_of_warnings(texts, is_deleted=completed.is_deleted)


def _documents(result: IngestionResult) -> tuple[Any, ...]:
    """Return the resource, and its parsed spec if that is a string."""
    specified = searched(result.resource)
    try:
        return specified, result.ingestion.document
    except ValueError:
        return (specified,)


def _record_after(result: IngestionResult, plan: Plan, check_mode: bool) -> LastApplied | None:
    """Return the record after the reconcile, None if there is none."""
    if plan.saved and not check_mode:
        return plan.saved[-1]
    found = result.observed.record
    return None if found is None else read_last_applied(found, result.ingestion)


def events_of_warnings(warnings: Iterable[str], *, is_deleted: bool) -> list[EventText]:
    """Return the warnings for the user; of a deleted resource those about what may still run."""
    reason = reasons.TASKS_ORPHANED if is_deleted else reasons.SPEC_WARNING
    return [EventText("Warning", reason, text) for text in warnings]


def are_warnings_new(steps: Iterable[Any], previous: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """True when the warnings are new: the spec changed, or a step was executed."""
    return any(steps) or previous.get("observedGeneration") != document.get("observedGeneration")


INGESTION = DruidIngestion()
