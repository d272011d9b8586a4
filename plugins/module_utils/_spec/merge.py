# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merges the specification of a user into the one that Druid has; lists such as rules replace Druid's. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import DruidClass
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of

# Mappings that Druid stores as sent: the number 1 and the string "1" differ there.
VERBATIM = frozenset({"context", "taskContext", "queryContext", "consumerProperties", "parser"})
# Values that Druid stores as sent, as a whole.
EXACT = frozenset({"matchValue", "elementMatchValue", "map"})


def merge(before: Any, desired: Any, kind: str = "") -> Any:
    """
    Return ``desired`` merged into ``before``, both JSON in canonical form; ``kind``: that of the object in the table.

    Mappings are merged recursively, unless their types differ. A list is replaced as a whole. An element that the old
    list contains, by name or with the same values in all specified fields, keeps its other fields. Null removes a
    value, and has no effect if there is none. A value that Druid reads as equal (``"2"`` and 2) is kept, so that the
    result equals ``before`` exactly if nothing would change. A number that is specified as a string becomes a number.

    Of fields that exclude each other, the specified one replaces the others.
    """
    if isinstance(before, Mapping) and isinstance(desired, Mapping) and not differ_in_type(before, desired):
        return _merge_mappings(before, desired, class_of(kind, desired if "type" in desired else before))
    if isinstance(before, list) and isinstance(desired, list):
        return _merge_lists(before, desired, kind)
    if _are_equivalent(before, desired):
        return before
    return as_number(desired) if isinstance(before, int | float) else desired


# Values of these types are the same JSON only if they are equal and of one type.
_PLAIN = frozenset({str, int, bool, type(None)})


def are_same(one: Any, other: Any) -> bool:
    """True if both are the same JSON, where true and 1 differ."""
    if type(one) in _PLAIN and type(other) in _PLAIN:
        return type(one) is type(other) and bool(one == other)
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def differ_in_type(before: Mapping[str, Any], desired: Mapping[str, Any]) -> bool:
    """True if the types differ. A new type of input format, filter or aggregator keeps no field of the old one."""
    one, other = before.get("type"), desired.get("type")
    return isinstance(one, str) and isinstance(other, str) and one != other


def _merge_mappings(before: Mapping[str, Any], desired: Mapping[str, Any], druid_class: DruidClass) -> dict[str, Any]:
    excluded = _excluded(desired, druid_class)
    merged = {name: value for name, value in before.items() if value is None or name not in excluded}
    for name, value in desired.items():
        field = druid_class.field(name)
        if name not in before:
            merged.update({} if value is None else {name: value})
        elif name in EXACT:
            merged[name] = value
        elif name in VERBATIM:
            merged[name] = _merge_verbatim(before[name], value)
        elif value is not None or not (field.has_default and are_same(field.default, before[name])):
            merged[name] = merge(before[name], value, field.kind)
    return derived_again(before, desired, merged, druid_class)


def derived_again(
    before: Mapping[str, Any], desired: Mapping[str, Any], merged: dict[str, Any], druid_class: DruidClass
) -> dict[str, Any]:
    """Return the merged object without what Druid has derived from a field that changes or is removed."""
    outdated = {
        derived
        for derived, source in druid_class.derived
        if desired.get(derived) is None and not are_same(before.get(source), merged.get(source))
    }
    return {name: value for name, value in merged.items() if name not in outdated}


def _excluded(desired: Mapping[str, Any], druid_class: DruidClass) -> frozenset[str]:
    """Return the fields that a specified field excludes: Druid rejects both together."""
    specified = {name for name, value in desired.items() if value is not None}
    groups = (group for group in druid_class.one_of if group & specified)
    return frozenset().union(*groups) - {*desired}


def _merge_verbatim(before: Any, desired: Any) -> Any:
    if not (isinstance(before, Mapping) and isinstance(desired, Mapping)):
        return desired
    specified = {name: value for name, value in desired.items() if name in before or value is not None}
    return {**before, **specified}


