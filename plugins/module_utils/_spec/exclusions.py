# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dimensionExclusions of a data schema, to which Druid adds columns (``DataSchema``). Pure.

Druid adds the time column, and the columns and names of the metrics, apart from the dimensions. Which ones were
specified is unknown, so those that it has are kept, unless the user specifies others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.input_columns import input_columns
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import Path, changed_at, value_at

_SCHEMA: Path = ("spec", "dataSchema")
_PLACE: Path = (*_SCHEMA, "dimensionsSpec", "dimensionExclusions")


def with_exclusions(before: Mapping[str, Any], desired: Any, after: Any) -> Any:
    """Return the merged spec of a supervisor with the exclusions that are to be sent; those of Druid if none change."""
    current, specified = value_at(before, _PLACE), value_at(desired, _PLACE)
    if not isinstance(current, list):
        return after
    if value_at(after, _PLACE) is None:
        # null, which removes the specified ones
        return _replaced(after, _of_specified(current, [], value_at(after, _SCHEMA)))
    if isinstance(specified, list):
        return changed_at(after, _PLACE, lambda _merged: _of_specified(current, specified, value_at(after, _SCHEMA)))
    if are_same(before, after):
        return after
    # Druid rejects a dimension that is excluded, even if it has excluded it itself
    dimensions = {*_dimensions(value_at(after, _SCHEMA))}
    return changed_at(after, _PLACE, lambda _merged: [name for name in current if name not in dimensions])


def _replaced(spec: Any, exclusions: list[Any]) -> Any:
    place, name = _PLACE[:-1], _PLACE[-1]
    # Druid rejects an invalid dimensionsSpec
    return changed_at(spec, place, lambda each: {**each, name: exclusions} if isinstance(each, Mapping) else each)


def _of_specified(current: list[Any], specified: list[Any], schema: Any) -> list[Any]:
    """Return Druid's exclusions if they are the specified ones and what Druid adds, otherwise the specified ones."""
    names = [name for name in specified if isinstance(name, str)]
    others = [name for name in current if name not in names]
    is_same = all(name in current for name in specified) and {*others} <= {*_added(schema)}
    return current if is_same else specified


def _added(schema: Any) -> Iterator[str]:
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
