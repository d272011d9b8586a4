# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there is to tell, as metrics, of one task about one cluster."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils import _metrics
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.counted import COUNTED
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics_meter import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._telemetry import Telemetry

APPLIED = ("create", "update", "recreate")


def of_outcome(outcome: Outcome, meter: Meter, seconds: float) -> _metrics.Run:
    """Return what there is to tell of a task that could be carried out, be it in part."""
    operations = [step.operation for step in outcome.plan.steps]
    return _metrics.Run(
        seconds=seconds,
        outcome=_outcome(outcome),
        phases=meter.phases.seconds,
        errors=_errors(outcome),
        requests=meter.requests,
        applied=sum(operation in APPLIED for operation in operations) + len(outcome.plan.in_druid),
        removed=operations.count("delete"),
    )


def _outcome(outcome: Outcome) -> _metrics.Outcome:
    if _problems(outcome):
        return "with_problems"
    return "changed" if outcome.changed else "unchanged"


def _problems(outcome: Outcome) -> list[str]:
    return [problem.reason for problem in outcome.problems]


def _errors(outcome: Outcome) -> dict[str, int]:
    untold = len(outcome.report.troubles) if outcome.report else 0
    return {"act": _problems(outcome).count(reasons.WRITE_FAILED), "report": untold}


TELEMETRY = Telemetry(COUNTED, of_outcome)
