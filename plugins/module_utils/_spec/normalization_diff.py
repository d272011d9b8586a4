# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How Druid changes a specification: fields that it does not know or drops, and values that it normalizes. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, differ_in_type
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path


def added_fields(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields that are only in ``after``, such as ``spec.metricsSpec[0].fieldNmae``."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name, value in after.items():
            child_path = f"{path}.{name}" if path else str(name)
            if name in before:
                yield from added_fields(before[name], value, child_path)
            elif value is not None:
                yield child_path
    elif _are_lists_of_same_length(before, after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from added_fields(one, other, f"{path}[{index}]")


def differing_fields(one: Any, other: Any) -> Iterator[str]:
    """Yield the paths of the fields that are in both but differ, in the order of ``one``."""
    yield from (field for field, *_values in differing_values(one, other))


def differing_values(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the paths of the fields that are in both but differ, with both values, in the order of ``one``."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in (name for name in one if name in other):
            yield from differing_values(one[name], other[name], f"{path}.{name}" if path else str(name))
    elif _are_lists_of_same_length(one, other):
        for index, (each, counterpart) in enumerate(zip(one, other, strict=True)):
            yield from differing_values(each, counterpart, f"{path}[{index}]")
    elif not are_same(one, other):
        yield path, one, other


def only_adds(before: Any, after: Any, fields: Container[str]) -> bool:
    """Return whether all that differs are some of these fields, such as ``rules[0].colour``, which ``before`` lacks."""
    others = (field for field in added_fields(before, after) if field not in fields)
    differences = (differing_fields(before, after), added_fields(after, before), others)
    return not any(True for each in differences for _field in each)


def _are_lists_of_same_length(one: Any, other: Any) -> bool:
    return isinstance(one, list) and isinstance(other, list) and len(one) == len(other)


# Names of fields that are also words of Druid's messages.
_WORDS = frozenset({"type", "value", "name", "format", "id", "spec", "field", "fields", "query", "column", "columns"})


def kept_fields(before: Any, after: Any, specified: Any, message: str, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields that keep their values, not null, since they are not in ``specified``, and whose
    names are in ``message``."""
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return
    within = specified if isinstance(specified, Mapping) else {}
    for name in (name for name in after if after[name] is not None and name in before):
        child_path = f"{path}.{name}" if path else str(name)
        is_same = are_same(before[name], after[name])
        if is_same and name not in within and _is_named(str(name), message):
            yield child_path
        else:
            yield from kept_fields(before[name], after[name], within.get(name), message, child_path)


def _is_named(field: str, message: str) -> bool:
    return field not in _WORDS and bool(re.search(rf"\b{re.escape(field)}\b", message))


def unknown_fields(before: Any, desired: Any, kind: str, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of the fields in ``desired`` that this Druid does not know, since its GET would have them.

    ``before``: the response of GET. Of a class whose GET does not have every field, none is known to be unknown.
    """
    if not (isinstance(before, Mapping) and isinstance(desired, Mapping)) or differ_in_type(before, desired):
        return
    druid_class = class_of(kind, before)
    for name, value in desired.items():
        if name in before:
            yield from unknown_fields(before[name], value, druid_class.field(name).kind, (*path, name))
        elif druid_class.is_complete:
            yield (*path, name)
