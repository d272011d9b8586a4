# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each notation of an object that Druid accepts, and the one that its GET has. All are answers of Druid 33."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.canonical import canonical
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge

A_FILTER = {"type": "selector", "dimension": "a", "value": "x"}
# (kind, the notation, the object in Druid's GET)
NOTATIONS: dict[str, tuple[str, Any, Any]] = {
    "a name is a dimension of type string": ("dimension", "page", {"type": "string", "name": "page"}),
    "a dimension without type": ("dimension", {"name": "user"}, {"type": "string", "name": "user"}),
    "an unknown type of dimension": ("dimension", {"type": "boolean", "name": "b"}, {"type": "string", "name": "b"}),
    "a type of dimension in capitals": ("dimension", {"type": "LONG", "name": "b"}, {"type": "string", "name": "b"}),
    "an enum of a dimension": (
        "dimension",
        {"type": "long", "name": "added", "multiValueHandling": "array"},
        {"type": "long", "name": "added", "multiValueHandling": "ARRAY"},
    ),
    "a type to cast to": (
        "dimension",
        {"type": "auto", "name": "a", "castToType": "double"},
        {"type": "auto", "name": "a", "castToType": "DOUBLE"},
    ),
    "spatial dimensions": (
        "dimensionsSpec",
        {"dimensions": ["a"], "spatialDimensions": [{"dimName": "c", "dims": ["x", "y"]}]},
        {"dimensions": [{"type": "string", "name": "a"}, {"type": "spatial", "name": "c", "dims": ["x", "y"]}]},
    ),
    "no spatial dimensions": ("dimensionsSpec", {"dimensions": [], "spatialDimensions": []}, {"dimensions": []}),
    "a missing timestamp": (
        "timestampSpec",
        {"column": "t", "missingValue": "2020-01-01"},
        {"column": "t", "missingValue": "2020-01-01T00:00:00.000Z"},
    ),
    "a header row": (
        "inputFormat",
        {"type": "csv", "hasHeaderRow": "true"},
        {"type": "csv", "findColumnsFromHeader": True},
    ),
    "a header row with columns": (
        "inputFormat",
        {"type": "csv", "hasHeaderRow": True, "columns": ["a"]},
        {"type": "csv", "columns": ["a"], "findColumnsFromHeader": False},
    ),
    "numbers in text": (
        "inputFormat",
        {"type": "csv", "columns": ["a"], "tryParseNumbers": True},
        {"type": "csv", "columns": ["a"], "shouldTryParseNumbers": True},
    ),
    "fields to flatten": (
        "inputFormat",
        {"type": "json", "flattenSpec": {"fields": ["a", {"type": "PATH", "name": "b", "expr": "$.b"}]}},
        {
            "type": "json",
            "flattenSpec": {
                "useFieldDiscovery": True,
                "fields": [
                    {"type": "root", "name": "a", "expr": "a", "nodes": None},
                    {"type": "path", "name": "b", "expr": "$.b", "nodes": None},
                ],
            },
        },
    ),
    "a key format inside": (
        "inputFormat",
        {
            "type": "kafka",
            "valueFormat": {"type": "json"},
            "keyFormat": {"type": "csv", "tryParseNumbers": False},
        },
        {
            "type": "kafka",
            "valueFormat": {"type": "json"},
            "keyFormat": {"type": "csv", "shouldTryParseNumbers": False},
        },
    ),
    "names of a cardinality": (
        "aggregator",
        {"type": "cardinality", "name": "x", "fieldNames": ["a"]},
        {
            "type": "cardinality",
            "name": "x",
            "fields": [{"type": "default", "dimension": "a", "outputName": "a", "outputType": "STRING"}],
            "byRow": False,
            "round": False,
        },
    ),
    "a bare name of a cardinality": (
        "aggregator",
        {"type": "cardinality", "name": "x", "fields": ["b"]},
        {
            "type": "cardinality",
            "name": "x",
            "fields": [{"type": "LegacyDimensionSpec", "dimension": "b", "outputName": "b", "outputType": "STRING"}],
        },
    ),
    "another name of a sketch": (
        "aggregator",
        {"type": "HLLSketch", "name": "x", "fieldName": "a"},
        {"type": "HLLSketchMerge", "name": "x", "fieldName": "a", "lgK": 12, "tgtHllType": "HLL_4"},
    ),
    "the name of a filtered aggregator": (
        "aggregator",
        {"type": "filtered", "aggregator": {"type": "count", "name": "c"}, "filter": A_FILTER},
        {"type": "filtered", "aggregator": {"type": "count", "name": "c"}, "filter": A_FILTER, "name": "c"},
    ),
    "fields of an expression": (
        "aggregator",
        {"type": "expression", "name": "x", "fields": ["b", "a"], "maxSizeBytes": "1KiB"},
        {"type": "expression", "name": "x", "fields": ["a", "b"], "maxSizeBytes": 1024},
    ),
    "values of an in filter": (
        "filter",
        {"type": "in", "dimension": "a", "values": ["b", None, "a", 3, True]},
        {"type": "in", "dimension": "a", "values": [None, "3", "a", "b", "true"]},
    ),
    "a number of a selector": ("filter", {**A_FILTER, "value": 5}, {**A_FILTER, "value": "5"}),
    "an old ordering": (
        "filter",
        {"type": "bound", "dimension": "a", "lower": 1, "alphaNumeric": True},
        {"type": "bound", "dimension": "a", "lower": "1", "ordering": {"type": "alphanumeric"}},
    ),
    "no old ordering": (
        "filter",
        {"type": "bound", "dimension": "a", "lower": "1", "alphaNumeric": False},
        {"type": "bound", "dimension": "a", "lower": "1", "ordering": {"type": "lexicographic"}},
    ),
    "an ordering by name": (
        "filter",
        {"type": "bound", "dimension": "a", "upper": "1", "ordering": "numeric"},
        {"type": "bound", "dimension": "a", "upper": "1", "ordering": {"type": "numeric"}},
    ),
    "intervals of a filter": (
        "filter",
        {"type": "interval", "dimension": "__time", "intervals": ["2019-01-01/P2Y"]},
        {
            "type": "interval",
            "dimension": "__time",
            "intervals": ["2019-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z"],
            "extractionFn": None,
        },
    ),
    "a type of values": (
        "filter",
        {"type": "equals", "column": "a", "matchValueType": "long", "matchValue": 5},
        {"type": "equals", "column": "a", "matchValueType": "LONG", "matchValue": 5},
    ),
    "values of a type": (
        "filter",
        {"type": "inType", "column": "a", "matchValueType": "long", "values": [3, 1, 2, 1]},
        {"type": "inType", "column": "a", "matchValueType": "LONG", "sortedValues": [1, 2, 3]},
    ),
    "values of a type, with null": (
        "filter",
        {"type": "inType", "column": "a", "matchValueType": "LONG", "values": [10, None, 9]},
        {"type": "inType", "column": "a", "matchValueType": "LONG", "sortedValues": [None, 9, 10]},
    ),
    "null among filters": (
        "filter",
        {"type": "or", "fields": [A_FILTER, None]},
        {"type": "or", "fields": [A_FILTER]},
    ),
    "a filter in a filter": (
        "filter",
        {"type": "not", "field": {"type": "and", "fields": [{"type": "in", "dimension": "a", "values": ["2", "1"]}]}},
        {"type": "not", "field": {"type": "and", "fields": [{"type": "in", "dimension": "a", "values": ["1", "2"]}]}},
    ),
    "columns that are compared": (
        "filter",
        {"type": "columnComparison", "dimensions": ["a", "b"]},
        {
            "type": "columnComparison",
            "dimensions": [
                {"type": "LegacyDimensionSpec", "dimension": name, "outputName": name, "outputType": "STRING"}
                for name in ("a", "b")
            ],
        },
    ),
    "a locale": (
        "filter",
        {**A_FILTER, "extractionFn": {"type": "upper", "locale": "en"}},
        {**A_FILTER, "extractionFn": {"type": "upper", "localeString": "en"}},
    ),
    "a circle": (
        "filter",
        {"type": "spatial", "dimension": "a", "bound": {"type": "radius", "coords": [1, 2], "radius": 3}},
        {
            "type": "spatial",
            "dimension": "a",
            "bound": {
                "type": "radius",
                "coords": [1.0, 2.0],
                "radius": 3.0,
                "limit": 0,
                "radiusUnit": "euclidean",
                "minCoords": [-2.0, -1.0],
                "maxCoords": [4.0, 5.0],
            },
        },
    ),
    "compressions": (
        "indexSpec",
        {"dimensionCompression": "LZ4", "metricCompression": "ZSTD", "longEncoding": "AUTO", "jsonCompression": "Lz4"},
        {"dimensionCompression": "lz4", "metricCompression": "zstd", "longEncoding": "auto", "jsonCompression": "lz4"},
    ),
    "a bitmap": (
        "indexSpec",
        {"bitmap": {"type": "Roaring"}},
        {"bitmap": {"type": "roaring"}},
    ),
    "a hashed partitioning with a target": (
        "partitionsSpec",
        {"type": "hashed", "targetRowsPerSegment": 100},
        {
            "type": "hashed",
            "numShards": None,
            "partitionDimensions": [],
            "partitionFunction": "murmur3_32_abs",
            "maxRowsPerSegment": 100,
        },
    ),
    "an old name of a partitioning": (
        "partitionsSpec",
        {"type": "dimension", "partitionDimension": "a", "targetPartitionSize": 100},
        {
            "type": "single_dim",
            "maxRowsPerSegment": None,
            "partitionDimension": "a",
            "targetRowsPerSegment": 100,
            "assumeGrouped": False,
        },
    ),
    "a size": (
        "splitHintSpec",
        {"type": "maxSize", "maxSplitSize": "1GiB"},
        {"type": "maxSize", "maxSplitSize": 1073741824},
    ),
    "a projection": (
        "projection",
        {"type": "aggregate", "name": "p", "virtualColumns": [], "groupingColumns": ["a"]},
        {
            "type": "aggregate",
            "name": "p",
            "virtualColumns": [],
            "groupingColumns": [{"type": "string", "name": "a"}],
            "ordering": [{"columnName": "a", "order": "ascending"}],
        },
    ),
    "a virtual column": (
        "projection",
        {
            "type": "aggregate",
            "name": "p",
            "virtualColumns": [{"type": "expression", "name": "e", "outputType": "long"}],
        },
        {
            "type": "aggregate",
            "name": "p",
            "virtualColumns": [{"type": "expression", "name": "e", "outputType": "LONG"}],
        },
    ),
    "intervals of a granularitySpec": (
        "granularitySpec",
        {"type": "uniform", "segmentGranularity": "day", "intervals": ["2020/P1Y"]},
        {
            "type": "uniform",
            "segmentGranularity": "DAY",
            "queryGranularity": {"type": "none"},
            "rollup": True,
            "intervals": ["2020-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z"],
        },
    ),
    "an engine": ("compaction", {"engine": "NATIVE"}, {"engine": "native"}),
    "an offset of no time": ("compaction", {"skipOffsetFromLatest": "P0D"}, {"skipOffsetFromLatest": "PT0S"}),
}


