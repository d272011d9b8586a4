# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data schema of an ingestion: timestamp, dimensions, transforms, projections (``segment.indexing``). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    DruidClass,
    Json,
    Kind,
    in_form,
    of_kind,
    omits,
    returns,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import (
    column_type,
    sorted_set,
    sorted_texts,
    upper,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.times import canonical_timestamp


def _string(name: str) -> Any:
    return {"type": "string", "name": name}


def _with_spatial(value: Json) -> Json:
    """Return a dimensionsSpec with its old field ``spatialDimensions`` as dimensions."""
    found = {name: each for name, each in value.items() if name != "spatialDimensions"}
    spatial = value.get("spatialDimensions")
    if "dimensions" not in found and spatial:
        # the others may be those that Druid has
        return value
    if not (isinstance(spatial, list) and spatial and all(isinstance(each, Mapping) for each in spatial)):
        return found if spatial in (None, []) else value
    dimensions = [{"type": "spatial", "name": each.get("dimName"), "dims": each.get("dims")} for each in spatial]
    return {**found, "dimensions": [*(found.get("dimensions") or ()), *dimensions]}


def _without_ordering(value: Json) -> Json:
    """Return a projection. GET also has its ordering, which follows from the grouping columns."""
    return {name: each for name, each in value.items() if name != "ordering"}


def _no_index(_specified: Any) -> bool:
    """Columns of numbers have no bitmap index, whatever is specified."""
    return False


DIMENSION_TYPES = ("string", "long", "float", "double", "spatial", "json", "auto")
NUMBERS = ("long", "float", "double")
# Druid reads a type of dimension that it does not know as a string (the defaultImpl of DimensionSchema): the types of
# SQL, JSON and Avro.
_OTHER_TYPES = (
    *("boolean", "bool", "int", "integer", "bigint", "smallint", "int32", "int64", "number", "numeric", "decimal"),
    *(
        "real",
        "float32",
        "float64",
        "str",
        "text",
        "varchar",
        "char",
        "keyword",
        "date",
        "datetime",
        "timestamp",
        "time",
    ),
    *("object", "nested", "struct", "map", "array", "complex"),
)
_TYPES = (*DIMENSION_TYPES, *_OTHER_TYPES)
READ_AS_STRING = (*_OTHER_TYPES, *(name.upper() for name in _TYPES), *(name.capitalize() for name in _TYPES))

KINDS: Mapping[str, Kind] = {
    "dataSchema": Kind(
        {
            "": DruidClass(
                "segment.indexing.DataSchema",
                {
                    "timestampSpec": of_kind("timestampSpec"),
                    "dimensionsSpec": of_kind("dimensionsSpec"),
                    "metricsSpec": of_kind("aggregator"),
                    "granularitySpec": of_kind("granularitySpec"),
                    "transformSpec": of_kind("transformSpec"),
                    "projections": omits(None, "projection"),
                },
            )
        }
    ),
    "timestampSpec": Kind(
        {
            "": DruidClass(
                "data.input.impl.TimestampSpec",
                {
                    "missingValue": in_form(canonical_timestamp),
                },
            )
        }
    ),
    "dimensionsSpec": Kind(
        {
            "": DruidClass(
                "data.input.impl.DimensionsSpec",
                {
                    "dimensions": of_kind("dimension"),
                    "dimensionExclusions": in_form(sorted_set),
                },
                _with_spatial,
            )
        }
    ),
    "dimension": Kind(
        {
            "": DruidClass(
                "data.input.impl.DimensionSchema",
                {
                    "multiValueHandling": returns("SORTED_ARRAY", form=upper),
                    "castToType": in_form(column_type),
                    "createBitmapIndex": returns(True),
                },
            ),
            **{
                name: DruidClass(
                    "segment.NumericDimensionSchema",
                    {
                        "multiValueHandling": returns("SORTED_ARRAY", form=upper),
                        "createBitmapIndex": returns(False, form=_no_index),
                    },
                )
                for name in NUMBERS
            },
        },
        default_type="string",
        types=dict.fromkeys(READ_AS_STRING, "string"),
        from_text=_string,
    ),
    "transformSpec": Kind(
        {
            "": DruidClass(
                "segment.transform.TransformSpec",
                {"filter": of_kind("filter")},
            )
        }
    ),
    "projection": Kind(
        {
            "": DruidClass(
                "data.input.impl.AggregateProjectionSpec",
                {
                    "virtualColumns": of_kind("virtualColumn"),
                    "groupingColumns": omits([], "dimension"),
                    "aggregators": omits([], "aggregator"),
                },
                _without_ordering,
            )
        }
    ),
    "virtualColumn": Kind(
        {
            "expression": DruidClass("segment.virtual.ExpressionVirtualColumn", {"outputType": in_form(column_type)}),
            "mv-filtered": DruidClass(
                "segment.virtual.ListFilteredVirtualColumn",
                {"delegate": of_kind("dimensionSpec"), "values": in_form(sorted_texts)},
            ),
        }
    ),
}
