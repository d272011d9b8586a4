# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations as Go writes them: 1h30m, 1.5s, 100ms."""

from __future__ import annotations

import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)")


def seconds(text: object) -> float:
    """The duration in seconds; a ValueError for what Go's time.ParseDuration does not take."""
    if not isinstance(text, str):
        raise ValueError(f"a duration is a string such as 5m, not {text!r}")
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    parts = _PART.findall(rest)
    if not rest or "".join(number + unit for number, unit in parts) != rest:
        raise ValueError(f"{text!r} is no duration such as 5m")
    return sign * sum(float(number) * _SECONDS[unit] for number, unit in parts)
