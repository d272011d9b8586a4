# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations, which Druid takes as ISO 8601 periods and gives back in seconds."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

# No part of one has more digits in Druid (Joda-Time: a whole number of 32 bits); Python makes no text of thousands.
_PERIOD = re.compile(
    r"P(?=.)(?:(?P<weeks>\d{1,18})W)?(?:(?P<days>\d{1,18})D)?"
    r"(?:T(?=.)(?:(?P<hours>\d{1,18})H)?(?:(?P<minutes>\d{1,18})M)?(?:(?P<seconds>\d{1,18}(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)
_SECONDS = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}


def in_seconds(period: Any) -> Any:
    """
    Return ``PT1H`` as ``PT3600S``, the form of Druid's GET (``Period.toStandardDuration``).

    What has months or years, which have no length, or is no period at all is returned as it is: Druid refuses it.
    """
    match = _PERIOD.fullmatch(period) if isinstance(period, str) else None
    if match is None:
        return period
    parts = {unit: Decimal(text) for unit, text in match.groupdict().items() if text is not None}
    milliseconds = int(sum((parts[unit] * _SECONDS[unit] for unit in parts), Decimal(0)) * 1000)
    seconds, rest = divmod(milliseconds, 1000)
    return f"PT{seconds}.{rest:03}S" if rest else f"PT{seconds}S"
