# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metrics of a task of the kind DruidIngestion."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.last_applied import LastApplied
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.state import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.steps import (
    Finalizer,
    SaveLastApplied,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import measure

FAILED = Finding(reasons.APPLY_FAILED, "No.")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Plan(), ("unchanged", 0, 0, 0)),
        (Plan((SaveLastApplied(LastApplied()), Finalizer("f", is_set=True))), ("changed", 1, 0, 0)),
        (Plan((Terminate("supervisor", "s"), SaveLastApplied(None))), ("changed", 0, 2, 0)),
        (Plan(findings=(FAILED,)), ("blocked", 0, 0, 1)),
    ],
)
def test_counts(plan: Plan, expected: tuple[str, int, int, int]) -> None:
    outcome = Outcome(plan, bool(plan.steps), report=Report(plan, {"conditions": []}))
    run = measure(INGESTION, outcome, Meter(), 1.0)
    assert (run.outcome, run.applied, run.removed, run.errors["act"]) == expected
