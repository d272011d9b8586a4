# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values in the formats of Kubernetes, Druid, Go and Java: quantities, sizes, durations, properties. Pure."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

# The message about any other value, and its remedy.
INVALID_QUANTITY = "is not a valid quantity"
QUANTITY_REMEDY = (
    "use a number, optionally with a suffix such as m, k, Mi or Gi, without a space and without B (500m, 768Mi)"
)
_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][+-]?[0-9]+)|(m|n|u|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?"
)
_BINARY = {suffix: Decimal(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_FACTORS = {
    **{
        suffix: Decimal(1000) ** power
        for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -3)
    },
    **_BINARY,
}


def parse_quantity(value: Any) -> Decimal | None:
    """Return the amount of ``value`` (string or number); None if it is not a valid quantity."""
    if isinstance(value, bool):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    try:
        return Decimal(number + (exponent or "")) * _FACTORS[suffix or ""]
    except ArithmeticError:
        # The exponent is out of range.
        return None


def binary_size(amount: Decimal) -> str:
    """Return the amount as the server writes sizes, in the largest binary unit that it is a multiple of: ``2Gi``."""
    units = (suffix for suffix, factor in reversed(_BINARY.items()) if amount and not amount % factor)
    suffix = next(units, "")
    return f"{amount / _FACTORS[suffix]:f}{suffix}"


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


_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|us|µs|ns|s)")


def seconds_of(text: str) -> float:
    """Return the seconds of a duration; 0 if it is not one."""
    parts = _PART.findall(text)
    if "".join(number + unit for number, unit in parts) != text:
        return 0
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


_LINE_CONTINUATION = re.compile(r"(?<!\\)(?:\\\\)*\\\n[ \t\f]*")
_ENTRY = re.compile(r"(?P<name>(?:\\.|[^\\=: \t\f])+)[ \t\f]*[=:]?[ \t\f]*(?P<value>.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def properties(text: str) -> dict[str, str]:
    """Return the entries; the last one of a duplicate name."""
    lines = _LINE_CONTINUATION.sub(_joined, text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    entries = (
        _ENTRY.fullmatch(line.lstrip(" \t\f")) for line in lines if line.strip(" \t\f")[:1] not in ("#", "!", "")
    )
    return {_plain(entry["name"]): _plain(entry["value"]) for entry in entries if entry}


def _joined(match: re.Match[str]) -> str:
    """Keep the pairs of backslashes before the line continuation."""
    return match.group().partition("\n")[0][:-1]


def _plain(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    escaped = match.group(1)
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _LETTERS.get(escaped, escaped)
