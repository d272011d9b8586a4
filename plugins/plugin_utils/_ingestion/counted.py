# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is told of all ingestions."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._census import Conditions, Counted, Status
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.status import is_reached

# A batch may take as long as it takes, and what is paused is not awaited.
_PATIENT = frozenset({reasons.RUNNING, reasons.PAUSED})


def is_as_wanted(conditions: Conditions) -> bool:
    """Return whether nobody waits for the ingestion: it is ready, suspended or paused, or its batch runs."""
    return is_reached(conditions.values()) or conditions["Ready"].get("reason") in _PATIENT


def highest_lag(statuses: Iterable[Status]) -> float:
    """Return the most records that a supervisor is behind, as Druid has said last; 0 where none is, or none says."""
    lags = (status.get("lag") for status in statuses)
    return float(max((lag for lag in lags if isinstance(lag, int)), default=0))


COUNTED = Counted(
    names.KIND,
    "ingestions",
    ("Ready", "Progressing", "Suspended", "Degraded"),
    is_as_wanted,
    {"highest_lag_records": highest_lag},
)
