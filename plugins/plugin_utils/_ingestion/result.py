# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a task; the diff has specs with masked secrets."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Outcome, Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import result

_FIELDS = ("taskId", "state", "detailedState", "suspended", "lag")


def of_outcome(outcome: Outcome, request: Request, fail_when_blocked: bool) -> dict[str, Any]:
    """Return the result of a task that ran, even in part."""
    details = {
        "changed": bool(outcome.done),
        "plan": list(outcome.done),
        "diff": list(outcome.diff),
        **(_of_report(outcome.report) if outcome.report else {}),
    }
    return result.of_outcome(names.KIND, request, outcome, details, fail_when_blocked)


def _of_report(report: Report) -> dict[str, Any]:
    ingestion = {name: report.status[name] for name in _FIELDS if name in report.status}
    return {**result.of_report(report), "ingestion": ingestion}