def _merge_lists(before: list[Any], desired: list[Any], kind: str) -> list[Any]:
    existing_names, desired_names = names_of(before), names_of(desired)
    if existing_names is not None and desired_names is not None:
        by_name = dict(zip(existing_names, before, strict=True))
        return [merge(by_name.get(name), element, kind) for name, element in zip(desired_names, desired, strict=True)]
    if any(isinstance(element, Mapping) for element in desired):
        return _match_existing(before, desired, kind)
    return [merge(old, element) for old, element in zip_longest(before[: len(desired)], desired)]


def _match_existing(before: list[Any], desired: list[Any], kind: str) -> list[Any]:
    """Return the desired elements. An element that Druid has is returned as Druid has it; others are not merged."""
    remaining, found = list(before), []
    for element in desired:
        same = (index for index, old in enumerate(remaining) if are_same(merge(old, element, kind), old))
        index = next(same, None)
        found.append(element if index is None else remaining.pop(index))
    return found


def names_of(elements: list[Any]) -> list[str] | None:
    """Return the names of the elements, such as dimensions, or None if the names are not unique."""
    specified = [element.get("name") if isinstance(element, Mapping) else None for element in elements]
    names = [name for name in specified if isinstance(name, str)]
    return names if len(set(names)) == len(elements) else None


def _are_equivalent(before: Any, desired: Any) -> bool:
    """True if Druid reads both as the same value, such as a number or a boolean and its string form."""
    if isinstance(before, str) or before is None or isinstance(before, Mapping | list):
        return before == (json.dumps(desired) if isinstance(desired, int | float) else desired)
    found = as_number(desired)
    return isinstance(before, bool) == isinstance(found, bool) and bool(before == found)


_BOOLEANS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})


def as_number(value: Any) -> Any:
    """Return the number or boolean that a string represents, and any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        # Jackson reads these, and Ansible's templates make the second of them
        parsed = json.loads(value.lower() if value in _BOOLEANS else value)
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, int | float) else value


def drop_null_fields(before: Any, desired: Any, after: Any) -> Any:
    """
    Return ``after``, which is ``desired`` merged into ``before``, without the fields that ``desired`` removes.

    A field that was null stays null: that is how Druid returns a known field without a value. In the values of a
    mapping that Druid keeps verbatim, null is a value like any other.
    """
    if not (isinstance(before, Mapping) and isinstance(desired, Mapping) and isinstance(after, Mapping)):
        return after
    return {
        name: (_without_removed if name in VERBATIM else drop_null_fields)(before.get(name), desired.get(name), value)
        for name, value in _without_removed(before, desired, after).items()
    }


def _without_removed(before: Any, desired: Any, after: Any) -> Any:
    """Return ``after`` without its own fields that ``desired`` removes."""
    if not (isinstance(before, Mapping) and isinstance(desired, Mapping) and isinstance(after, Mapping)):
        return after
    return {
        name: value
        for name, value in after.items()
        if not (value is None and name in desired and desired[name] is None and before.get(name) is not None)
    }


Elements = list[Any]


def replace_list(before: Elements, desired: Elements) -> Elements:
    """
    Return the desired elements. An element that Druid has is returned as Druid has it, with fields of newer releases.

    Fields are compared as a whole, so that removing a tier is a change.
    """
    return [_existing_or_new(before, element) for element in desired]


def unknown_in(before: Elements, desired: Elements) -> Iterator[tuple[int, str]]:
    """Yield index and name of the fields that no element of the same type in ``before``, returned by Druid, has."""
    known = _fields(before)
    for index, element in enumerate(desired):
        if isinstance(element, Mapping) and _type(element) in known:
            yield from ((index, name) for name in element if name not in known[_type(element)])


def _fields(elements: Elements) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for element in elements:
        if isinstance(element, Mapping):
            found.setdefault(_type(element), set()).update(element)
    return found


def _type(element: Mapping[str, Any]) -> str:
    """Return the type of an element. Elements without a type have the same empty type."""
    kind = element.get("type")
    return kind if isinstance(kind, str) else ""


def _existing_or_new(before: Elements, element: Any) -> Any:
    if not isinstance(element, Mapping) or element in before:
        return element
    mappings = (old for old in before if isinstance(old, Mapping))
    return next((old for old in mappings if are_same({**old, **element}, old)), element)
