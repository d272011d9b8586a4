# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of a task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import Run
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.task import measure
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.steps_of import step_of

OBJECT = {"kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}}
FAILED = Finding(reasons.APPLY_FAILED, "It failed.")
REQUESTED = Finding(reasons.PAUSED, "Requested by the user.", is_problem=False, rank=Rank.PAUSED)
NOTHING = Run(1.0, "unchanged", errors={"act": 0, "report": 0})


def outcome(*operations: Any, findings: tuple[Finding, ...] = (), **report: Any) -> Outcome[Plan]:
    plan = Plan(tuple(step_of(each, OBJECT) for each in operations), findings)
    return Outcome(plan, bool(operations), report=Report(plan, {"conditions": []}, **report))


ROWS: list[tuple[str, Outcome[Plan], Run]] = [
    ("nothing to do", outcome(), NOTHING),
    ("no report", Outcome(Plan()), NOTHING),
    ("requested by the user", outcome(findings=(REQUESTED,)), NOTHING),
    (
        "objects",
        outcome("create", "update", "recreate", "delete", "patch"),
        replace(NOTHING, outcome="changed", applied=3, removed=1),
    ),
    (
        "partially applied",
        outcome("create", findings=(FAILED, FAILED)),
        replace(NOTHING, outcome="blocked", applied=1, errors={"act": 2, "report": 0}),
    ),
    ("a failed report", outcome(reporting_errors=("x",)), replace(NOTHING, errors={"act": 0, "report": 1})),
    (
        "a failed deletion",
        Outcome(Plan(findings=(FAILED,))),
        replace(NOTHING, outcome="blocked", errors={"act": 1, "report": 0}),
    ),
]


@pytest.mark.parametrize(("result", "run"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_run_of_an_outcome(result: Outcome[Plan], run: Run) -> None:
    assert measure(DRUID, result, Meter(), 1.0) == run


def test_requests_and_phases_are_included() -> None:
    meter = Meter()
    meter.requests["kubernetes_reads"] = 2
    meter.phases.seconds["observe"] = 0.5
    run = measure(DRUID, outcome(), meter, 1.0)
    assert (run.requests, run.phases) == ({"kubernetes_reads": 2}, {"observe": 0.5})
