# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is to be done, given what is described, what was put down, and what Druid says. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import differing_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.place import place
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Converge,
    End,
    Finalizer,
    Plan,
    Remember,
    Reset,
    Step,
    Submit,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import Record, with_task
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.seen import Seen, SeenBatch, SeenSupervisor
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion, was_suspended
from ansible_collections.druidops.druid.plugins.plugin_utils._listed import listed


def decide(
    ingestion: Ingestion,
    record: Record,
    seen: Seen,
    extras: tuple[Converge, ...],
    is_recorded: bool,
    others: Collection[str] = (),
) -> Plan:
    """Return the plan. `extras` is what is kept about the datasource, `is_recorded` whether the record is there.

    `others` are the supervisors that other resources describe: they are not ended, whatever was described here before.
    """
    former = _former(ingestion, record, seen, others)
    is_unchanged = record.stated == ingestion.stated
    of_this = (step for step in extras if step.change.changed)
    if isinstance(seen, SeenSupervisor):
        changes, after = _of_supervisor(ingestion, record, former, seen)
    else:
        changes, after = _of_batch(ingestion, record, seen)
    changes = (*changes, *of_this)
    findings: tuple[Finding, ...] = _findings(seen)
    if is_unchanged and ingestion.reports_drift_only:
        kept = tuple(step for step in changes if not isinstance(step, Converge))
        findings = (*findings, *_drifted(step for step in changes if isinstance(step, Converge)))
        changes = kept
    ended = tuple(End("supervisor", each) for each in former)
    # one supervisor is followed by another without a gap; what a batch puts down leaves no trace of a supervisor
    changes = (*ended, *changes) if isinstance(seen, SeenBatch) else (*changes, *ended)
    is_remembered = record == after and (is_recorded or not after.id)
    final = () if is_remembered else (Remember(after, is_new=not is_recorded),)
    return Plan((*changes, *_once(changes, final)), findings)


def finalizer(finalizers: list[str]) -> tuple[Step, ...]:
    """Return the step that sets the finalizer: without it a supervisor would outlive its resource."""
    return () if names.FINALIZER in finalizers else (Finalizer(is_set=True),)


def held(plan: Plan, pause: Finding) -> Plan:
    """Return the plan without its steps: what it would change waits."""
    waiting = _waiting(plan)
    return Plan((), (pause, *waiting, *(replace(each, is_problem=False) for each in plan.findings)), plan.warnings)


def _waiting(plan: Plan) -> tuple[Finding, ...]:
    if not plan.steps:
        return ()
    message = f"Paused. What waits: {listed([step.title for step in plan.steps])}."
    return (Finding(reasons.CHANGES_WAIT, message, is_problem=False),)


def _of_supervisor(
    ingestion: Ingestion, record: Record, former: tuple[str, ...], seen: SeenSupervisor
) -> tuple[tuple[Step, ...], Record]:
    after = Record(ingestion.stated, seen.id, druid=place(ingestion))
    change = Converge(f"supervisor {seen.id}", seen.resource, seen.change)
    before = replace(after, stated=record.stated, former=former)
    # put down before anything is done: a supervisor that a crash has left behind is ended with its resource, be it the
    # one that is made or the one that is to be ended
    remembering = () if before == record else (Remember(before, is_new=not (record.id or record.druid)),)
    changes = (change,) if seen.change.changed else ()
    # while it is still suspended: a task that has just begun is not told of a reset, and would undo it. There it may be
    # repeated, too, by whoever comes after a crash.
    is_asked_for = ingestion.resets_on_resume and was_suspended(record.stated) and not was_suspended(ingestion.stated)
    resetting = (Reset(seen.id),) if seen.is_resumed and is_asked_for else ()
    return (*remembering, *resetting, *changes), after


def _of_batch(ingestion: Ingestion, record: Record, seen: SeenBatch) -> tuple[tuple[Step, ...], Record]:
    attempt = seen.attempt
    if record.supervisors:
        # ended by now, or left to themselves
        record = replace(record, id=record.id if record.task else "", former=())
    if attempt.action == "submit" and ingestion.suspend:
        # nothing of it is put down, either: it has not begun
        return (), record
    if attempt.action == "taken":
        return (), record
    before = Record(ingestion.stated, seen.job.task_id(1), attempt.task, druid=place(ingestion))
    if attempt.action != "submit":
        return (), before
    submitted = with_task(before, phase="submitted")
    remembering = () if record == before else (Remember(before, is_new=not record.stated),)
    return (*remembering, Submit(seen.job, attempt.task.attempt)), submitted


def _once(changes: tuple[Step, ...], final: tuple[Remember, ...]) -> tuple[Remember, ...]:
    """The record is made once: what comes after that is an update of it."""
    is_made = any(isinstance(step, Remember) for step in changes)
    return tuple(replace(step, is_new=step.is_new and not is_made) for step in final)


def _former(ingestion: Ingestion, record: Record, seen: Seen, others: Collection[str]) -> tuple[str, ...]:
    """Return the supervisors to end: those that were described before, and are described nowhere now."""
    if ingestion.retains:
        return ()
    described = {*others, *([seen.id] if isinstance(seen, SeenSupervisor) else ())}
    return tuple(each for each in record.supervisors if each not in described)


def _findings(seen: Seen) -> tuple[Finding, ...]:
    if isinstance(seen, SeenBatch) and seen.attempt.action == "lost":
        return (
            Finding(
                reasons.TASK_UNKNOWN,
                f"Druid has taken task {seen.id}, and does not know it any more; whether it ended well was not seen. "
                f"It is not submitted again unless the annotation {names.RETRY_ANNOTATION} gets a new value.",
            ),
        )
    if isinstance(seen, SeenBatch) and seen.has_failed:
        return (
            Finding(
                reasons.TASK_FAILED,
                f"Task {seen.id} failed: {seen.failure or 'Druid does not tell any more why'}. Change the spec, or "
                f"give the annotation {names.RETRY_ANNOTATION} a new value to have it submitted again.",
            ),
        )
    if isinstance(seen, SeenBatch) and seen.attempt.action == "taken":
        return (
            Finding(
                reasons.TASK_ID_TAKEN,
                f"Druid has a task {seen.id} already, and it is not known to be one for this spec: nothing is "
                "submitted. State another id, or none: then each spec has one of its own.",
            ),
        )
    return ()


def _drifted(steps: Iterator[Converge]) -> Iterator[Finding]:
    for step in steps:
        before, after = step.change.before, step.change.after
        what = "it is not there" if before is None else f"it differs in {listed(_places(before, after))}"
        message = f"Somebody has changed {step.what} in Druid: {what}. driftPolicy Report leaves it so."
        yield Finding(reasons.DRIFTED, message)


def _places(before: Any, after: Any) -> list[str]:
    """Return the fields that differ, those included that are on one side only."""
    on_one_side = {*before} ^ {*after} if isinstance(before, Mapping) and isinstance(after, Mapping) else set()
    return sorted({*differing_fields(before, after), *on_one_side})
