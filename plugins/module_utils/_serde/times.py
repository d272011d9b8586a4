# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Instants, intervals, periods and durations, as Druid returns them (Joda-Time, in UTC). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import is_whole

# An instant is a number of milliseconds since 1970: Druid supports years that Python does not. The calendar repeats
# itself after 400 years, so that the dates of any year are those of one of the years 2000 to 2399.
_YEARS, _MILLISECONDS = 400, 146_097 * 86_400_000
_EPOCH, _START = datetime(1970, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC)
# Joda-Time: a 64-bit integer.
_END = 2**63


def canonical_timestamp(value: Any) -> Any:
    """
    Return ``2026-01-01`` as ``2026-01-01T00:00:00.000Z``, and milliseconds since 1970 likewise.

    An invalid timestamp is returned unchanged: Druid rejects it.
    """
    instant = _instant(value) if isinstance(value, str) else int(value) if is_whole(value) else None
    return value if instant is None or abs(instant) >= _END else _format(instant)


def remainder(timestamp: Any, milliseconds: int) -> Any:
    """Return the remainder of a canonical timestamp after whole steps of that length, as a timestamp."""
    instant = _instant(timestamp) if isinstance(timestamp, str) else None
    return timestamp if instant is None else _format(instant % milliseconds)


def canonical_interval(text: Any) -> Any:
    """
    Return ``2020/2021-06`` as ``2020-01-01T00:00:00.000Z/2021-06-01T00:00:00.000Z``, and ``2020/P1Y`` likewise.

    An invalid interval is returned unchanged.
    """
    if not isinstance(text, str):
        return text
    ends = _ends(text)
    return "/".join(map(_format, ends) if ends else map(canonical_timestamp, text.split("/")))


def canonical_intervals(intervals: Any) -> Any:
    """Return a list of intervals in canonical form, in its order."""
    return [canonical_interval(each) for each in intervals] if isinstance(intervals, list) else intervals


def _ends(text: str) -> tuple[int, int] | None:
    """Return start and end of an interval, None if it is invalid."""
    first, _slash, second = text.partition("/")
    start, end = _instant(first), _instant(second)
    if start is None and end is not None:
        start = _shifted(end, first, -1)
    elif start is not None and end is None:
        end = _shifted(start, second, 1)
    return None if start is None or end is None else (start, end)


# The notations of Joda-Time: Python reads others, such as 20200101, which is a year there.
_JODA = re.compile(
    r"(?P<year>[+-]?\d{1,9})"
    r"(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?|-(?P<number>\d{3})|-W(?P<week>\d{2})(?:-(?P<weekday>\d))?)?"
    r"(?P<time>T\d{2}(?::\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?",
    re.IGNORECASE,
)


def _instant(text: str) -> int | None:
    match = _JODA.fullmatch(text)
    if match is None:
        return None
    cycles, year = divmod(int(match["year"]) - _START.year, _YEARS)
    try:
        day = _day(_START.year + year, {name: part for name, part in match.groupdict().items() if part})
        moment = datetime.fromisoformat(f"{day}{(match['time'] or '').upper()}")
    except ValueError:
        return None
    return _joined(cycles, moment.replace(tzinfo=moment.tzinfo or UTC))


def _day(year: int, parts: Mapping[str, str]) -> date:
    """Return the day of a year; ValueError if it has no such day."""
    if "week" in parts:
        return date.fromisocalendar(year, int(parts["week"]), int(parts.get("weekday", 1)))
    if "number" not in parts:
        return date(year, int(parts.get("month", 1)), int(parts.get("day", 1)))
    day = date(year, 1, 1) + timedelta(days=int(parts["number"]) - 1)
    if day.year != year:
        raise ValueError(parts["number"])
    return day


def _format(instant: int) -> str:
    cycles, moment = _split(instant)
    year = moment.year + cycles * _YEARS
    return f"{year:0{5 if year < 0 else 4}}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def _split(instant: int) -> tuple[int, datetime]:
    """Return the number of whole calendars since the year 2000, and the date in that one."""
    start = (_START - _EPOCH) // timedelta(milliseconds=1)
    cycles, rest = divmod(instant - start, _MILLISECONDS)
    return cycles, _START + timedelta(milliseconds=rest)


