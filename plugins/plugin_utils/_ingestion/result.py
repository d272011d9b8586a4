# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task returns: names and words, and specifications without their secrets in the diff."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._errors import DruidopsError
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import NotThere, Outcome, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._pause import UNKNOWN_AGE_SECONDS

_FIELDS = ("taskId", "state", "detailedState", "suspended", "lag")


def of_outcome(outcome: Outcome, request: Request, fail_on_problem: bool) -> dict[str, Any]:
    """Return the result of a task that could be carried out, be it in part."""
    returned: dict[str, Any] = {
        "changed": bool(outcome.done),
        "name": request.name,
        "namespace": request.namespace,
        "plan": list(outcome.done),
        "diff": list(outcome.diff),
    }
    if outcome.warnings:
        returned["warnings"] = list(outcome.warnings)
    if outcome.report is not None:
        returned |= _of_report(outcome.report)
    message = _problem(outcome, request)
    return {**returned, "msg": message, "failed": fail_on_problem} if message else returned


def of_error(error: DruidopsError, fail_on_problem: bool) -> dict[str, Any]:
    """Return the result of a task that could not be begun: the operator tries again, unless the resource is gone."""
    returned = {"changed": False, "msg": str(error), "failed": fail_on_problem, "plan": [], "conditions": []}
    is_over = fail_on_problem or isinstance(error, NotThere)
    return returned if is_over else {**returned, "requeue_after": UNKNOWN_AGE_SECONDS}


def _of_report(report: Report) -> dict[str, Any]:
    return {
        "generation": report.status.get("observedGeneration"),
        "ready": report.is_ready,
        "conditions": report.status["conditions"],
        "requeue_after": report.requeue_after,
        "ingestion": {name: report.status[name] for name in _FIELDS if name in report.status},
    }


def _problem(outcome: Outcome, request: Request) -> str | None:
    problems = outcome.report.plan.problems if outcome.report else ()
    where = f"DruidIngestion {request.namespace}/{request.name}"
    if problems:
        return f"{where}: " + " | ".join(problem.message for problem in problems)
    if outcome.timed_out:
        return f"{where}: {_awaited(outcome.report)} after {request.wait_timeout} s."
    return None


def _awaited(report: Report | None) -> str:
    conditions = report.status["conditions"] if report else []
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    return f"not as wanted ({ready['reason']}: {ready['message']})" if ready else "still there"
