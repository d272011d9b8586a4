# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dimensions and fields, which Druid takes by their bare names, and the ones that it excludes of itself."""

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


def stated_exclusions(data_schema: Mapping[str, Any]) -> list[str] | None:
    """
    Return the ``dimensionExclusions`` that a person has stated, sorted; None if there is no list at all.

    Druid adds the column of the time and those of the metrics to the list that it was given (``DataSchema``).
    """
    exclusions = _mapping(data_schema, "dimensionsSpec").get("dimensionExclusions")
    if not isinstance(exclusions, list):
        return None
    return sorted({each for each in exclusions if isinstance(each, str)} - set(_excluded_by_druid(data_schema)))


def _excluded_by_druid(data_schema: Mapping[str, Any]) -> Iterator[str]:
    column = _mapping(data_schema, "timestampSpec").get("column")
    yield column if isinstance(column, str) and column else "timestamp"
    # the name that Druid gives to the column of the time
    yield "__time"
    metrics = data_schema.get("metricsSpec")
    for metric in metrics if isinstance(metrics, list) else ():
        yield from _read_by(metric) if isinstance(metric, Mapping) else ()


def _read_by(metric: Mapping[str, Any]) -> Iterator[str]:
    names = metric.get("fieldNames")
    stated = (metric.get("name"), metric.get("fieldName"), *(names if isinstance(names, list) else ()))
    yield from (name for name in stated if isinstance(name, str))


def _mapping(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    child = parent.get(name)
    return child if isinstance(child, Mapping) else {}
