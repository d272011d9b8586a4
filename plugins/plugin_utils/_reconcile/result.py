# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a reconcile task, for both kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import DruidopsError, ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.action_options import BaseRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.requeue_backoff import UNKNOWN_AGE_SECONDS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.wait import Outcome, Report
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def of_outcome(
    kind: str, task: BaseRequest, outcome: Outcome[Any], details: Mapping[str, Any], fail_when_blocked: bool
) -> dict[str, Any]:
    """Return the result of a task that ran, even in part; `details` are the fields of the kind."""
    returned = {"name": task.name, "namespace": task.namespace, **details}
    if outcome.warnings:
        returned["warnings"] = list(outcome.warnings)
    message = _problem(outcome, task)
    if message:
        returned |= {"msg": f"{kind} {task.namespace}/{task.name}: {message}", "failed": fail_when_blocked}
    return returned


def of_report(report: Report) -> dict[str, Any]:
    """Return the fields that describe the resource after the last reconcile."""
    return {
        "generation": report.status.get("observedGeneration"),
        "ready": report.is_ready,
        "conditions": report.status["conditions"],
        "requeue_after": report.requeue_after,
    }


def of_error(error: DruidopsError, fail_when_blocked: bool) -> dict[str, Any]:
    """Return the result of a task that could not run: the operator retries unless the resource is deleted."""
    returned = {"changed": False, "msg": str(error), "failed": fail_when_blocked, "plan": [], "conditions": []}
    is_over = fail_when_blocked or isinstance(error, ResourceNotFound)
    return returned if is_over else {**returned, "requeue_after": UNKNOWN_AGE_SECONDS}


def _problem(outcome: Outcome[Any], task: BaseRequest) -> str:
    if outcome.problems:
        return " | ".join(problem.message for problem in outcome.problems)
    return f"{_timeout_message(outcome)} after {task.wait_timeout} s." if outcome.timed_out else ""


def _timeout_message(outcome: Outcome[Any]) -> str:
    if outcome.remains:
        return f"timed out waiting for the deletion of {join_limited(outcome.remains)}"
    conditions: Iterable[Mapping[str, Any]] = outcome.report.status["conditions"] if outcome.report else ()
    ready = next((each for each in conditions if each["type"] == "Ready"), None)
    return f"not ready ({ready['reason']}: {ready['message']})" if ready else "timed out waiting for the deletion"
