# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Timestamps, intervals, durations and granularities: Druid accepts several forms, and returns one. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any


def canonical_timestamp(text: Any) -> Any:
    """Return ``2026-01-01`` as ``2026-01-01T00:00:00.000Z``, and an invalid timestamp unchanged: Druid rejects it."""
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text)
        in_utc = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        # the UTC offset may lead to a year that Python does not support
        return text
    return f"{in_utc:%Y-%m-%dT%H:%M:%S}.{in_utc.microsecond // 1000:03}Z"


_SHORT = {4: "-01-01", 7: "-01"}
_DATE = re.compile(r"\d{4}(?:-\d{2})?")


def canonical_interval(text: Any) -> Any:
    """
    Return ``2020/2021-06`` as ``2020-01-01T00:00:00.000Z/2021-06-01T00:00:00.000Z``.

    An interval with a period, and an invalid one, are returned unchanged.
    """
    if not isinstance(text, str):
        return text
    return "/".join(canonical_timestamp(_with_day(part)) for part in text.split("/"))


def _with_day(part: str) -> str:
    return part + _SHORT[len(part)] if _DATE.fullmatch(part) else part


# No part has more digits in Druid (Joda-Time: a 32-bit integer). Python does not convert thousands of digits.
_PERIOD = re.compile(
    r"P(?=.)(?:(?P<weeks>\d{1,18})W)?(?:(?P<days>\d{1,18})D)?"
    r"(?:T(?=.)(?:(?P<hours>\d{1,18})H)?(?:(?P<minutes>\d{1,18})M)?(?:(?P<seconds>\d{1,18}(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)
_SECONDS = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}


def canonical_duration(period: Any) -> Any:
    """
    Return ``PT1H`` as ``PT3600S``, the form of Druid's GET (``Period.toStandardDuration``).

    A period with months or years, which have no fixed length, and an invalid one are returned unchanged: Druid rejects
    them.
    """
    match = _PERIOD.fullmatch(period) if isinstance(period, str) else None
    if match is None:
        return period
    parts = {unit: Decimal(text) for unit, text in match.groupdict().items() if text is not None}
    milliseconds = int(sum((parts[unit] * _SECONDS[unit] for unit in parts), Decimal(0)) * 1000)
    seconds, rest = divmod(milliseconds, 1000)
    return f"PT{seconds}.{rest:03}S" if rest else f"PT{seconds}S"


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
