# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task returns: names and words, never the bodies of objects."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils import _result
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import describe, names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.request import Request


def of_outcome(outcome: Outcome, request: Request, fail_on_problem: bool) -> dict[str, Any]:
    """Return the result of a task that could be carried out, be it in part."""
    told = {
        "changed": outcome.changed,
        "plan": describe.lines(outcome.plan),
        "diff": describe.diff(outcome.plan),
        **(_of_report(outcome.report) if outcome.report else {}),
    }
    return _result.of_outcome(names.KIND, request, outcome, told, fail_on_problem)


def _of_report(report: Report) -> dict[str, Any]:
    return {**_result.of_report(report), "nodes": report.status.get("nodes", "")}
