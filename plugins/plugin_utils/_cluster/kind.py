# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kind Druid: how a cluster is reconciled, deleted, reported and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets.masking import Masker
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import events, names, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import status as statuses
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import REQUESTED, ClusterState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.deletion import (
    delete_resource,
    delete_without_resource,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import ARGUMENTS, Options, to_options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult, Plan, predicted
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import causes_by_group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconcile import reconcile_once
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    unrecoverable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.progress import STALLED, Pending
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import requeue_after
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.secrets import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.census import ConditionsByType, is_true
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import NO_SECRETS, Masking
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import (
    Completed,
    EventText,
    StepResult,
    failures,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    StatusChange,
    ready_message,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource import Submitted
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome, Progress

# Reasons of Ready for which kubectl describe shows more.
_WITH_UNREADY_PODS = frozenset(
    {
        reasons.PODS_NOT_READY,
        reasons.ROLLING_OUT,
        reasons.PODS_FAILING,
        reasons.PODS_NOT_CREATED,
        reasons.PODS_NOT_SCHEDULED,
        reasons.ROLLOUT_STALLED,
    }
)


class Druid(Kind[Options, ClusterResult, Plan]):
    """The kind Druid."""

    name = names.KIND
    finalizer = names.FINALIZER
    variable = "druid_cluster_resource"
    arguments = ARGUMENTS
    role_variables = ("install_crds",)
    transient = reasons.TRANSIENT_OF_DRUID
    requested = REQUESTED
    texts = (
        ("druidNodeStatus", "reason"),
        ("rollout", STALLED),
        ("rollout", "waitingFor"),
        ("rollout", "cause"),
        *(path for feature in FEATURES for path in feature.texts),
    )
    plural = "clusters"
    condition_types = ("Ready", "Progressing", "Degraded", "Paused")
    plan = Plan

    def to_options(self, arguments: Mapping[str, Any], check_mode: bool, meter: Meter) -> Options:
        return to_options(arguments, check_mode, meter)

    def reconcile_once(self, api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> ClusterResult:
        return reconcile_once(api, resource, options, now)

    def delete_resource(
        self, api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock
    ) -> Outcome[Plan]:
        return delete_resource(self, api, request, progress, clock)

    def delete_without_resource(
        self, api: KubernetesApi, request: Request[Options], progress: Progress, clock: Clock
    ) -> Outcome[Plan]:
        return delete_without_resource(api, request, progress, clock)

    def submitted(self, resource: Manifest, submitted: Submitted) -> Plan:
        if submitted.operation is None:
            return Plan()
        return Plan((Apply(manifest=resource, live=submitted.live, after=submitted.stored),))

    def lines(self, plan: Plan) -> list[str]:
        return plan_output.lines(plan)

    def diff(self, plan: Plan, masking: Masking = NO_SECRETS) -> list[dict[str, Any]]:
        return plan_output.diff(plan, masking)

    def details(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"nodes": status.get("nodes", "")}

    def hint(self, outcome: Outcome[Plan], request: Request[Options]) -> str:
        """Return the command that shows why a wait for pods timed out."""
        conditions = outcome.report.status["conditions"] if outcome.report and not outcome.problems else ()
        has_unready = any(
            condition["type"] == "Ready" and condition["reason"] in _WITH_UNREADY_PODS for condition in conditions
        )
        if not outcome.timed_out or not has_unready:
            return ""
        selector = f"--namespace {request.namespace} --selector {names.CLUSTER_LABEL}={request.name}"
        return f"Inspect them: kubectl describe statefulsets,deployments,replicasets,pods {selector}"

    def is_as_desired(self, conditions: ConditionsByType) -> bool:
        """Return whether the cluster is in the desired state: ready, stopped or paused."""
        return self.is_settled(conditions.values()) or is_true(conditions, "Paused")

    def completed(self, result: ClusterResult, check_mode: bool) -> Completed[Plan]:
        plan = replace(result.plan, findings=(*result.plan.findings, *failures(result.results, with_skipped=True)))
        if not check_mode:
            steps = tuple(step_result.step for step_result in result.results if step_result.is_done)
            # The pending steps of a paused cluster are not in its plan, but the warnings about them are.
            warns = steps or not result.plan.steps
            plan = replace(plan, steps=steps, rollout_warnings=plan.rollout_warnings if warns else ())
        return Completed(result.resource, plan, is_deleted=_is_deleted(result.results))

    def masker(self, result: ClusterResult) -> Masker:
        """Return a masker for the secrets in all objects that were read, including referenced ones and Druid's."""
        steps = (*result.plan.steps, *result.plan.pending, *(step_result.step for step_result in result.results))
        differences = (difference for step in steps if step.in_druid for difference in step.differences)
        in_druid = (state for difference in differences for state in (difference.before, difference.after))
        read = (*result.observed.objects.values(), *result.observed.references.values(), *in_druid)
        return masker_of([searched(result.resource), *(each for each in read if each)])

    def status(self, result: ClusterResult, plan: Plan, now: datetime, check_mode: bool) -> dict[str, Any]:
        observed = predicted(result.observed, plan.steps) if check_mode else result.observed
        reported = replace(result, observed=observed, plan=plan)
        shown = ((), ()) if is_terminating(result.resource) else (_lasting_warnings(plan), plan.rollout_warnings)
        warnings, rollout_warnings = shown
        removals = tuple(map(str, result.plan.pending_removals))
        pending = Pending(
            result.plan.pending_restarts,
            removals,
            # Only what was carried out has begun.
            plan.restarts,
            plan.waits.not_recovered,
            result.plan.waits.druid_before,
            result.plan.awaited_budgets,
            causes_by_group(plan.steps),
        )
        state = ClusterState(
            result.cluster,
            observed,
            plan.findings,
            result.resource.get("status") or {},
            now,
            warnings,
            rollout_warnings,
            pending,
            plan.waits.refused_evictions,
            result.stored_replicas,
        )
        fields = {name: value for feature in FEATURES for name, value in feature.status(reported).items()}
        return statuses.status(state, fields)

    def events(self, result: ClusterResult, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
        if completed.is_deleted:
            yield from events.warning_texts(completed.plan.reported)
            return
        yield from events.done_texts(result.results)
        if not is_terminating(result.resource):
            yield from events.new_warnings(change, completed.plan)
            states = group_states(result.cluster, result.observed, as_it_is=True)
            complete = [state.key for state in states if state.is_complete and state.desired]
            yield from events.rollout_texts(change, complete)
            for feature in FEATURES:
                yield from feature.events(result, change)
        if change.has_new_problems:
            yield from events.problem_texts(result.results, completed.plan.findings)

    def requeue_after(self, status: Mapping[str, Any], now: datetime, has_changed: bool) -> int | None:
        return requeue_after(status, now, has_changed)

    def progress(self, status: Mapping[str, Any]) -> str:
        return f"{status.get('nodes', '')} pods ready. {ready_message(status)}"

    def after_failed_read(self, status: Mapping[str, Any]) -> dict[str, Any]:
        return statuses.after_failed_read(status)

    def stuck(self, result: ClusterResult, plan: Plan, now: datetime) -> str:
        return unrecoverable(result.cluster, result.observed, {*plan.restarts, *plan.pending_restarts}, now)


def _lasting_warnings(plan: Plan) -> tuple[str, ...]:
    """Return the warnings that are not the message of a finding, which has its own condition."""
    reported = {finding.message for finding in plan.findings}
    return tuple(text for text in plan.warnings if text not in reported)


def _is_deleted(results: Iterable[StepResult[Step]]) -> bool:
    """True when the finalizer of a terminating resource was removed, so that it is deleted."""
    done = (result.step for result in results if result.step.is_last and result.is_done)
    return any(step.live is not None and is_terminating(step.live) for step in done)


DRUID = Druid()
