# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters, wherever they are in a specification, in the form in which Druid gives them back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def canonical_filters(document: Any) -> Any:
    """Return ``document`` with the values of ``in`` filters sorted, and orderings as ``{"type": "numeric"}``."""
    if isinstance(document, list):
        return [canonical_filters(element) for element in document]
    if not isinstance(document, Mapping):
        return document
    inside = {name: canonical_filters(value) for name, value in document.items()}
    return {**inside, **_sorted_values(inside), **_ordering(inside)}


def _sorted_values(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Druid keeps them in a set that is sorted, as text, null before all others (``InDimFilter.ValuesSet``)."""
    values = mapping.get("values")
    if mapping.get("type") != "in" or not isinstance(values, list):
        return {}
    texts = {value for value in values if isinstance(value, str)}
    others = [value for value in values if value is not None and not isinstance(value, str)]
    return {"values": [*([None] if None in values else []), *sorted(texts), *others]}


def _ordering(mapping: Mapping[str, Any]) -> dict[str, Any]:
    ordering = mapping.get("ordering")
    return {"ordering": {"type": ordering.lower()}} if isinstance(ordering, str) else {}
