# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists, such as rules, whose elements replace the current ones exactly as specified. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same

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


def without_unknown_fields(before: Elements, desired: Elements) -> Elements:
    """Return the desired elements without the fields that Druid would drop."""
    dropped = set(unknown_in(before, desired))
    return [
        {name: value for name, value in element.items() if (index, name) not in dropped}
        if isinstance(element, Mapping)
        else element
        for index, element in enumerate(desired)
    ]


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
