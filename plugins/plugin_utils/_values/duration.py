# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations as Go writes them, such as ``1h30m``. Pure."""

from __future__ import annotations

import re

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|us|µs|ns|s)")


def seconds_of(text: str) -> float:
    """Return the seconds of a duration; 0 if it is not one."""
    parts = _PART.findall(text)
    if "".join(number + unit for number, unit in parts) != text:
        return 0
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
