# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dimensionExclusions of a data schema, to which Druid adds columns (``DataSchema``). Pure.

Druid adds the time column, and the columns and names of the metrics, apart from the dimensions. What it has added
because of a schema ends with that schema: sent back, it would exclude columns of all later ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import is_true
from ansible_collections.druidops.druid.plugins.module_utils._serde.input_columns import input_columns
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, changed_at, value_at

_SCHEMA: Path = ("spec", "dataSchema")
_DIMENSIONS: Path = (*_SCHEMA, "dimensionsSpec")
_NAME = "dimensionExclusions"


def with_exclusions(before: Mapping[str, Any], desired: Any, after: Any) -> Any:
    """
    Return the merged spec of a supervisor with the exclusions that are to be sent; those of Druid if none change.

    They are the specified ones, which are those in Druid apart from what Druid has added if none are specified, and
    those in Druid that it would add again.
    """
    current, dimensions = value_at(before, (*_DIMENSIONS, _NAME)), value_at(after, _DIMENSIONS)
    # Druid rejects an invalid dimensionsSpec
    if not (isinstance(current, list) and isinstance(dimensions, Mapping)):
        return after
    added = {*_added(value_at(after, _SCHEMA))}
    kept = [name for name in current if name in added]
    specified = value_at(desired, (*_DIMENSIONS, _NAME))
    if not isinstance(specified, list):
        # null removes the specified ones
        specified = [] if dimensions.get(_NAME) is None else _specified_earlier(current, before, after)
    exclusions = sorted([*kept, *(name for name in specified if name not in kept)], key=str)
    return changed_at(after, _DIMENSIONS, lambda each: {**each, _NAME: exclusions})


def without_derived_exclusions(before: Any, after: Any) -> tuple[Any, Any]:
    """Return two specs without the exclusions that Druid derives, if they have no effect: both list the dimensions."""
    if not all(_lists_dimensions(value_at(each, _DIMENSIONS)) for each in (before, after)):
        return before, after
    return _without_derived(before), _without_derived(after)


def _lists_dimensions(spec: Any) -> bool:
    finds_others = any(is_true(value_at(spec, (name,))) for name in ("useSchemaDiscovery", "includeAllDimensions"))
    return bool(value_at(spec, ("dimensions",))) and not finds_others


def _without_derived(spec: Any) -> Any:
    added = {*_added(value_at(spec, _SCHEMA))}
    return changed_at(spec, (*_DIMENSIONS, _NAME), lambda names: [name for name in names if name not in added])


def _specified_earlier(current: list[Any], before: Mapping[str, Any], after: Any) -> list[Any]:
    """Return what is excluded because someone specified it, without the columns that are a dimension now."""
    others = {*_added(value_at(before, _SCHEMA)), *_dimensions(value_at(after, _SCHEMA))}
    return [name for name in current if name not in others]


def _added(schema: Any) -> Iterator[str]:
    """Yield what Druid adds for a schema. It rejects a dimension that is excluded, even by itself."""
    dimensions = {*_dimensions(schema)}
    yield from (name for name in _columns(schema) if name not in dimensions)


def _columns(schema: Any) -> Iterator[str]:
    column = value_at(schema, ("timestampSpec", "column"))
    yield column if isinstance(column, str) and column else "timestamp"
    # Druid's name of the time column
    yield "__time"
    metrics = value_at(schema, ("metricsSpec",))
    for metric in metrics if isinstance(metrics, list) else ():
        yield from input_columns(metric)


def _dimensions(schema: Any) -> Iterator[str]:
    dimensions = value_at(schema, ("dimensionsSpec", "dimensions"))
    for dimension in dimensions if isinstance(dimensions, list) else ():
        name = dimension.get("name") if isinstance(dimension, Mapping) else None
        if isinstance(name, str):
            yield name
