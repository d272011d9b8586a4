# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The states before and after a change as a diff has them: without what only Druid has added to the former. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import Field
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import class_of
from ansible_collections.druidops.druid.plugins.module_utils._spec.exclusions import without_derived_exclusions
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, as_number, differ_in_type


def diff_of(kind: str, before: Any, after: Any) -> tuple[Any, Any]:
    """
    Return both states of an object of this kind in the table, in canonical form, for a diff.

    A dimension that is removed or renamed has no defaults, which a new one does not have before Druid adds them. A
    default that Druid omits is no difference. A list of dimensions has no exclusions that Druid derives. All is as it
    is if nothing else differs.
    """
    shown = _without_defaults_of_removed(kind, before, after)
    pair = without_derived_exclusions(shown, without_omitted(kind, before, after))
    return (before, after) if are_same(*pair) else pair


def _without_defaults_of_removed(kind: str, before: Any, after: Any) -> Any:
    if isinstance(before, Mapping) and isinstance(after, Mapping) and not differ_in_type(before, after):
        fields = class_of(kind, before).field
        return {
            name: _without_defaults_of_removed(fields(name).kind, value, after.get(name))
            for name, value in before.items()
        }
    if isinstance(before, list) and isinstance(after, list):
        names = [element.get("name") for element in after if isinstance(element, Mapping)]
        return [_without_defaults(kind, each) if _is_removed(each, names) else each for each in before]
    return before


def _is_removed(element: Any, names: list[Any]) -> bool:
    return isinstance(element, Mapping) and isinstance(element.get("name"), str) and element["name"] not in names


def _without_defaults(kind: str, element: Mapping[str, Any]) -> dict[str, Any]:
    fields = class_of(kind, element).field
    return {
        name: value
        for name, value in element.items()
        if not (fields(name).has_default and are_same(fields(name).default, value))
    }


def without_omitted(kind: str, before: Any, after: Any) -> Any:
    """Return the desired state without the defaults that Druid omits, where the current one does not have the field."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and not differ_in_type(before, after):
        fields = class_of(kind, before).field
        return {
            name: without_omitted(fields(name).kind, before.get(name), value)
            for name, value in after.items()
            if name in before or not _is_omitted(fields(name), value)
        }
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [without_omitted(kind, *pair) for pair in zip(before, after, strict=True)]
    return after


def _is_omitted(field: Field, value: Any) -> bool:
    return field.omitted and are_same(field.default, as_number(value))
