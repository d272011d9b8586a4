# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a DruidIngestion: standard conditions, Druid's state, and the fields of the Go operator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.supervisor import MAX_ERROR_LENGTH, MAX_ERRORS
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import (
    DruidState,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    Condition,
    condition,
    degraded_condition,
    ready_and_progressing,
    stalled_condition,
    timestamp,
    with_transition_times,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    Finding,
    first_finding,
    joined_messages,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import excerpt

# The Go operator's names of the last change.
CREATED, UPDATED = (f"DruidIngestionController{word}" for word in ("CreateSuccess", "UpdateSuccess"))
# Fields with Druid's state: they are removed if Druid does not report them any more.
_DRUID_FIELDS = frozenset({"taskId", "state", "detailedState", "suspended", "lag", "recentErrors"})
# Not healthy, whatever the value of `healthy` (Druid 31 to 39, SupervisorStateManager and CompactionSupervisor).
_UNHEALTHY_STATES = frozenset({"INVALID_SPEC", "SCHEDULER_STOPPED"})
_HEALTHY_STATES = frozenset({"RUNNING", "IDLE"})
# The Go operator's copy of the whole spec, which may have secrets.
_DROPPED = "currentIngestionSpec.json"

# Reasons of Ready that end by themselves.
_PASSING = reasons.TRANSIENT_OF_INGESTION | {reasons.RUNNING, reasons.STARTING, reasons.DELETING}


def conditions(ingestion: Ingestion, druid_state: DruidState | None, findings: Sequence[Finding]) -> list[Condition]:
    """Return Ready, Progressing, Suspended, Degraded and, if it is true, Stalled, without times."""
    problems = [finding for finding in findings if finding.is_problem]
    ready, progressing = _ready(ingestion, druid_state, findings, problems)
    stalled = stalled_condition(ready, _PASSING)
    return [ready, progressing, _suspended(ingestion, druid_state), _degraded(ready, problems), *stalled]


def _degraded(ready: Condition, problems: Sequence[Finding]) -> Condition:
    if problems:
        return degraded_condition((problems[0].reason, joined_messages(problems)))
    is_unhealthy = ready["reason"] == reasons.SUPERVISOR_UNHEALTHY
    return degraded_condition((ready["reason"], ready["message"]) if is_unhealthy else None)


def status(
    ingestion: Ingestion,
    druid_state: DruidState | None,
    findings: Sequence[Finding],
    previous: Mapping[str, Any],
    now: datetime,
    record: LastApplied | None = None,
) -> dict[str, Any]:
    """Return the whole status except the last update; fields of others stay.

    `record` is the last applied record, None if there is none.
    """
    before = previous.get("conditions") or ()
    current = conditions(ingestion, druid_state, findings)
    settled = with_transition_times(
        current if druid_state else _with_last("Suspended", current, before), before, ingestion.generation, now
    )
    ready = settled[0]
    over = {_DROPPED, *(_DRUID_FIELDS if druid_state else ())}
    kept = {name: value for name, value in previous.items() if name not in over}
    return {
        **kept,
        **_of_druid(druid_state),
        **(_go_record(previous) if record is None else _applied(record)),
        "observedGeneration": ingestion.generation or 0,
        "conditions": settled,
        "status": ready["status"],
        "reason": ready["reason"],
        "message": ready["message"],
    }


def _go_record(previous: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Go operator's record with its id: it stays until our own record exists.

    Without any record the task would be submitted again.
    """
    return {name: previous[name] for name in ("taskId", _DROPPED) if name in previous and previous.get(_DROPPED)}


def _applied(record: LastApplied) -> dict[str, Any]:
    """Return the essential fields of the record, in case the record is deleted before the resource.

    The state that was read from Druid may belong to another id.
    """
    identity = record.task.id if record.task else record.id
    if not (record.hash and identity):
        return {}
    revision = {"appliedRevision": record.revision} if record.revision else {}
    target = {"appliedTo": record.druid} if record.druid else {}
    return {"appliedHash": record.hash, "taskId": identity, **target, **revision}


def with_last_update(document: dict[str, Any], ingestion: Ingestion, is_created: bool, now: datetime) -> dict[str, Any]:
    """Return the status after a change in Druid: its type, and the time."""
    rules = {"rules": ingestion.rules} if ingestion.rules else {}
    kept = {name: value for name, value in document.items() if name != "rules"}
    return {**kept, **rules, "lastUpdateTime": timestamp(now), "type": CREATED if is_created else UPDATED}


def _of_druid(druid_state: DruidState | None) -> dict[str, Any]:
    """Return Druid's state; empty if it was not read, so that the last one stays."""
    if druid_state is None:
        return {}
    if isinstance(druid_state, TaskState):
        task_status = druid_state.status or {}
        code = excerpt(str(task_status.get("statusCode") or druid_state.attempt.task.status), MAX_ERROR_LENGTH)
        detail = str(task_status.get("runnerStatusCode") or code) if code == batch.RUNNING else code
        detail = excerpt(detail, MAX_ERROR_LENGTH)
        return {"taskId": druid_state.id, "state": code, "detailedState": detail}
    payload = druid_state.payload
    detail = str(payload.get("detailedState") or payload.get("scheduleStatus") or payload.get("state") or "")
    detail = excerpt(detail, MAX_ERROR_LENGTH)
    lag = payload.get("aggregateLag")
    return {
        "taskId": druid_state.id,
        "state": excerpt(str(payload.get("state") or detail), MAX_ERROR_LENGTH),
        "detailedState": detail,
        "suspended": druid_state.is_suspended,
        # the schema requires an integer of 64 bits
        **({"lag": lag} if isinstance(lag, int) and abs(lag) < 2**63 else {}),
        "recentErrors": _recent_errors(druid_state),
    }


def _recent_errors(druid_state: SupervisorState) -> list[str]:
    """Return the latest errors, to be masked and truncated."""
    errors = druid_state.payload.get("recentErrors") or []
    texts = (str(each.get("message") or each.get("exceptionClass")) for each in errors[-MAX_ERRORS:])
    return [excerpt(text, MAX_ERROR_LENGTH) for text in texts]


def _ready(
    ingestion: Ingestion, druid_state: DruidState | None, findings: Sequence[Finding], problems: Sequence[Finding]
) -> tuple[Condition, Condition]:
    """Return the conditions Ready and Progressing."""
    pending = first_finding(findings, reasons.DELETING, reasons.CHANGES_PENDING)
    exists = isinstance(druid_state, SupervisorState) and druid_state.change.before is not None
    beside = {
        reasons.DUPLICATE_DATASOURCE_CONFIG,
        reasons.SUPERVISOR_LEFT,
        *([reasons.DRIFT_DETECTED] if exists else []),
    }
    blocking = [finding for finding in problems if finding.reason not in beside]
    if blocking:
        return ready_and_progressing(False, blocking[0].reason, joined_messages(blocking))
    if pending is not None:
        return ready_and_progressing(False, pending.reason, pending.message)
    if druid_state is None:
        return ready_and_progressing(False, reasons.PAUSED, "The state in Druid was not read.")
    return _of_batch(ingestion, druid_state) if isinstance(druid_state, TaskState) else _of_supervisor(druid_state)


def _of_supervisor(druid_state: SupervisorState) -> tuple[Condition, Condition]:
    payload, name = druid_state.payload, f"Supervisor {druid_state.id}"
    state = str(payload.get("detailedState") or payload.get("state") or payload.get("scheduleStatus") or "")
    if druid_state.is_suspended:
        is_desired = not druid_state.is_resumed
        how = "as specified" if is_desired else "but the spec does not suspend it"
        return ready_and_progressing(is_desired, reasons.SUSPENDED, f"{name} is suspended, {how}.")
    if payload.get("healthy") is False or state in _UNHEALTHY_STATES:
        return ready_and_progressing(
            False,
            reasons.SUPERVISOR_UNHEALTHY,
            f"{name} is {state}. {' | '.join(_recent_errors(druid_state))}".rstrip(),
            in_progress=False,
        )
    if not payload or (state not in _HEALTHY_STATES and "healthy" in payload):
        return ready_and_progressing(
            False, reasons.STARTING, f"{name} is {state or 'being created'}.", in_progress=True
        )
    return ready_and_progressing(True, reasons.RUNNING, f"{name} is {state or 'running'}.")


def _of_batch(ingestion: Ingestion, druid_state: TaskState) -> tuple[Condition, Condition]:
    name, task = f"Task {druid_state.id}", druid_state.attempt.task
    if task.status == batch.SUCCESS:
        return ready_and_progressing(True, reasons.SUCCEEDED, f"{name} succeeded.")
    if druid_state.status is None and ingestion.suspend and druid_state.attempt.action == "submit":
        return ready_and_progressing(
            False, reasons.SUSPENDED, "The batch does not start while spec.suspend is set.", in_progress=False
        )
    state = str((druid_state.status or {}).get("runnerStatusCode") or "SUBMITTED")
    return ready_and_progressing(False, reasons.RUNNING, f"{name} is {state}.", in_progress=True)


def _suspended(ingestion: Ingestion, druid_state: DruidState | None) -> Condition:
    is_batch_held = bool(ingestion.suspend) and not ingestion.is_supervisor
    if druid_state.is_suspended if isinstance(druid_state, SupervisorState) else is_batch_held:
        return condition("Suspended", True, reasons.SUSPENDED, "Suspended by spec.suspend, or in Druid.")
    return condition("Suspended", False, reasons.NOT_SUSPENDED, "Not suspended.")


def _with_last(kind: str, current: Iterable[Condition], before: Iterable[Condition]) -> list[Condition]:
    """Return the conditions, with the previous one of this type since Druid's state was not read."""
    last = {each["type"]: each for each in before if each["type"] == kind}
    return [last.get(each["type"], each) for each in current]