@pytest.mark.parametrize(("kind", "specified", "returned"), NOTATIONS.values(), ids=NOTATIONS)
def test_a_notation_is_no_difference(kind: str, specified: Any, returned: Any) -> None:
    before = canonical(kind, returned)
    assert are_same(merge(before, canonical(kind, specified), kind), before)


@pytest.mark.parametrize(("kind", "specified", "returned"), NOTATIONS.values(), ids=NOTATIONS)
def test_canonical_form_is_idempotent(kind: str, specified: Any, returned: Any) -> None:
    for document in (specified, returned):
        assert are_same(canonical(kind, canonical(kind, document)), canonical(kind, document))


@pytest.mark.parametrize(
    ("match_type", "values"),
    [
        ("LONG", ["10", "9"]),
        ("STRING", [10, 9]),
        ("LONG", [10, "9"]),
        ("LONG", [1.5, 3, 1]),
        ("DOUBLE", [2, 1]),
        (None, [2, 1]),
    ],
)
def test_values_that_druid_converts_are_sent_as_they_are(match_type: Any, values: Any) -> None:
    """Druid sorts and converts ``values``. It takes ``sortedValues`` as they are, and would filter other rows."""
    specified = {"type": "inType", "column": "a", "matchValueType": match_type, "values": values}
    assert canonical("filter", specified) == specified


