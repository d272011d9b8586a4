# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the two sides of a diff in a result differ, and whether that is expected. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

Place = tuple[Any, ...]
Result = dict[str, Any]


def leaves_of(result: Result) -> dict[Place, tuple[Any, Any]]:
    """Return the paths at which the two sides of the diff differ, with both values."""
    return {
        place: pair for diff in result.get("diff", ()) for place, pair in differing(diff["before"], diff["after"], ())
    }


def nulls_of(result: Result) -> set[Place]:
    """Return the places of the nulls that are sent, for each of which Druid has a default that is not predicted."""
    return {place for diff in result.get("diff", ()) for place in nulls_in(diff["after"], ())}


def nulls_in(document: Any, place: Place) -> Iterator[Place]:
    """Yield the places of the nulls in a document."""
    if document is None:
        yield place
    pairs = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in pairs:
        yield from nulls_in(value, (*place, key))


def unexpected(
    found: Mapping[Place, tuple[Any, Any]], expected: Mapping[Place, Any], also: Mapping[Place, Any]
) -> Iterator[str]:
    """Yield the leaves that differ unexpectedly, and those that should differ and do not."""
    for place, pair in found.items():
        if not any(overlap(place, each) for each in expected):
            yield f"also changes {shown({place: pair})}"
    for place, value in expected.items():
        inside = {each: found[each][1] for each in found if overlap(each, place)}
        if not inside:
            yield f"does not change {_text(place)}"
        elif place in inside and not (
            holds(inside[place], value) or (place in also and holds(inside[place], also[place]))
        ):
            yield f"changes {_text(place)} to {inside[place]!r}, not {value!r}"


def holds(found: Any, expected: Any) -> bool:
    """True if all specified values are there; Druid adds others."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        return all(name in found and holds(found[name], value) for name, value in expected.items())
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(holds(*pair) for pair in zip(found, expected, strict=True))
    return json.dumps(found) == json.dumps(expected)


def overlap(one: Place, other: Place) -> bool:
    """Return whether one of the places is the other one, or in it."""
    return all(a == b for a, b in zip(one, other, strict=False))


def _text(place: Place) -> str:
    return "/".join(str(each) for each in place)


def shown(leaves: Mapping[Place, tuple[Any, Any]]) -> str:
    """Return the text for a problem."""
    return "; ".join(f"{_text(place)}: {before!r} -> {after!r}" for place, (before, after) in leaves.items())


def differing(before: Any, after: Any, place: Place) -> Iterator[tuple[Place, tuple[Any, Any]]]:
    """Yield place and values of each leaf that differs, at the level at which the structures differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys(), key=str):
            yield from differing(before.get(key), after.get(key), (*place, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from differing(*pair, (*place, index))
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
        yield place, (before, after)
