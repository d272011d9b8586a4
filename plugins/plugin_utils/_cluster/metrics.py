# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of one task about one cluster, and of all clusters."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.outcome import Outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import is_settled
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics import definitions
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.census import Conditions, KindMetrics, is_true
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.collector import Meter
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import Telemetry


def is_as_desired(conditions: Conditions) -> bool:
    """Return whether the cluster is in the desired state: ready, stopped or paused."""
    return is_settled(conditions.values()) or is_true(conditions, "Paused")


KIND_METRICS = KindMetrics(names.KIND, "clusters", ("Ready", "Progressing", "Degraded", "Paused"), is_as_desired)

APPLIED = ("create", "update", "recreate")


def run_metrics(outcome: Outcome, meter: Meter, seconds: float) -> definitions.Run:
    """Return the metrics of a task that ran, even in part."""
    operations = [step.operation for step in outcome.plan.steps]
    return definitions.Run(
        seconds=seconds,
        outcome=_outcome(outcome),
        phases=meter.phases.seconds,
        errors=_errors(outcome),
        requests=meter.requests,
        applied=sum(operation in APPLIED for operation in operations) + len(outcome.plan.in_druid),
        removed=operations.count("delete"),
    )


def _outcome(outcome: Outcome) -> definitions.Outcome:
    if _problems(outcome):
        return "blocked"
    return "changed" if outcome.changed else "unchanged"


def _problems(outcome: Outcome) -> list[str]:
    return [problem.reason for problem in outcome.problems]


def _errors(outcome: Outcome) -> dict[str, int]:
    reporting_errors = len(outcome.report.reporting_errors) if outcome.report else 0
    return {"act": _problems(outcome).count(reasons.APPLY_FAILED), "report": reporting_errors}


TELEMETRY = Telemetry(KIND_METRICS, run_metrics)
