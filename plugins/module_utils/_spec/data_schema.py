# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of a data schema that Druid accepts in several forms: dimensions, fields, exclusions, filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def canonical_dimensions(dimensions: Any) -> Any:
    """Return the list of dimensions as Druid's GET has it: ``"page"`` as ``{"type": "string", "name": "page"}``."""
    if not isinstance(dimensions, list):
        return dimensions
    return [_canonical_dimension(each) for each in dimensions]


def _canonical_dimension(dimension: Any) -> Any:
    if isinstance(dimension, str):
        return {"type": "string", "name": dimension}
    if not isinstance(dimension, Mapping):
        return dimension
    handling = dimension.get("multiValueHandling")
    in_capitals = {"multiValueHandling": handling.upper()} if isinstance(handling, str) else {}
    return {"type": "string", **dimension, **in_capitals}


def canonical_flatten_fields(fields: Any) -> Any:
    """Return the fields of a ``flattenSpec`` as Druid's GET has them: ``"a"`` as one of type ``root``."""
    if not isinstance(fields, list):
        return fields
    return [{"type": "root", "name": each, "expr": each} if isinstance(each, str) else each for each in fields]


def specified_exclusions(data_schema: Mapping[str, Any]) -> list[str] | None:
    """
    Return the ``dimensionExclusions`` that the user has specified, sorted, or None if there is no list.

    Druid adds the time column and the columns of the metrics to the specified list (``DataSchema``).
    """
    exclusions = _mapping(data_schema, "dimensionsSpec").get("dimensionExclusions")
    if not isinstance(exclusions, list):
        return None
    return sorted({each for each in exclusions if isinstance(each, str)} - set(_excluded_by_druid(data_schema)))


def _excluded_by_druid(data_schema: Mapping[str, Any]) -> Iterator[str]:
    column = _mapping(data_schema, "timestampSpec").get("column")
    yield column if isinstance(column, str) and column else "timestamp"
    # Druid's name of the time column
    yield "__time"
    metrics = data_schema.get("metricsSpec")
    for metric in metrics if isinstance(metrics, list) else ():
        yield from _input_columns(metric) if isinstance(metric, Mapping) else ()


def _input_columns(metric: Mapping[str, Any]) -> Iterator[str]:
    names = metric.get("fieldNames")
    specified = (metric.get("name"), metric.get("fieldName"), *(names if isinstance(names, list) else ()))
    yield from (name for name in specified if isinstance(name, str))


def _mapping(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    child = parent.get(name)
    return child if isinstance(child, Mapping) else {}


def canonical_filters(document: Any) -> Any:
    """Return ``document`` with the values of ``in`` filters sorted, and orderings as ``{"type": "numeric"}``."""
    if isinstance(document, list):
        return [canonical_filters(element) for element in document]
    if not isinstance(document, Mapping):
        return document
    inside = {name: canonical_filters(value) for name, value in document.items()}
    return {**inside, **_sorted_values(inside), **_ordering(inside)}


def _sorted_values(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Druid stores them as a sorted set of strings, null first (``InDimFilter.ValuesSet``)."""
    values = mapping.get("values")
    if mapping.get("type") != "in" or not isinstance(values, list):
        return {}
    texts = {value for value in values if isinstance(value, str)}
    others = [value for value in values if value is not None and not isinstance(value, str)]
    return {"values": [*([None] if None in values else []), *sorted(texts), *others]}


def _ordering(mapping: Mapping[str, Any]) -> dict[str, Any]:
    ordering = mapping.get("ordering")
    return {"ordering": {"type": ordering.lower()}} if isinstance(ordering, str) else {}
