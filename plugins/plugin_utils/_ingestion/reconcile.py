# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One reconcile of an ingestion: observe, decide, act, read back, report. A terminating one is finalized."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api import request
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.deletion import carried_out
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.target import disallowed_secret, secrets_of
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import API_VERSION, readable
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide import (
    decide,
    with_abandoned,
    without_repetition,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.decide_deletion import Deletion, decide_deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    is_ours,
    read_last_applied,
    resource_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.reads import IngestionReads, reading
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    KIND,
    Ingestion,
    problems,
    record_name,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    DruidState,
    IngestionResult,
    Inputs,
    Plan,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import SaveLastApplied, act
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, spec_errors
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Druid


def reconcile_once(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> IngestionResult:
    """Reconcile a DruidIngestion: from the API, or (without a uid) built from a spec; KubernetesError if it fails."""
    if is_terminating(resource):
        return finalize(api, resource, options)
    ingestion = Ingestion.from_resource(resource)
    blockers = spec_errors(KIND, resource) or _blockers(ingestion, options)
    planned = IngestionResult(resource, Plan(findings=blockers), ingestion)
    if blockers:
        return planned
    with reading(api, ingestion, secrets_of(ingestion), options) as (reads, druid):
        with options.meter.phases("observe"):
            found = reads.observe()
        planned = replace(planned, observed=found)
        if found.config_map is not None and not is_ours(found.config_map, ingestion):
            return planned.blocked(_collision(ingestion))
        try:
            return _with_druid(Context(api, druid), reads, planned, options, now)
        except DruidError as error:
            return planned.blocked(request.error_finding(error))


def _with_druid(
    context: Context, reads: IngestionReads, planned: IngestionResult, options: Options, now: datetime
) -> IngestionResult:
    """Decide, carry out the plan, and read back Druid's state."""
    inputs = Inputs(planned.ingestion, planned.observed, reads)
    with options.meter.phases("decide"):
        # an older resource reports the state of a supervisor that it owns
        druid_state = inputs.druid_state if inputs.older_owner is None else None
        plan = without_repetition(decide(inputs), inputs.record, now)
        planned = replace(planned, ingestion=inputs.ingestion, plan=plan, druid_state=druid_state)
    # the end of a task is recorded, whatever is unknown: Druid may forget the task
    is_record = isinstance(druid_state, TaskState) and _only_saves(plan) and not options.check_mode
    if options.is_strict and not is_record and (unknown := _unknown_fields(inputs)):
        return replace(planned, plan=Plan()).blocked(_strict(unknown, "Nothing is sent"))
    if options.check_mode or not planned.plan.steps:
        return planned
    with options.meter.phases("act"):
        result = act(context, planned)
    if result.is_unanswered:
        return _record_abandoned(context, result, inputs.record, now)
    # what was read may have changed since
    reads.forget()
    result = _read_back(reads, result, inputs.record) if result.failed_step is None else result
    if options.is_strict and (unknown := _dropped_fields(reads, result)):
        return result.with_findings(_strict(unknown, "All other fields are set"))
    return result


def _only_saves(plan: Plan) -> bool:
    return bool(plan.steps) and all(step.saved for step in plan.steps)


def _read_back(reads: IngestionReads, result: IngestionResult, record: LastApplied) -> IngestionResult:
    """Return the reconcile with Druid's current state; `record` is the last applied record before it."""
    record = next((saved for saved in reversed(result.plan.saved) if saved is not None), record)
    try:
        return replace(result, druid_state=reads.state(result.ingestion, record))
    except DruidError:
        # the next reconcile detects it
        return result


def _record_abandoned(context: Context, result: IngestionResult, record: LastApplied, now: datetime) -> IngestionResult:
    """Record the request of the failed step, so that it is not repeated while Druid executes it."""
    record = next((saved for saved in reversed(result.plan.saved) if saved is not None), record)
    if result.failed_step is None:
        return result
    recorded = with_abandoned(record, result.failed_step, now)
    saving = (SaveLastApplied(recorded),)
    saved = act(context, replace(result, plan=replace(result.plan, steps=saving)))
    return replace(saved, plan=replace(saved.plan, steps=(*result.plan.steps, *saved.plan.steps)))


def _unknown_fields(inputs: Inputs) -> tuple[str, ...]:
    """Return the messages about specified fields that Druid does not know, as its current state shows."""
    state = inputs.druid_state
    changes = (*((state.change,) if isinstance(state, SupervisorState) else ()), *inputs.datasource)
    return (*_of_task(inputs.reads, state), *(text for change in changes for text in change.unknown))


def _dropped_fields(reads: IngestionReads, result: IngestionResult) -> tuple[str, ...]:
    """Return the messages about specified fields that Druid has dropped, as far as it responds after the changes."""
    try:
        return (*result.unknown_fields, *_of_task(reads, result.druid_state))
    except DruidError:
        # the next reconcile detects them
        return result.unknown_fields


def _of_task(reads: IngestionReads, state: DruidState | None) -> tuple[str, ...]:
    """Return the message about the last attempt that was submitted; empty if there is none."""
    if not isinstance(state, TaskState):
        return ()
    last = state.attempt.task.attempt - (state.attempt.action == "submit")
    text = reads.unknown_fields(state.job, last) if last else ""
    return (f"{text}.",) if text else ()


def _strict(unknown: Iterable[str], consequence: str) -> Finding:
    return Finding(reasons.INVALID_SPEC, f"{' '.join(unknown)} {consequence} (unknown_fields: fail).")


def _blockers(ingestion: Ingestion, options: Options) -> tuple[Finding, ...]:
    """Return problems of the resource itself, which are found without its surroundings."""
    refusal = disallowed_secret(secrets_of(ingestion), ingestion.namespace, options.allowed_reference_namespaces)
    return (*problems(ingestion), *(() if refusal is None else (refusal,)))


def _collision(ingestion: Ingestion) -> Finding:
    name = record_name(ingestion.name)
    return Finding(
        reasons.NAME_CONFLICT,
        f"ConfigMap {name} in namespace {ingestion.namespace} does not belong to this resource, which needs that name "
        "for its last applied spec. Delete the ConfigMap if it is unused, or rename this ingestion.",
    )


def finalize(api: KubernetesApi, resource: Manifest, options: Options) -> IngestionResult:
    """Terminate the supervisor or task, and remove the finalizer. The spec may be invalid."""
    resource = readable(resource, ingestion=dict)
    planned = IngestionResult(resource, Plan(), Ingestion.from_resource(resource))
    deletion = _deletion(planned, options, has_resource=True)
    with _reading(api, deletion, options) as (reads, druid):
        return _delete(Context(api, druid), reads, planned, deletion, options)


def finalize_without_resource(
    api: KubernetesApi, name: str, namespace: str, spec: Mapping[str, Any], options: Options
) -> IngestionResult | None:
    """Terminate what the record names, then delete the record: the only reference to it. None without one."""
    metadata = {"name": name, "namespace": namespace}
    resource = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": dict(spec)}
    planned = IngestionResult(resource, Plan(), Ingestion.from_resource(resource))
    deletion = _deletion(planned, options, has_resource=False)
    with _reading(api, deletion, options) as (reads, druid):
        found = reads.get("ConfigMap", record_name(name))
        owner = resource_of(found) if found else None
        if owner is not None:
            return _refused(planned, owner)
        if read_last_applied(found, planned.ingestion).is_empty:
            return None
        return _delete(Context(api, druid), reads, planned, deletion, options)


def _refused(planned: IngestionResult, owner: str) -> IngestionResult:
    message = (
        f"DruidIngestion {owner} in namespace {planned.ingestion.namespace} exists as a resource, and nothing "
        "was deleted. To delete it, use state: absent with name and without spec."
    )
    return planned.blocked(Finding(reasons.NAME_CONFLICT, message))


def _deletion(planned: IngestionResult, options: Options, *, has_resource: bool) -> Deletion:
    ingestion = planned.ingestion
    refusal = disallowed_secret(secrets_of(ingestion), ingestion.namespace, options.allowed_reference_namespaces)
    return Deletion(ingestion, has_resource=has_resource, refusal=refusal)


def _reading(
    api: KubernetesApi, deletion: Deletion, options: Options
) -> AbstractContextManager[tuple[IngestionReads, Druid]]:
    secrets = secrets_of(deletion.ingestion) if deletion.refusal is None else ()
    return reading(api, deletion.ingestion, secrets, options)


def _delete(
    context: Context, reads: IngestionReads, planned: IngestionResult, deletion: Deletion, options: Options
) -> IngestionResult:

    def decided(failure: Finding | None) -> IngestionResult:
        plan = decide_deletion(replace(deletion, failure=failure), reads)
        return replace(planned, observed=reads.observed, plan=plan)

    return carried_out(decided, context, check_mode=options.check_mode)