def test_an_ordering_can_be_reset() -> None:
    before = canonical("filter", {"type": "bound", "dimension": "a", "lower": "1", "ordering": "alphanumeric"})
    desired = canonical("filter", {"type": "bound", "dimension": "a", "lower": "1", "alphaNumeric": False})
    assert merge(before, desired, "filter")["ordering"] == {"type": "lexicographic"}


def test_what_druid_has_derived_is_derived_again() -> None:
    before = {
        "type": "expression",
        "name": "m",
        "fold": "a",
        "combine": "a",
        "initialValue": "9",
        "initialCombineValue": "9",
    }
    desired = {"type": "expression", "name": "m", "fold": "b", "initialValue": "0"}
    assert merge(before, desired, "aggregator") == desired
    assert merge(before, {**desired, "combine": "a"}, "aggregator") == {**desired, "combine": "a"}
    assert merge(before, {"type": "expression", "name": "m", "fold": "a"}, "aggregator") == before


@pytest.mark.parametrize(
    ("name", "before", "desired"),
    [("matchValue", {"x": 1, "y": 2}, {"x": "1"}), ("map", {"a": "x", "b": "y"}, {"a": "x"})],
)
def test_a_free_map_in_a_filter_is_replaced(name: str, before: Any, desired: Any) -> None:
    assert merge({name: before}, {name: desired}, "filter") == {name: desired}
