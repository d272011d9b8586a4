# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Aggregators of metrics (``query.aggregation``, with the extension druid-datasketches). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import (
    DruidClass,
    Field,
    Json,
    Kind,
    in_form,
    of_kind,
    omits,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.forms import (
    column_type,
    lower,
    number_of_bytes,
    sorted_texts,
)


def _with_fields(value: Json) -> Json:
    """Return a cardinality aggregator with its old field ``fieldNames`` as ``fields``."""
    found = {name: each for name, each in value.items() if name != "fieldNames"}
    if isinstance(value.get("fieldNames"), list) and found.get("fields") is None:
        found["fields"] = [
            {"type": "default", "dimension": each, "outputName": each, "outputType": "STRING"}
            for each in value["fieldNames"]
        ]
    return found


def _with_name(value: Json) -> Json:
    """Return a filtered aggregator. Its name is that of its aggregator unless it is specified."""
    inside = value.get("aggregator")
    name = inside.get("name") if isinstance(inside, Mapping) else None
    return {**value, "name": name} if isinstance(name, str) and not value.get("name") else value


_FINALIZED: Mapping[str, Field] = {"shouldFinalize": omits(True)}
_HLL: Mapping[str, Field] = {
    **_FINALIZED,
    "stringEncoding": omits("utf16le", form=lower),
    "round": omits(False),
}
_SKETCHES = "query.aggregation.datasketches"
_SIMPLE = [f"{number}{function}" for number, function in product(("long", "double", "float"), ("Sum", "Min", "Max"))]
_SIMPLE_CLASS = DruidClass(
    "query.aggregation.SimpleLongAggregatorFactory",
    one_of=(frozenset({"fieldName", "expression"}),),
)
_HLL_CLASS = DruidClass(f"{_SKETCHES}.hll.HllSketchAggregatorFactory", _HLL)

KINDS: Mapping[str, Kind] = {
    "aggregator": Kind(
        {
            **dict.fromkeys(_SIMPLE, _SIMPLE_CLASS),
            "filtered": DruidClass(
                "query.aggregation.FilteredAggregatorFactory",
                {"aggregator": of_kind("aggregator"), "filter": of_kind("filter")},
                _with_name,
            ),
            "cardinality": DruidClass(
                "query.aggregation.cardinality.CardinalityAggregatorFactory",
                {"fields": of_kind("dimensionSpec")},
                _with_fields,
            ),
            "expression": DruidClass(
                "query.aggregation.ExpressionLambdaAggregatorFactory",
                {
                    "fields": omits([], form=sorted_texts),
                    "maxSizeBytes": in_form(number_of_bytes),
                },
                derived=(("combine", "fold"), ("initialCombineValue", "initialValue")),
            ),
            "singleValue": DruidClass(
                "query.aggregation.SingleValueAggregatorFactory", {"columnType": in_form(column_type)}
            ),
            "thetaSketch": DruidClass(
                f"{_SKETCHES}.theta.SketchMergeAggregatorFactory", {**_FINALIZED, "isInputThetaSketch": omits(False)}
            ),
            "quantilesDoublesSketch": DruidClass(
                f"{_SKETCHES}.quantiles.DoublesSketchAggregatorFactory",
                _FINALIZED,
            ),
            "HLLSketchBuild": _HLL_CLASS,
            "HLLSketchMerge": _HLL_CLASS,
        },
        types={"HLLSketch": "HLLSketchMerge"},
    ),
}
