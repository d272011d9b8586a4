# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the report on an ingestion has: the status, events, the diff, and masked secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._secrets import spec_masking
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import (
    COMPACTION,
    RETENTION_RULES,
    SUPERVISOR,
    DruidChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names, status
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.inputs import SupervisorState
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import (
    LastApplied,
    is_own,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Reconciled
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    Plan,
    Reset,
    SaveLastApplied,
    Step,
    Submit,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.supervisor import recorded
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masker_of, searched
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import (
    Completed,
    Masked,
    Reporting,
    StatusChange,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.resource_steps import Finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.step import EventText


def _completed(done: Reconciled, _check_mode: bool) -> Completed[Plan]:
    return Completed(done.resource, done.plan, done.plan.warnings, done.is_deleted)


def _masker(done: Reconciled) -> Masked:
    """Return a masker for the secrets in the spec, in the Secrets that were read, and in Druid's spec."""
    change = done.druid_state.change if isinstance(done.druid_state, SupervisorState) else None
    in_druid = () if change is None else (change.before, change.after)
    of_specs = spec_masking.masker_of([*_documents(done), *in_druid])
    of_secrets = masker_of(secret for secret in done.observed.secrets.values() if secret)

    def masked(text: str) -> str:
        return of_secrets.text(of_specs.text(text))

    return masked


def _documents(done: Reconciled) -> tuple[Any, ...]:
    """Return the resource, and its parsed spec if that is a string."""
    specified = searched(done.resource)
    try:
        return specified, done.ingestion.document
    except ValueError:
        return (specified,)


def _status(done: Reconciled, plan: Plan, now: datetime, check_mode: bool, masked: Masked) -> dict[str, Any]:
    previous = done.resource.get("status") or {}
    document = status.status(
        done.ingestion, done.druid_state, plan.findings, previous, now, masked, _record_after(done, plan, check_mode)
    )
    applied = [step for step in plan.steps if isinstance(step, DruidChange | Submit)]
    if not applied or check_mode or done.failed_step is not None:
        return document
    is_created = any(isinstance(step, Submit) or step.before is None for step in applied)
    return status.with_last_update(document, done.ingestion, is_created, now)


def _record_after(done: Reconciled, plan: Plan, check_mode: bool) -> LastApplied | None:
    """Return the record after the reconcile, None if there is none."""
    if plan.saved and not check_mode:
        return plan.saved[-1]
    found = done.observed.record
    exists = found is not None and is_own(found, done.ingestion)
    return recorded(found, done.ingestion).record if exists else None


def _events(_done: Reconciled, completed: Completed[Plan], change: StatusChange) -> Iterator[EventText]:
    yield from events_of_steps(completed.plan.steps)
    if change.has_new_problems:
        yield from events_of_problems(completed.plan)
    if completed.is_deleted or are_warnings_new(completed.plan.steps, change.before, change.after):
        reported = {finding.message for finding in completed.plan.findings}
        texts = (text for text in change.warnings if text not in reported)
        yield from events_of_warnings(texts, is_deleted=completed.is_deleted)


def diff(steps: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield before and after of each change in Druid, without secrets."""
    for step in steps:
        if isinstance(step, DruidChange):
            before, after = step.masked
            yield {"before": before or "", "after": after or "", "before_header": step.what, "after_header": step.what}
        elif isinstance(step, Submit):
            body = spec_masking.masked(step.job.submission(step.attempt))
            yield {"before": "", "after": body, "before_header": step.title, "after_header": step.title}


REPORTING = Reporting(
    finalizer=names.FINALIZER,
    transient=reasons.TRANSIENT_OF_INGESTION,
    completed=_completed,
    masker=_masker,
    status=_status,
    events=_events,
    is_settled=status.is_settled,
    requeue_after=lambda document, now, _has_changed: status.requeue_after(document["conditions"], now),
)


_CHANGE_REASONS: Mapping[str, str] = {
    SUPERVISOR: reasons.SUPERVISOR_UPDATED,
    COMPACTION: reasons.DATASOURCE_CONFIG_UPDATED,
    RETENTION_RULES: reasons.DATASOURCE_CONFIG_UPDATED,
}
_TERMINATION_REASONS: Mapping[str, str] = {"supervisor": reasons.SUPERVISOR_TERMINATED, "task": reasons.TASK_SHUT_DOWN}
_OTHER_REASONS: Mapping[type[Step], str] = {Reset: reasons.OFFSETS_RESET, Submit: reasons.TASK_SUBMITTED}


def events_of_steps(steps: Iterable[Step]) -> list[EventText]:
    """Return one event per change in Druid, without the record and the finalizer."""
    done = (step for step in steps if not isinstance(step, Finalizer | SaveLastApplied))
    return [EventText("Normal", _event_reason(step), f"Done: {step.title}.") for step in done]


def _event_reason(step: Step) -> str:
    if isinstance(step, DruidChange):
        return _CHANGE_REASONS[step.kind]
    return _TERMINATION_REASONS[step.kind] if isinstance(step, Terminate) else _OTHER_REASONS[type(step)]


def events_of_problems(plan: Plan) -> list[EventText]:
    """Return a warning for each problem."""
    return [EventText("Warning", each.reason, each.message) for each in plan.problems]


def events_of_warnings(warnings: Iterable[str], *, is_deleted: bool) -> list[EventText]:
    """Return the warnings for the user; of a deleted resource those about what may still run."""
    reason = reasons.TASKS_ORPHANED if is_deleted else reasons.SPEC_WARNING
    return [EventText("Warning", reason, text) for text in warnings]


def are_warnings_new(steps: Iterable[Step], previous: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """True when the warnings are new: the spec changed, or a step was executed."""
    return any(steps) or previous.get("observedGeneration") != document.get("observedGeneration")
