# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan, from what was observed, and from what the reader reads. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import differing_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.resource import NOTE_ANNOTATION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch, owners, record_check
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    MAX_BYTES,
    AbandonedRequest,
    LastApplied,
    size_of,
    to_config_map,
    with_task,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.owners import described_supervisors
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record_check import replaced_task
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import (
    FINALIZER,
    RETRY_ANNOTATION,
    Ingestion,
    record_name,
    warnings,
    was_suspended,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    DruidState,
    Inputs,
    Plan,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import (
    Finalizer,
    Reset,
    SaveLastApplied,
    Step,
    Submit,
    Terminate,
    Write,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest, join_limited

# A request that Druid has not answered in time: it takes up to 80 seconds to stop a supervisor, longer than one
# reconcile in the operator may wait. A repeated request would wait for the first one, and would then stop the new
# supervisor again. After this time Druid has lost the request, as when the Overlord was restarted.
REPEAT_AFTER = timedelta(seconds=120)


def decide(inputs: Inputs) -> Plan:
    """Return the plan; that of a paused ingestion has no steps."""
    if inputs.older_owner is not None:
        return Plan(findings=(_duplicate(inputs.druid_state, inputs.older_owner),))
    ingestion, plan = inputs.ingestion, _plan(inputs)
    plan = replace(plan, steps=(*_finalizer(ingestion), *plan.steps), warnings=tuple(_warnings(inputs)))
    pause = pause_finding(ingestion.annotations, ingestion.spec)
    return plan if pause is None else plan.paused(pause)


def _plan(inputs: Inputs) -> Plan:
    """Return the changes in Druid and of the record."""
    ingestion, record, druid_state = inputs.ingestion, inputs.record, inputs.druid_state
    former = _former(inputs)
    if isinstance(druid_state, SupervisorState):
        changes, after = _of_supervisor(ingestion, record, former, druid_state)
    else:
        changes, after = _of_batch(ingestion, record, druid_state)
    changes = (*changes, *(Write(change) for change in inputs.datasource if change.changed))
    findings = (
        *_findings(ingestion, druid_state),
        *map(_left, inputs.left),
        *owners.findings(ingestion, inputs.config_owners),
    )
    if record.specified == ingestion.specified and ingestion.reports_drift_only:
        findings = (*findings, *_drift(step.change for step in changes if step.change is not None))
        changes = tuple(step for step in changes if step.change is None)
    ended = tuple(Terminate("supervisor", each) for each in former)
    # a new supervisor starts before the old one is terminated; the record of a batch does not contain a supervisor
    changes = (*ended, *changes) if isinstance(druid_state, TaskState) else (*changes, *ended)
    is_saved = record == after and (inputs.is_recorded or not after.id)
    final = () if is_saved else (SaveLastApplied(after),)
    plan = Plan(_created_once((*changes, *final), inputs), findings)
    too_large = next(_too_large(ingestion, plan.saved), None)
    return plan if too_large is None else Plan(findings=(too_large,))


def _too_large(ingestion: Ingestion, records: Iterable[LastApplied | None]) -> Iterator[Finding]:
    """Yield a problem for each record that does not fit, since without it nothing may be sent to Druid."""
    for size in (size_of(to_config_map(record, ingestion)) for record in records if record is not None):
        if size > MAX_BYTES:
            yield Finding(
                reasons.INVALID_SPEC,
                f"spec.ingestion: what is to be applied has {size:,} bytes, and its record, ConfigMap "
                f"{record_name(ingestion.name)}, can have {MAX_BYTES:,}. Nothing is sent to Druid. Make the spec "
                "smaller, such as with schema discovery (useSchemaDiscovery) instead of dimensions, or manage it with "
                "the modules supervisor or task, which need no record.",
            )


def _of_supervisor(
    ingestion: Ingestion, record: LastApplied, former: tuple[str, ...], druid_state: SupervisorState
) -> tuple[tuple[Step, ...], LastApplied]:
    after = LastApplied(ingestion.specified, druid_state.id, druid=ingestion.target, revision=record.revision)
    before = replace(after, specified=record.specified, former=former)
    # saved before any change: after a crash, the new and the old supervisor are still terminated with the resource
    saving = () if before == record else (SaveLastApplied(before),)
    changes = (Write(druid_state.change),) if druid_state.change.changed else ()
    # reset while it is suspended: a new task would not receive the reset, and would revert it. After a crash the next
    # reconcile can repeat it.
    is_asked_for = (
        ingestion.resets_on_resume and was_suspended(record.specified) and not was_suspended(ingestion.specified)
    )
    reset = (Reset(druid_state.id),) if druid_state.is_resumed and is_asked_for else ()
    return (*saving, *reset, *changes), after


def _of_batch(
    ingestion: Ingestion, record: LastApplied, druid_state: TaskState
) -> tuple[tuple[Step, ...], LastApplied]:
    attempt = druid_state.attempt
    if record.supervisors:
        # terminated already, or left running
        record = replace(record, id=record.id if record.task else "", former=())
    if attempt.action == "submit" and ingestion.suspend:
        # nothing is recorded, since it has not started
        return (), record
    if attempt.action in ("taken", "unrecorded"):
        return (), record
    before = LastApplied(
        ingestion.specified,
        druid_state.job.task_id(1),
        attempt.task,
        druid=ingestion.target,
        revision=batch.revision(ingestion, record),
        replaced=replaced_task(ingestion, record) if attempt.action == "submit" else None,
    )
    if attempt.action != "submit":
        return (), before
    submitted = replace(with_task(before, phase="submitted"), replaced=None)
    saving = () if record == before else (SaveLastApplied(before),)
    return (*saving, Submit(druid_state.job, attempt.task.attempt)), submitted


def _created_once(steps: tuple[Step, ...], inputs: Inputs) -> tuple[Step, ...]:
    """Return the steps; the first one that saves the record creates its ConfigMap, unless that exists."""
    first = None if inputs.observed.config_map else next((each for each in steps if each.saved), None)
    return tuple(SaveLastApplied(each.saved[0], is_new=True) if each is first else each for each in steps)


def _former(inputs: Inputs) -> tuple[str, ...]:
    """Return the supervisors to terminate: those of the last record that no resource specifies now."""
    if inputs.ingestion.retains:
        return ()
    own = inputs.druid_state.id if isinstance(inputs.druid_state, SupervisorState) else None
    others = described_supervisors(inputs.ingestion, inputs.siblings)
    return tuple(each for each in inputs.record.supervisors if each != own and each not in others)


def _finalizer(ingestion: Ingestion) -> tuple[Step, ...]:
    """Return the step that sets the finalizer: without it a supervisor would outlive its resource."""
    return (Finalizer(FINALIZER, is_set=True),) if ingestion.lacks(FINALIZER) else ()


def _warnings(inputs: Inputs) -> Iterator[str]:
    yield from warnings(inputs.ingestion)
    yield from inputs.unconfirmed
    if isinstance(inputs.druid_state, SupervisorState):
        yield from inputs.druid_state.change.warnings
    for change in inputs.datasource:
        yield from change.warnings
    yield from owners.kept_configuration(inputs.ingestion, inputs.record, inputs.siblings)


def _duplicate(druid_state: DruidState, owner: str) -> Finding:
    return Finding(
        reasons.DUPLICATE_SUPERVISOR,
        f"DruidIngestion {owner}, which is older, also specifies supervisor {druid_state.id}. Delete one of them.",
    )


def _left(supervisor: str) -> Finding:
    return Finding(
        reasons.SUPERVISOR_LEFT,
        f"Supervisor {supervisor}, which this resource has submitted and does not specify any more, is in Druid. Its "
        "record is lost, so it is not terminated. Terminate it (module supervisor, state: absent), or remove it from "
        f"the ids in the annotation {NOTE_ANNOTATION}.",
    )


def _findings(ingestion: Ingestion, state: DruidState) -> tuple[Finding, ...]:
    if isinstance(state, TaskState) and state.attempt.action == "unrecorded":
        return (record_check.finding(ingestion),)
    if isinstance(state, TaskState) and state.attempt.action == "lost":
        return (
            Finding(
                reasons.TASK_STATUS_UNKNOWN,
                f"Druid accepted task {state.id} but no longer reports it: its final status is unknown. To submit it "
                f"again, set the annotation {RETRY_ANNOTATION} to a new value.",
            ),
        )
    if isinstance(state, TaskState) and state.has_failed:
        return (
            Finding(
                reasons.TASK_FAILED,
                f"Task {state.id} failed: {state.failure or 'Druid no longer reports the cause'}. Change the spec, or "
                f"set the annotation {RETRY_ANNOTATION} to a new value to submit it again.",
            ),
        )
    if isinstance(state, TaskState) and state.attempt.action == "taken":
        return (
            Finding(
                reasons.TASK_ID_CONFLICT,
                f"Druid already has a task {state.id}, which may belong to another spec: nothing is submitted. Set "
                "another id, or omit it to generate a unique one per spec.",
            ),
        )
    return ()


def _drift(changes: Iterable[DruidChange]) -> Iterator[Finding]:
    for change in changes:
        before, after = change.before, change.after
        what = (
            "it does not exist" if before is None else f"it differs in {join_limited(_differing_fields(before, after))}"
        )
        message = f"Drift of {change.what} in Druid: {what}. It is not corrected (driftPolicy Report)."
        yield Finding(reasons.DRIFT_DETECTED, message)


def _differing_fields(before: Any, after: Any) -> list[str]:
    """Return the fields that differ, including those on one side only."""
    on_one_side = {*before} ^ {*after} if isinstance(before, Mapping) and isinstance(after, Mapping) else set()
    return sorted({*differing_fields(before, after), *on_one_side})


def with_abandoned(record: LastApplied, step: Step, now: datetime) -> LastApplied:
    """Return the record after the request of this step was abandoned."""
    return replace(record, abandoned=AbandonedRequest(_identity(step), timestamp(now)))


def without_repetition(plan: Plan, record: LastApplied, now: datetime) -> Plan:
    """Return the plan; if its first request to Druid is the abandoned one, without all that is not done before."""
    first = next((step for step in plan.steps if step.in_druid), None)
    last = record.abandoned
    if first is None or last is None or last.identity != _identity(first):
        return plan
    if seconds_since(last.at, now) >= REPEAT_AFTER.total_seconds():
        return plan
    finding = Finding(
        reasons.DRUID_UNREACHABLE,
        f"Druid has not answered the request to {first.title} in time ({last.at}), and does not show its result yet. "
        f"It is sent again {REPEAT_AFTER.total_seconds():.0f} s after that, in case Druid has lost it.",
    )
    kept = tuple(step for step in plan.steps if not (step.in_druid or step.saved))
    return replace(plan, steps=kept, findings=(finding, *plan.findings))


def _identity(step: Step) -> str:
    return digest([step.title, None if step.change is None else step.change.after])
