# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is to tell of a task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.metrics import TELEMETRY
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.definitions import Run
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import Report

OBJECT = {"kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}}
FAILED = Finding(reasons.APPLY_FAILED, "It failed.")
WISH = Finding(reasons.PAUSED, "As you like.", is_problem=False)
NOTHING = Run(1.0, "unchanged", errors={"act": 0, "report": 0})


def outcome(*operations: Any, findings: tuple[Finding, ...] = (), **report: Any) -> Outcome[Plan]:
    plan = Plan(tuple(Step(each, OBJECT) for each in operations), findings)
    return Outcome(plan, bool(operations), report=Report(plan, {"conditions": []}, **report))


ROWS: list[tuple[str, Outcome[Plan], Run]] = [
    ("nothing to do", outcome(), NOTHING),
    ("not even a report", Outcome(Plan()), NOTHING),
    ("as the user wishes", outcome(findings=(WISH,)), NOTHING),
    (
        "objects",
        outcome("create", "update", "recreate", "delete", "patch"),
        replace(NOTHING, outcome="changed", applied=3, removed=1),
    ),
    (
        "in part",
        outcome("create", findings=(FAILED, FAILED)),
        replace(NOTHING, outcome="blocked", applied=1, errors={"act": 2, "report": 0}),
    ),
    ("untold", outcome(reporting_errors=("x",)), replace(NOTHING, errors={"act": 0, "report": 1})),
    (
        "a deletion that failed",
        Outcome(Plan(findings=(FAILED,))),
        replace(NOTHING, outcome="blocked", errors={"act": 1, "report": 0}),
    ),
]


@pytest.mark.parametrize(("made", "run"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_outcome(made: Outcome[Plan], run: Run) -> None:
    assert TELEMETRY.measure(made, Meter(), 1.0) == run


def test_what_was_measured_is_told() -> None:
    meter = Meter()
    meter.requests["kubernetes_reads"] = 2
    meter.phases.seconds["observe"] = 0.5
    told = TELEMETRY.measure(outcome(), meter, 1.0)
    assert (told.requests, told.phases) == ({"kubernetes_reads": 2}, {"observe": 0.5})
