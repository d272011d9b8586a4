# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a reconcile task for Ansible, and its line of JSON in the operator's log.

All texts are masked. Neither has the bodies of objects, except in the masked diff.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from ansible_collections.druidops.druid.plugins.module_utils._values.userinfo import without_userinfo
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import UNKNOWN_AGE_SECONDS, timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.kind import Kind
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import Masking
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import DESTRUCTIVE, Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import CHANGES, NEVER, Options, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

_Options = TypeVar("_Options", bound=Options)
_Plan = TypeVar("_Plan", bound=Plan[Any])


def of_outcome(
    kind: Kind[_Options, Any, _Plan], request: Request[_Options], outcome: Outcome[_Plan], fail_when_blocked: bool
) -> dict[str, Any]:
    """Return the result of a task that ran, even in part."""
    masking = Masking(lambda: outcome.masker)
    returned = {
        "name": request.name,
        "namespace": request.namespace,
        "changed": outcome.changed,
        "plan": masking.everything(kind.lines(outcome.plan)),
        "diff": masking.everything(kind.diff(outcome.plan, masking)),
        "destructive": outcome.plan.is_destructive,
        **(_of_report(kind, outcome.report) if outcome.report else {}),
    }
    if outcome.is_deleted:
        returned["conditions"] = []
    if outcome.warnings:
        returned["warnings"] = list(outcome.warnings)
    message = " ".join(filter(None, (_problem(outcome, request), kind.hint(outcome, request))))
    has_changes = outcome.changed or bool(outcome.plan.pending)
    refusal = _refusal(returned, request.fail_on, has_changes)
    if message or refusal:
        text = " ".join(filter(None, (message, refusal)))
        failed = fail_when_blocked or bool(refusal)
        returned |= {"msg": f"{kind.name} {request.namespace}/{request.name}: {text}", "failed": failed}
    return returned


def _refusal(returned: Mapping[str, Any], fail_on: str, has_changes: bool) -> str:
    """Return the planned changes because of which a task fails; empty if there are none.

    Those that a pause defers are among them: they are made when it ends, and no pipeline sees that.
    """
    if fail_on != NEVER and returned["destructive"]:
        destructive = (line for line in returned["plan"] if line.endswith(DESTRUCTIVE))
        return f"Destructive changes (fail_on: {fail_on}): {join_limited(destructive)}."
    if fail_on == CHANGES and has_changes:
        return f"Changes (fail_on: {fail_on}): {join_limited(returned['plan'])}."
    return ""


def of_error(error: DruidopsError, fail_when_blocked: bool) -> dict[str, Any]:
    """Return the result of a task that could not run: the operator retries unless the resource is deleted."""
    message = without_userinfo(str(error))
    returned = {"changed": False, "msg": message, "failed": fail_when_blocked, "plan": [], "conditions": []}
    is_over = fail_when_blocked or isinstance(error, ResourceNotFound)
    return returned if is_over else {**returned, "requeue_after": UNKNOWN_AGE_SECONDS}


def _of_report(kind: Kind[Any, Any, _Plan], report: Report[_Plan]) -> dict[str, Any]:
    """Return the fields that describe the resource after the last reconcile."""
    return {
        "generation": report.status.get("observedGeneration"),
        "ready": report.is_ready,
        "conditions": report.status["conditions"],
        "requeue_after": report.requeue_after,
        **kind.details(report.status),
    }


def _problem(outcome: Outcome[Any], request: Request[Any]) -> str:
    if outcome.problems:
        return " | ".join(problem.message for problem in outcome.problems)
    if outcome.stuck:
        return (
            f"{_timeout_message(outcome)}. It does not recover by itself: {outcome.stuck}. Correct it; with "
            "wait_for_recovery: true, the task waits nevertheless."
        )
    return f"{_timeout_message(outcome)} after {request.wait_timeout} s." if outcome.timed_out else ""


def _timeout_message(outcome: Outcome[Any]) -> str:
    if outcome.remains:
        return f"timed out waiting for the deletion of {join_limited(outcome.remains)}"
    conditions: Iterable[Mapping[str, Any]] = outcome.report.status["conditions"] if outcome.report else ()
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    return f"not ready ({ready['reason']}: {ready['message']})" if ready else "timed out waiting for the deletion"


def failures_of(
    outcome: Outcome[Any] | DruidopsError, cache_error: Exception | None, metrics_error: str | None
) -> dict[str, str]:
    """Return what has failed besides the reconcile, by fields of the log line: each also has a metric and an alert."""
    report = None if isinstance(outcome, DruidopsError) else outcome.report
    failures = {
        "cache": str(cache_error or ""),
        "reporting": " | ".join(report.reporting_errors) if report else "",
        "metrics": metrics_error or "",
    }
    return {name: text for name, text in failures.items() if text}


MAX_STEPS = 20
MAX_CHARACTERS = 1000


def log_line(kind: str, returned: Mapping[str, Any], seconds: float, now: datetime) -> str:
    """Return the line for a task's result: the resource, the writes, the duration, the Ready condition."""
    problem, failures = returned.get("msg"), returned.get("failures") or {}
    # The task also reports errors of status and events as warnings.
    warnings = [text for text in returned.get("warnings") or () if text not in failures.get("reporting", "")]
    conditions = {each["type"]: each for each in returned.get("conditions") or ()}
    ready: Mapping[str, Any] = conditions.get("Ready", {})
    entry = {
        "time": timestamp(now),
        "level": "error" if problem else "warning" if failures else "info",
        "kind": kind,
        "namespace": returned.get("namespace"),
        "name": returned.get("name"),
        "generation": returned.get("generation"),
        "seconds": round(seconds, 3),
        "changed": returned["changed"],
        "done": _first(returned.get("plan") or ()),
        "warnings": _first([_limited(text) for text in warnings]) or None,
        "ready": ready.get("status"),
        "reason": ready.get("reason"),
        "message": _limited(problem or ready.get("message") or "") or None,
        "requeue_after": returned.get("requeue_after"),
        **{name: _limited(text) for name, text in failures.items()},
    }
    return json.dumps({name: value for name, value in entry.items() if value is not None})


def _first(texts: Sequence[str]) -> list[str]:
    more = len(texts) - MAX_STEPS
    return [*texts[:MAX_STEPS], *([f"and {more} more"] if more > 0 else [])]


def _limited(text: str) -> str:
    return f"{text[:MAX_CHARACTERS]}..." if len(text) > MAX_CHARACTERS else text


def append_line(file: str, line: str) -> str | None:
    """Append the line to the file; return the error, or None."""
    try:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")
    except OSError as error:
        return f"The log {file} cannot be written: {error}"
    return None
