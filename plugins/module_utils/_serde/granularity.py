# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Granularities, and the granularitySpec of a data schema (``java.util.common.granularity``). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    DruidClass,
    Json,
    Kind,
    in_form,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import is_whole, whole
from ansible_collections.druidops.druid.plugins.module_utils._serde.time_zones import canonical_time_zone
from ansible_collections.druidops.druid.plugins.module_utils._serde.times import (
    canonical_intervals,
    canonical_period,
    canonical_timestamp,
    remainder,
)

# Druid's GranularityType: the period of each name.
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
        return _of_name(granularity)
    if not isinstance(granularity, Mapping):
        return granularity
    if granularity.get("type") == "duration":
        return _of_duration(granularity)
    return _of_period(granularity) if granularity.get("type") == "period" else granularity


def _of_name(name: str) -> Any:
    upper = name.upper()
    if upper in _WITHOUT_PERIOD:
        return {"type": upper.lower()}
    return upper if upper in _PERIODS else name


def _of_period(granularity: Json) -> Any:
    origin, period = granularity.get("origin"), canonical_period(granularity.get("period"))
    zone = canonical_time_zone(granularity.get("timeZone"))
    if zone in (None, "UTC") and origin is None and isinstance(period, str) and period in _NAMES:
        return _NAMES[period]
    in_zone = {"timeZone": zone} if "timeZone" in granularity else {}
    since = {} if origin is None else {"origin": canonical_timestamp(origin)}
    return {**granularity, "period": period, **in_zone, **since}


def _of_duration(granularity: Json) -> Any:
    """Druid reduces the origin to its remainder (``DurationGranularity``)."""
    length, origin = granularity.get("duration"), granularity.get("origin")
    number = int(length) if isinstance(length, str) and length.isdecimal() else whole(length)
    if origin is None and "origin" in granularity:
        origin = 0
    if origin is None or not is_whole(number) or number <= 0:
        return {**granularity, "duration": number}
    return {**granularity, "duration": number, "origin": remainder(canonical_timestamp(origin), number)}


SPEC = DruidClass(
    "indexer.granularity.UniformGranularitySpec",
    {
        "segmentGranularity": in_form(canonical_granularity),
        "queryGranularity": in_form(canonical_granularity),
        "intervals": in_form(canonical_intervals),
    },
)
KINDS: Mapping[str, Kind] = {
    "granularitySpec": Kind({"": SPEC}, types={"UNIFORM": "uniform"}),
    # the defaults of compaction are those of the existing segments
    "compactionGranularitySpec": Kind(
        {
            "": DruidClass(
                "server.coordinator.UserCompactionTaskGranularityConfig",
                {name: in_form(canonical_granularity) for name in ("segmentGranularity", "queryGranularity")},
            )
        }
    ),
}
