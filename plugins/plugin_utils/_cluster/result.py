# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a task. It never has the bodies of objects."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons, result


def of_outcome(outcome: Outcome, request: Request, fail_when_blocked: bool) -> dict[str, Any]:
    """Return the result of a task that ran, even in part."""
    details = {
        "changed": outcome.changed,
        "plan": plan_output.lines(outcome.plan),
        "diff": plan_output.diff(outcome.plan),
        **(_of_report(outcome.report) if outcome.report else {}),
    }
    returned = result.of_outcome(names.KIND, request, outcome, details, fail_when_blocked)
    return {**returned, "msg": f"{returned['msg']} {_next_command(request)}"} if _pods_timed_out(outcome) else returned


def _pods_timed_out(outcome: Outcome) -> bool:
    """True when the wait for pods timed out."""
    conditions = outcome.report.status["conditions"] if outcome.report and not outcome.problems else ()
    return outcome.timed_out and any(
        (each["type"], each["reason"]) == ("Ready", reasons.PODS_NOT_READY) for each in conditions
    )


def _next_command(request: Request) -> str:
    selector = f"--namespace {request.namespace} --selector {names.CLUSTER_LABEL}={request.name}"
    return f"Inspect them: kubectl describe statefulsets,deployments,replicasets,pods {selector}"


def _of_report(report: Report) -> dict[str, Any]:
    return {**result.of_report(report), "nodes": report.status.get("nodes", "")}