def _joined(cycles: int, moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1) + cycles * _MILLISECONDS


# No part has more digits in Druid (Joda-Time: a 32-bit integer). Python does not convert thousands of digits.
_PERIOD = re.compile(
    r"P(?=.)(?:(?P<years>\d{1,18})Y)?(?:(?P<months>\d{1,18})M)?(?:(?P<weeks>\d{1,18})W)?(?:(?P<days>\d{1,18})D)?"
    r"(?:T(?=.)(?:(?P<hours>\d{1,18})H)?(?:(?P<minutes>\d{1,18})M)?(?:(?P<seconds>\d{1,18}(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)
_SECONDS = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_LETTERS = {"years": "Y", "months": "M", "weeks": "W", "days": "D", "hours": "H", "minutes": "M", "seconds": "S"}


def _parts(period: Any) -> dict[str, Decimal] | None:
    """Return the specified parts of a period, which may be a number of milliseconds, None if it is invalid."""
    if is_whole(period) and period >= 0:
        hours, milliseconds = divmod(Decimal(period), 3_600_000)
        minutes, rest = divmod(milliseconds, 60_000)
        return {"hours": hours, "minutes": minutes, "seconds": rest / 1000}
    match = _PERIOD.fullmatch(period) if isinstance(period, str) else None
    return match and {unit: Decimal(number) for unit, number in match.groupdict().items() if number is not None}


def canonical_duration(period: Any) -> Any:
    """
    Return ``PT1H`` as ``PT3600S``, the form of Druid's GET (``Period.toStandardDuration``).

    A period with months or years, which have no fixed length, and an invalid one are returned unchanged: Druid rejects
    them.
    """
    parts = _parts(period)
    if parts is None or parts.get("years") or parts.get("months"):
        return period
    length = sum((parts[unit] * factor for unit, factor in _SECONDS.items() if unit in parts), Decimal(0))
    seconds, rest = divmod(int(length * 1000), 1000)
    return f"PT{seconds}.{rest:03}S" if rest else f"PT{seconds}S"


def canonical_period(period: Any) -> Any:
    """Return ``p1dt0h`` as ``P1D``: in capitals, without the parts that are zero. ``P0D`` is ``PT0S``."""
    parts = _parts(period)
    if parts is None:
        return period
    present = {unit: f"{_digits(number)}{_LETTERS[unit]}" for unit, number in parts.items() if number}
    date = "".join(text for unit, text in present.items() if unit not in _OF_TIME)
    time = "".join(text for unit, text in present.items() if unit in _OF_TIME)
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"


def _digits(number: Decimal) -> str:
    """Return a number as Joda-Time does: without a fraction, or with milliseconds."""
    return f"{int(number * 1000) / Decimal(1000):.3f}" if number % 1 else str(int(number))


_OF_TIME = ("hours", "minutes", "seconds")


def _shifted(instant: int, period: str, sign: int) -> int | None:
    """Return the instant a period later or, with a negative sign, earlier; None if that is not possible."""
    parts = _parts(period)
    if parts is None:
        return None
    months = int(parts.get("years", 0)) * 12 + int(parts.get("months", 0))
    seconds = sum((parts[unit] * factor for unit, factor in _SECONDS.items() if unit in parts), Decimal(0))
    shifted = _months_later(instant, sign * months) + sign * int(seconds * 1000)
    return shifted if abs(shifted) < _END else None


def _months_later(instant: int, months: int) -> int:
    """Return the same day of another month, or its last day if it has fewer days."""
    cycles, moment = _split(instant)
    years, month = divmod(moment.month - 1 + months, 12)
    more, year = divmod(moment.year - _START.year + years, _YEARS)
    first = moment.replace(year=_START.year + year, month=month + 1, day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    return _joined(cycles + more, first.replace(day=min(moment.day, (following - timedelta(days=1)).day)))
