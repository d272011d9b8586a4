# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values that Druid accepts in several forms, and returns in one. Pure.

These are times, intervals, durations and granularities; and in a data schema, dimensions, fields, exclusions, filters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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


def canonical_dimensions(dimensions: Any) -> Any:
    """Return the list of dimensions as Druid's GET has it: ``"page"`` as ``{"type": "string", "name": "page"}``."""
    if not isinstance(dimensions, list):
        return dimensions
    return [_canonical_dimension(each) for each in dimensions]


def _canonical_dimension(dimension: Any) -> Any:
    if isinstance(dimension, str):
        return {"type": "string", "name": dimension}
    if not isinstance(dimension, Mapping):
        return dimension
    handling = dimension.get("multiValueHandling")
    in_capitals = {"multiValueHandling": handling.upper()} if isinstance(handling, str) else {}
    return {"type": "string", **dimension, **in_capitals}


def canonical_flatten_fields(fields: Any) -> Any:
    """Return the fields of a ``flattenSpec`` as Druid's GET has them: ``"a"`` as one of type ``root``."""
    if not isinstance(fields, list):
        return fields
    return [{"type": "root", "name": each, "expr": each} if isinstance(each, str) else each for each in fields]


def specified_exclusions(data_schema: Mapping[str, Any]) -> list[str] | None:
    """
    Return the ``dimensionExclusions`` that the user has specified, sorted, or None if there is no list.

    Druid adds the time column and the columns of the metrics to the specified list (``DataSchema``).
    """
    exclusions = _mapping(data_schema, "dimensionsSpec").get("dimensionExclusions")
    if not isinstance(exclusions, list):
        return None
    return sorted({each for each in exclusions if isinstance(each, str)} - set(_excluded_by_druid(data_schema)))


def _excluded_by_druid(data_schema: Mapping[str, Any]) -> Iterator[str]:
    column = _mapping(data_schema, "timestampSpec").get("column")
    yield column if isinstance(column, str) and column else "timestamp"
    # Druid's name of the time column
    yield "__time"
    metrics = data_schema.get("metricsSpec")
    for metric in metrics if isinstance(metrics, list) else ():
        yield from _input_columns(metric) if isinstance(metric, Mapping) else ()


def _input_columns(metric: Mapping[str, Any]) -> Iterator[str]:
    names = metric.get("fieldNames")
    specified = (metric.get("name"), metric.get("fieldName"), *(names if isinstance(names, list) else ()))
    yield from (name for name in specified if isinstance(name, str))


def _mapping(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    child = parent.get(name)
    return child if isinstance(child, Mapping) else {}


def canonical_filters(document: Any) -> Any:
    """Return ``document`` with the values of ``in`` filters sorted, and orderings as ``{"type": "numeric"}``."""
    if isinstance(document, list):
        return [canonical_filters(element) for element in document]
    if not isinstance(document, Mapping):
        return document
    inside = {name: canonical_filters(value) for name, value in document.items()}
    return {**inside, **_sorted_values(inside), **_ordering(inside)}


def _sorted_values(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Druid stores them as a sorted set of strings, null first (``InDimFilter.ValuesSet``)."""
    values = mapping.get("values")
    if mapping.get("type") != "in" or not isinstance(values, list):
        return {}
    texts = {value for value in values if isinstance(value, str)}
    others = [value for value in values if value is not None and not isinstance(value, str)]
    return {"values": [*([None] if None in values else []), *sorted(texts), *others]}


def _ordering(mapping: Mapping[str, Any]) -> dict[str, Any]:
    ordering = mapping.get("ordering")
    return {"ordering": {"type": ordering.lower()}} if isinstance(ordering, str) else {}
