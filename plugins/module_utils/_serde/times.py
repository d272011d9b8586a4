# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Instants, intervals, periods and durations, as Druid returns them (Joda-Time, in UTC). Pure."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import is_whole

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def canonical_timestamp(value: Any) -> Any:
    """
    Return ``2026-01-01`` as ``2026-01-01T00:00:00.000Z``, and milliseconds since 1970 likewise.

    An invalid timestamp is returned unchanged: Druid rejects it.
    """
    instant = _instant(value) if isinstance(value, str) else _of_milliseconds(value)
    return value if instant is None else _format(instant)


def _of_milliseconds(value: Any) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=value) if is_whole(value) else None
    except OverflowError:
        return None


def remainder(timestamp: Any, milliseconds: int) -> Any:
    """Return the remainder of a canonical timestamp after whole steps of that length, as a timestamp."""
    instant = _instant(timestamp) if isinstance(timestamp, str) else None
    return timestamp if instant is None else _format(_EPOCH + (instant - _EPOCH) % timedelta(milliseconds=milliseconds))


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


def _ends(text: str) -> tuple[datetime, datetime] | None:
    """Return start and end of an interval, None if it is invalid or Python does not support its years."""
    first, _slash, second = text.partition("/")
    start, end = _instant(first), _instant(second)
    if start is None and end is not None:
        start = _shifted(end, first, -1)
    elif start is not None and end is None:
        end = _shifted(start, second, 1)
    return None if start is None or end is None else (start, end)


_SHORT = {4: "-01-01", 7: "-01"}
_DATE = re.compile(r"\d{4}(?:-\d{2})?")
# a year and the number of a day, which Python does not read
_ORDINAL = re.compile(r"(\d{4})-(\d{3})(T.*)?")


# The notations of Joda-Time: Python reads others, such as 20200101, which is a year there.
_JODA = re.compile(
    r"\d{4}(?:-\d{2}(?:-\d{2})?|-\d{3}|-W\d{2}(?:-\d)?)?"
    r"(?:T\d{2}(?::\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?",
    re.IGNORECASE,
)


def _instant(text: str) -> datetime | None:
    if not _JODA.fullmatch(text):
        return None
    text = text.upper()
    full = text + _SHORT[len(text)] if _DATE.fullmatch(text) else text
    try:
        if ordinal := _ORDINAL.fullmatch(text):
            year, number, time = ordinal.groups(default="")
            day = date(int(year), 1, 1) + timedelta(days=int(number) - 1)
            full = f"{day}{time}" if day.year == int(year) else text
        moment = datetime.fromisoformat(full)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        # the UTC offset may lead to a year that Python does not support
        return None


def _format(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{instant.microsecond // 1000:03}Z"


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


def _shifted(instant: datetime, period: str, sign: int) -> datetime | None:
    """Return the instant a period later or, with a negative sign, earlier; None if that is not possible."""
    parts = _parts(period)
    if parts is None:
        return None
    months = int(parts.get("years", 0)) * 12 + int(parts.get("months", 0))
    seconds = sum((parts[unit] * factor for unit, factor in _SECONDS.items() if unit in parts), Decimal(0))
    try:
        return _months_later(instant, sign * months) + sign * timedelta(seconds=float(seconds))
    except (ValueError, OverflowError):
        return None


def _months_later(instant: datetime, months: int) -> datetime:
    """Return the same day of another month, or its last day if it has fewer days."""
    years, month = divmod(instant.month - 1 + months, 12)
    first = instant.replace(year=instant.year + years, month=month + 1, day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    return first.replace(day=min(instant.day, (following - timedelta(days=1)).day))
