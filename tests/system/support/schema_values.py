# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values for each field of a structural schema: of each kind, and at the limits of each type. Nothing is validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]
# The names of fields; ANY for the values of a mapping and the elements of a list.
Path = tuple[str, ...]
ANY = "*"
KEY = "a"

_LIMITS = [sign * 2**bits + more for bits in (31, 63) for sign in (-1, 1) for more in (-1, 0)]
INTEGERS: list[Any] = [0, 1, -1, 1.0, 1.5, 1e18, *_LIMITS]
BOOLEANS = [True, False]
STRINGS = ["", KEY, "1", "\n"]
QUANTITIES = ["1", "1.", ".5", "+1", "-1", "1Ki", "1n", "1E", "1e3", "1E-3", "1e1.5", "1e.5", "1e999", "9" * 50]
QUANTITIES += [f"1e{sign}{'9' * digits}" for sign in ("", "-") for digits in (9, 12, 30)]
TIME = "2026-01-01T00:00:00Z"
TIMES = [
    f"2026-01-01{rest}"
    for rest in ("", "T00:00:00", "T00:00:00Z", "t00:00:00z", "T00:00:00.5Z", "T00:00:00,5Z", "T00:00:00x5Z")
]
TIMES += [f"2026-01-01T00:00:00{offset}" for offset in ("+14:00", "-23:59", "+24:00", "+99:99")]
TIMES += ["0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-12-31T23:59:60Z", "2026-12-31T24:00:00Z"]
FREE = [{}, {KEY: None}, {KEY: [None, 1.5, 2**63, {}, ""]}]


def fields(schema: Schema, path: Path = ()) -> Iterator[tuple[Path, Schema]]:
    """Yield this field and each one inside it."""
    yield path, schema
    for name, inside in schema.get("properties", {}).items():
        yield from fields(inside, (*path, name))
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from fields(schema[keyword], (*path, ANY))


def values(schema: Schema) -> Sequence[Any]:
    """Return values of each kind that the field may have, and null."""
    return [None, *schema.get("enum", ()), *_values(schema)]


def _values(schema: Schema) -> Sequence[Any]:
    if schema.get("x-kubernetes-int-or-string"):
        return [*INTEGERS, *STRINGS, *QUANTITIES]
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return FREE
    if schema.get("format") == "date-time":
        return TIMES
    of_type = {"integer": INTEGERS, "boolean": BOOLEANS, "string": STRINGS, "array": [[], [None]]}
    return of_type.get(schema.get("type", ""), [least(schema), {}, {KEY: None}])


def least(schema: Schema) -> Any:
    """Return a value with the required fields only."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: least(schema["properties"][name]) for name in schema.get("required", ())}
    if schema.get("format") == "date-time":
        return TIME
    of_type = {"integer": max(1, schema.get("minimum", 1)), "boolean": True, "array": []}
    return of_type.get(schema.get("type", ""), KEY)


def holding(schema: Schema, path: Path, value: Any) -> Any:
    """Return a value with the required fields, and this value at the path."""
    if not path:
        return value
    inside = holding(at(schema, path[:1]), path[1:], value)
    if "items" in schema:
        return [inside]
    return {**least(schema), KEY if path[0] == ANY else path[0]: inside}


def at(schema: Schema, path: Path) -> Schema:
    """Return the schema of the field at the path."""
    for step in path:
        schema = schema["properties"][step] if "properties" in schema else _any(schema)
    return schema


def _any(schema: Schema) -> Schema:
    """Return the schema of the elements of a list or of the values of a mapping."""
    found: Schema = schema["items"] if "items" in schema else schema["additionalProperties"]
    return found
