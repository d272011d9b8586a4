# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sizes in bytes as Druid reads them (HumanReadableBytes): an integer, optionally with a unit."""

from __future__ import annotations

import re
from typing import Any

_SIZE = re.compile(r"([0-9]{1,19}) *(?:([kmgtp])(?:(i)b?)?)?", re.IGNORECASE)
_UNITS = "kmgtp"


def parse_bytes(value: Any) -> int | None:
    """Return the number of bytes: ``1200g`` are decimal, ``2GiB`` binary units; None if it is not a size."""
    match = None if isinstance(value, bool) else _SIZE.fullmatch(str(value).strip())
    if match is None:
        return None
    number, unit, is_binary = match.groups()
    factor = 1 if unit is None else (1024 if is_binary else 1000) ** (_UNITS.index(unit.lower()) + 1)
    return int(number) * factor
