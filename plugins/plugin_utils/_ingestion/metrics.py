# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The metrics of one task about one ingestion, and of all ingestions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.plan import (
    SaveLastApplied,
    Submit,
    Terminate,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.status import is_settled
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.census import Conditions, KindMetrics, Status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.telemetry import Counts, Telemetry

# A batch can run for any time, and a paused ingestion is in the desired state.
_NOT_AWAITED = frozenset({reasons.RUNNING, reasons.PAUSED})


def is_as_desired(conditions: Conditions) -> bool:
    """Return whether the ingestion is in the desired state: ready, suspended or paused, or a running batch."""
    return is_settled(conditions.values()) or conditions["Ready"].get("reason") in _NOT_AWAITED


def highest_lag(statuses: Iterable[Status]) -> float:
    """Return the highest lag of a supervisor in records, as Druid last reported it; 0 if there is none."""
    lags = (status.get("lag") for status in statuses)
    return float(max((lag for lag in lags if isinstance(lag, int)), default=0))


KIND_METRICS = KindMetrics(
    names.KIND,
    "ingestions",
    ("Ready", "Progressing", "Suspended", "Degraded"),
    is_as_desired,
    {"highest_lag_records": highest_lag},
)


def count(plan: Plan[Any]) -> Counts:
    """Return the numbers of objects that the plan applies and removes, in Druid and the ConfigMap."""
    removed = [
        step
        for step in plan.steps
        if isinstance(step, Terminate) or (isinstance(step, SaveLastApplied) and step.record is None)
    ]
    applied = [
        step for step in plan.steps if isinstance(step, DruidChange | Submit | SaveLastApplied) and step not in removed
    ]
    return Counts(len(applied), len(removed))


TELEMETRY = Telemetry(KIND_METRICS, count)
