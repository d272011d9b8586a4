# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one form in which Druid returns a value that it accepts in several: case, sets, sizes, numbers. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def lower(value: Any) -> Any:
    """Return an enum whose values Druid returns in lower case."""
    return value.lower() if isinstance(value, str) else value


def upper(value: Any) -> Any:
    """Return an enum whose values Druid returns in upper case."""
    return value.upper() if isinstance(value, str) else value


_SIMPLE_TYPES = re.compile(r"(ARRAY<)*(STRING|LONG|FLOAT|DOUBLE)>*", re.IGNORECASE)


def column_type(value: Any) -> Any:
    """Return a column type in capitals. Druid ignores or rejects an array in lower case (``ColumnType``)."""
    return value.upper() if isinstance(value, str) and _SIMPLE_TYPES.fullmatch(value) else value


def text(value: Any) -> Any:
    """Return a number or a boolean as the string that Druid reads it as."""
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def texts(mapping: Any) -> Any:
    """Return a mapping with its numbers and booleans as strings."""
    return {name: text(value) for name, value in mapping.items()} if isinstance(mapping, Mapping) else mapping


def sorted_texts(values: Any) -> Any:
    """Return a set of strings, which may have null, as Druid returns it: sorted, null first."""
    if not isinstance(values, list):
        return values
    found = [text(value) for value in values]
    strings = {value for value in found if isinstance(value, str)}
    others = [value for value in found if value is not None and not isinstance(value, str)]
    return [*([None] if None in found else []), *sorted(strings), *others]


def sorted_set(value: Any) -> Any:
    """Return a set as a sorted list. Druid returns sets in any order, and also accepts a comma-separated string."""
    elements = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(elements, list) or not all(isinstance(each, str) for each in elements):
        return value
    return sorted({each for each in elements if each})


def sorted_sets(mapping: Any) -> Any:
    """Return a mapping of sets."""
    return {name: sorted_set(value) for name, value in mapping.items()} if isinstance(mapping, Mapping) else mapping


# Druid's HumanReadableBytes.
_BYTES = re.compile(r"(\d{1,19})(?:([KMGTP])(iB)?)?", re.IGNORECASE)
_EXPONENTS = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def number_of_bytes(value: Any) -> Any:
    """Return ``1KiB`` as 1024, and ``1K`` as 1000."""
    match = _BYTES.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return value
    number, unit, binary = match.groups()
    if unit is None:
        return int(number)
    base = 1024 if binary else 1000
    return int(number) * int(base ** _EXPONENTS[unit.upper()])


def bounded(number: Any, *, at_least: int | None = None, at_most: int | None = None) -> Any:
    """Return an integer, which may be a string, limited to the bounds, and any other value unchanged."""
    try:
        found = int(number)
    except (TypeError, ValueError, OverflowError):
        return number
    if at_least is not None and found < at_least:
        return at_least
    return at_most if at_most is not None and found > at_most else number


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer. In Python, a boolean is one as well."""
    return isinstance(value, int) and not isinstance(value, bool)


def whole(value: Any) -> Any:
    """Return 2.0 as 2, and any other value unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_true(value: Any) -> bool:
    """Return whether Druid reads a value as true."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def is_false(value: Any) -> bool:
    """Return whether Druid reads a value as false, which null is as well."""
    return value is None or value is False or (isinstance(value, str) and value.lower() == "false")
