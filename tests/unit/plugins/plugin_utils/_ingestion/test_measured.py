# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is to tell of a task about an ingestion."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.measured import of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import End, Finalizer, Plan, Remember
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.record import Record
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.request import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter

FAILED = Finding(reasons.WRITE_FAILED, "No.")


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (Plan(), ("unchanged", 0, 0, 0)),
        (Plan((Remember(Record()), Finalizer(is_set=True))), ("changed", 1, 0, 0)),
        (Plan((End("supervisor", "s"), Remember(None))), ("changed", 0, 2, 0)),
        (Plan(findings=(FAILED,)), ("with_problems", 0, 0, 1)),
    ],
)
def test_outcome(plan: Plan, told: tuple[str, int, int, int]) -> None:
    made = Outcome(tuple(step.title for step in plan.steps), report=Report(plan, {"conditions": []}))
    run = of_outcome(made, Meter(), 1.0)
    assert (run.outcome, run.applied, run.removed, run.errors["act"]) == told
