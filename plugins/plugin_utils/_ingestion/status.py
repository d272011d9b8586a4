# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a DruidIngestion: standard conditions, what Druid says, and the Go operator's fields kept true."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.supervisor_status import truncate_errors
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import batch
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.druid_state import (
    DruidState,
    SupervisorState,
    TaskState,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.spec import Ingestion
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    Condition,
    condition,
    timestamp,
    with_transition_times,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.requeue_backoff import backoff_since

# The Go operator's words for what was done last.
CREATED, UPDATED = (f"DruidIngestionController{word}" for word in ("CreateSuccess", "UpdateSuccess"))
# What is Druid's to say: what it does not say when it is asked is over.
_OF_DRUID = frozenset({"taskId", "state", "detailedState", "suspended", "lag", "recentErrors"})
# Not healthy, whatever `healthy` says of it (Druid 31 to 39, SupervisorStateManager and CompactionSupervisor).
_BAD = frozenset({"INVALID_SPEC", "SCHEDULER_STOPPED"})
_GOOD = frozenset({"RUNNING", "IDLE"})
# The whole spec with all that is in it does not belong here.
_DROPPED = "currentIngestionSpec.json"

Masked = Callable[[str], str]


def conditions(ingestion: Ingestion, druid_state: DruidState | None, findings: Sequence[Finding]) -> list[Condition]:
    """Return Ready, Progressing, Suspended and Degraded, without times."""
    problems = [finding for finding in findings if finding.is_problem]
    ready, progressing = _ready(ingestion, druid_state, findings, problems)
    causes = problems[:1] or (
        [] if ready["reason"] != reasons.SUPERVISOR_UNHEALTHY else [Finding(ready["reason"], ready["message"])]
    )
    degraded = (
        condition("Degraded", True, causes[0].reason, _joined(problems) or causes[0].message)
        if causes
        else condition("Degraded", False, reasons.AS_EXPECTED, "Nothing is in the way.")
    )
    return [ready, progressing, _suspended(ingestion, druid_state), degraded]


def status(
    ingestion: Ingestion,
    druid_state: DruidState | None,
    findings: Sequence[Finding],
    previous: Mapping[str, Any],
    now: datetime,
    masked: Masked,
    record: LastApplied | None = None,
) -> dict[str, Any]:
    """Return the whole status but for what was done in this pass; what others keep there stays.

    `record` is what is put down of what Druid was given, None when nothing is.
    """
    before = previous.get("conditions") or ()
    current = [{**each, "message": masked(each["message"])} for each in conditions(ingestion, druid_state, findings)]
    settled = with_transition_times(
        current if druid_state else _with_last("Suspended", current, before), before, ingestion.generation, now
    )
    ready = settled[0]
    over = {_DROPPED, *(_OF_DRUID if druid_state else ())}
    kept = {name: value for name, value in previous.items() if name not in over}
    return {
        **kept,
        **_masked(_of_druid(druid_state), masked),
        **(_go_memory(previous) if record is None else _applied(record)),
        "observedGeneration": ingestion.generation or 0,
        "conditions": settled,
        "status": ready["status"],
        "reason": ready["reason"],
        "message": ready["message"],
    }


def _go_memory(previous: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the Go operator has left, with the id that belongs to it: it stays until a record says the same.

    Where nothing else tells of its task, that would be submitted again.
    """
    return {name: previous[name] for name in ("taskId", _DROPPED) if name in previous and previous.get(_DROPPED)}


def _applied(record: LastApplied) -> dict[str, Any]:
    """Return what tells what Druid was given, for when the record goes before the resource does.

    What was looked at in Druid may be of another id by then, and of somebody else.
    """
    identity = record.task.id if record.task else record.id
    if not (record.hash and identity):
        return {}
    return {"appliedHash": record.hash, "taskId": identity, **({"appliedTo": record.druid} if record.druid else {})}


def with_last_update(document: dict[str, Any], ingestion: Ingestion, is_created: bool, now: datetime) -> dict[str, Any]:
    """Return the status after Druid was given something: what, and when."""
    rules = {"rules": ingestion.rules} if ingestion.rules else {}
    kept = {name: value for name, value in document.items() if name != "rules"}
    return {**kept, **rules, "lastUpdateTime": timestamp(now), "type": CREATED if is_created else UPDATED}


def is_settled(found: Iterable[Mapping[str, Any]]) -> bool:
    """True when Druid does what is described, or what is described is that nothing be done."""
    by_type = {each["type"]: each for each in found}
    ready = by_type.get("Ready", {})
    return ready.get("status") == "True" or ready.get("reason") in (reasons.SUSPENDED, reasons.CHANGES_PENDING)


def requeue_after(found: Sequence[Mapping[str, Any]], now: datetime) -> int | None:
    """Return the seconds until the next look; None where the regular period will do."""
    by_type = {each["type"]: each for each in found}
    if is_settled(found) and by_type["Progressing"]["status"] != "True":
        return None
    return backoff_since(by_type["Ready"]["lastTransitionTime"], now)


def _of_druid(druid_state: DruidState | None) -> dict[str, Any]:
    """Return what Druid says; nothing where it was not asked, so that the last answer stays."""
    if druid_state is None:
        return {}
    if isinstance(druid_state, TaskState):
        task_status = druid_state.status or {}
        code = str(task_status.get("statusCode") or druid_state.attempt.task.status)
        detail = str(task_status.get("runnerStatusCode") or code) if code == batch.RUNNING else code
        return {"taskId": druid_state.id, "state": code, "detailedState": detail}
    payload = truncate_errors(druid_state.payload)
    detail = str(payload.get("detailedState") or payload.get("scheduleStatus") or payload.get("state") or "")
    lag = payload.get("aggregateLag")
    errors = [str(each.get("message") or each.get("exceptionClass")) for each in payload.get("recentErrors") or ()]
    return {
        "taskId": druid_state.id,
        "state": str(payload.get("state") or detail),
        "detailedState": detail,
        "suspended": druid_state.is_suspended,
        **({"lag": lag} if isinstance(lag, int) else {}),
        "recentErrors": errors,
    }


def _masked(fields: dict[str, Any], masked: Masked) -> dict[str, Any]:
    errors = fields.get("recentErrors")
    return fields if errors is None else {**fields, "recentErrors": [masked(error) for error in errors]}


def _ready(
    ingestion: Ingestion, druid_state: DruidState | None, findings: Sequence[Finding], problems: Sequence[Finding]
) -> tuple[Condition, Condition]:
    """Return the conditions Ready and Progressing."""
    pending = _first(findings, reasons.DELETING, reasons.CHANGES_PENDING)
    is_there = isinstance(druid_state, SupervisorState) and druid_state.change.before is not None
    blocking = [finding for finding in problems if finding.reason != reasons.DRIFT_DETECTED or not is_there]
    if blocking:
        return _pair(False, blocking[0].reason, _joined(blocking), moves=False)
    if pending is not None:
        return _pair(False, pending.reason, pending.message, moves=False)
    if druid_state is None:
        return _pair(False, reasons.PAUSED, "Druid has not been asked.", moves=False)
    return _of_batch(ingestion, druid_state) if isinstance(druid_state, TaskState) else _of_supervisor(druid_state)


def _of_supervisor(druid_state: SupervisorState) -> tuple[Condition, Condition]:
    payload, name = druid_state.payload, f"Supervisor {druid_state.id}"
    state = str(payload.get("detailedState") or payload.get("state") or payload.get("scheduleStatus") or "")
    if druid_state.is_suspended:
        is_so_described = not druid_state.is_resumed
        how = "as described" if is_so_described else "although it is not described so"
        return _pair(is_so_described, reasons.SUSPENDED, f"{name} is suspended, {how}.", moves=False)
    if payload.get("healthy") is False or state in _BAD:
        errors = _of_druid(druid_state)["recentErrors"]
        return _pair(
            False, reasons.SUPERVISOR_UNHEALTHY, f"{name} is {state}. {' | '.join(errors)}".rstrip(), moves=False
        )
    if not payload or (state not in _GOOD and "healthy" in payload):
        return _pair(False, reasons.STARTING, f"{name} is {state or 'being made'}.", moves=True)
    return _pair(True, reasons.RUNNING, f"{name} is {state or 'there'}.", moves=False)


def _of_batch(ingestion: Ingestion, druid_state: TaskState) -> tuple[Condition, Condition]:
    name, task = f"Task {druid_state.id}", druid_state.attempt.task
    if task.status == batch.SUCCESS:
        return _pair(True, reasons.SUCCEEDED, f"{name} has succeeded.", moves=False)
    if druid_state.status is None and ingestion.suspend and druid_state.attempt.action == "submit":
        return _pair(False, reasons.SUSPENDED, "The batch is not begun while spec.suspend is set.", moves=False)
    state = str((druid_state.status or {}).get("runnerStatusCode") or "SUBMITTED")
    return _pair(False, reasons.RUNNING, f"{name} is {state}.", moves=True)


def _suspended(ingestion: Ingestion, druid_state: DruidState | None) -> Condition:
    is_batch_held = bool(ingestion.suspend) and not ingestion.is_supervisor
    if druid_state.is_suspended if isinstance(druid_state, SupervisorState) else is_batch_held:
        return condition("Suspended", True, reasons.SUSPENDED, "spec.suspend, or what Druid has, says so.")
    return condition("Suspended", False, reasons.NOT_SUSPENDED, "Nothing is suspended.")


def _pair(is_ready: bool, reason: str, message: str, *, moves: bool) -> tuple[Condition, Condition]:
    progress = (
        condition("Progressing", True, reason, message)
        if moves
        else condition("Progressing", False, reason if not is_ready else reasons.UP_TO_DATE, "Nothing moves.")
    )
    return condition("Ready", is_ready, reason, message), progress


def _with_last(kind: str, current: Iterable[Condition], before: Iterable[Condition]) -> list[Condition]:
    """Return the conditions with the last one of a kind in place of one about which Druid was not asked."""
    last = {each["type"]: each for each in before if each["type"] == kind}
    return [last.get(each["type"], each) for each in current]


def _first(findings: Iterable[Finding], *desired: str) -> Finding | None:
    return next((finding for finding in findings if finding.reason in desired), None)


def _joined(problems: Sequence[Finding]) -> str:
    return " | ".join(problem.message for problem in problems)
