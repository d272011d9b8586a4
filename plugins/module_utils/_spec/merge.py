# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What there will be: the specification of a user merged into the one that Druid has. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

# Mappings that Druid keeps as they were sent: there the number 1 and the text "1" are two things.
VERBATIM = frozenset({"context", "taskContext", "queryContext", "consumerProperties", "parser"})


def merge(before: Any, desired: Any) -> Any:
    """
    Return ``desired`` laid over ``before``, both JSON in canonical form.

    Mappings are merged deeply, except where their types differ. A list is replaced as a whole; an element that was
    in it, by its name or because nothing that is stated is different, keeps what it had beside that. Null takes a
    value away, and is nothing where there is none. A value that Druid would read as the same (``"2"`` and 2) stays as
    it is, so that the result is the same as ``before`` exactly when nothing would change, and a number that is stated
    as text becomes one.
    """
    if isinstance(before, Mapping) and isinstance(desired, Mapping) and not differ_in_type(before, desired):
        return _merge_mappings(before, desired)
    if isinstance(before, list) and isinstance(desired, list):
        return _merge_lists(before, desired)
    if _are_equivalent(before, desired):
        return before
    return _as_number(desired) if isinstance(before, int | float) else desired


def are_same(one: Any, other: Any) -> bool:
    """True if both are the same JSON, where true and 1 are two things."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def differ_in_type(before: Mapping[str, Any], desired: Mapping[str, Any]) -> bool:
    """Another type of input format, filter or aggregator is another thing, which keeps nothing of the old one."""
    one, other = before.get("type"), desired.get("type")
    return isinstance(one, str) and isinstance(other, str) and one != other


def _merge_mappings(before: Mapping[str, Any], desired: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(before)
    for name, value in desired.items():
        if name not in before:
            merged.update({} if value is None else {name: value})
        elif name in VERBATIM:
            merged[name] = _merge_verbatim(before[name], value)
        else:
            merged[name] = merge(before[name], value)
    return merged


def _merge_verbatim(before: Any, desired: Any) -> Any:
    if not (isinstance(before, Mapping) and isinstance(desired, Mapping)):
        return desired
    specified = {name: value for name, value in desired.items() if name in before or value is not None}
    return {**before, **specified}


def _merge_lists(before: list[Any], desired: list[Any]) -> list[Any]:
    existing_names, desired_names = _names(before), _names(desired)
    if existing_names is not None and desired_names is not None:
        by_name = dict(zip(existing_names, before, strict=True))
        return [merge(by_name.get(name), element) for name, element in zip(desired_names, desired, strict=True)]
    if any(isinstance(element, Mapping) for element in desired):
        return _match_existing(before, desired)
    return [merge(old, element) for old, element in zip_longest(before[: len(desired)], desired)]


def _match_existing(before: list[Any], desired: list[Any]) -> list[Any]:
    """Return the desired elements, each as Druid has it if it has it: a new one takes nothing from another one."""
    remaining, found = list(before), []
    for element in desired:
        same = next((index for index, old in enumerate(remaining) if are_same(merge(old, element), old)), None)
        found.append(element if same is None else remaining.pop(same))
    return found


def _names(elements: list[Any]) -> list[str] | None:
    """Return the names of the elements, such as dimensions; None if they do not tell them apart."""
    specified = [element.get("name") if isinstance(element, Mapping) else None for element in elements]
    names = [name for name in specified if isinstance(name, str)]
    return names if len(set(names)) == len(elements) else None


def _are_equivalent(before: Any, desired: Any) -> bool:
    """True if Druid reads both as the same value: numbers and booleans may be stated as text, and text as a number."""
    if isinstance(before, str) or before is None or isinstance(before, Mapping | list):
        return before == (json.dumps(desired) if isinstance(desired, int | float) else desired)
    found = _as_number(desired)
    return isinstance(before, bool) == isinstance(found, bool) and bool(before == found)


def _as_number(value: Any) -> Any:
    """Return the number or boolean that a text stands for, anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, int | float) else value


def drop_null_fields(before: Any, desired: Any, after: Any) -> Any:
    """
    Return ``after``, which is ``desired`` laid over ``before``, without the fields that ``desired`` takes away.

    One that was null stays so: that is how Druid gives back a field that it knows and that has no value.
    """
    if not (isinstance(before, Mapping) and isinstance(desired, Mapping) and isinstance(after, Mapping)):
        return after
    return {
        name: drop_null_fields(before.get(name), desired.get(name), value)
        for name, value in after.items()
        if not (name in desired and desired[name] is None and before.get(name) is not None)
    }
