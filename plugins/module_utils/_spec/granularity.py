# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Granularities, which Druid takes in several notations and gives back in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Druid's GranularityType: the period that each name stands for.
_PERIODS = {
    "SECOND": "PT1S",
    "MINUTE": "PT1M",
    "FIVE_MINUTE": "PT5M",
    "TEN_MINUTE": "PT10M",
    "FIFTEEN_MINUTE": "PT15M",
    "THIRTY_MINUTE": "PT30M",
    "HOUR": "PT1H",
    "SIX_HOUR": "PT6H",
    "EIGHT_HOUR": "PT8H",
    "DAY": "P1D",
    "WEEK": "P1W",
    "MONTH": "P1M",
    "QUARTER": "P3M",
    "YEAR": "P1Y",
}
_NAMES = {period: name for name, period in _PERIODS.items()}
_WITHOUT_PERIOD = ("NONE", "ALL")


def canonical_granularity(granularity: Any) -> Any:
    """Return a granularity as Druid's GET has it: ``hour`` as ``HOUR``, ``none`` as ``{"type": "none"}``."""
    if isinstance(granularity, str):
        return _canonical_name(granularity)
    if not isinstance(granularity, Mapping) or granularity.get("type") != "period":
        return granularity
    is_plain = granularity.get("timeZone") in (None, "UTC") and granularity.get("origin") is None
    period = granularity.get("period")
    return _NAMES.get(period, granularity) if is_plain and isinstance(period, str) else granularity


def _canonical_name(name: str) -> Any:
    upper = name.upper()
    if upper in _WITHOUT_PERIOD:
        return {"type": upper.lower()}
    return upper if upper in _PERIODS else name
