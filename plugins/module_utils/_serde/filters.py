# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters, with their dimension specs and extraction functions (``query.filter``, ``query.extraction``). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    is_true,
    lower,
    sorted_texts,
    text,
)
from ansible_collections.druidops.druid.plugins.module_utils._serde.granularity import canonical_granularity
from ansible_collections.druidops.druid.plugins.module_utils._serde.time_zones import canonical_time_zone
from ansible_collections.druidops.druid.plugins.module_utils._serde.times import canonical_intervals


def _without_nulls(value: Json) -> Json:
    fields = value.get("fields")
    return {**value, "fields": [each for each in fields if each is not None]} if isinstance(fields, list) else value


def _with_ordering(value: Json) -> Json:
    """Return a bound filter with the old field ``alphaNumeric`` as an ordering."""
    found = {name: each for name, each in value.items() if name != "alphaNumeric"}
    specified = value.get("alphaNumeric")
    if specified is not None and found.get("ordering") is None:
        found["ordering"] = {"type": "alphanumeric" if is_true(specified) else "lexicographic"}
    return found


def _ordering(value: Any) -> Any:
    """Return an ordering, which may be a text, as an object (``StringComparator``)."""
    return {"type": value.lower()} if isinstance(value, str) else value


def _with_values(value: Json) -> Json:
    """Return a typed ``in`` filter with its values as a sorted set.

    GET has them as ``sortedValues``. These are not what is sent, because Druid sorts and converts only ``values``.
    """
    values = value.get("values", value.get("sortedValues"))
    found = {name: each for name, each in value.items() if name not in ("values", "sortedValues")}
    return {**found, "values": _sorted(values, value.get("matchValueType"))} if isinstance(values, list) else value


# Values of other types, and those that Druid converts, are left to Druid.
_SORTED: Mapping[str, type] = {"LONG": int, "STRING": str}


def _sorted(values: list[Any], match_type: Any) -> list[Any]:
    kind = _SORTED.get(column_type(match_type)) if isinstance(match_type, str) else None
    present = [each for each in values if each is not None]
    # a boolean is an integer in Python
    if kind is None or any(isinstance(each, bool) or not isinstance(each, kind) for each in present):
        return values
    return [*([None] if len(present) < len(values) else []), *sorted(set(present))]


def _without_derived(value: Json) -> Json:
    """Return the bound of a spatial filter. GET also has the rectangle around a circle."""
    if value.get("type") != "radius":
        return value
    return {name: each for name, each in value.items() if name not in ("minCoords", "maxCoords")}


def _with_locale(value: Json) -> Json:
    """Return an extraction function. GET has another name for its locale, which POST ignores."""
    if "localeString" not in value:
        return value
    found = {name: each for name, each in value.items() if name != "localeString"}
    return found if value["localeString"] is None else {"locale": value["localeString"], **found}


def _dimension(name: str) -> Any:
    return {"type": "default", "dimension": name}


def _with_output(value: Json) -> Json:
    """Return a dimension spec. The name of its output is that of the dimension unless it is specified."""
    if value.get("type") not in ("default", "extraction") or "dimension" not in value:
        return value
    unset = {"outputName": value["dimension"], "outputType": "STRING"}
    return {**value, **{name: each for name, each in unset.items() if value.get(name) is None}}


_EXTRACTED: Mapping[str, Field] = {"extractionFn": of_kind("extractionFn")}
_ONE_FIELD: Mapping[str, Field] = {"field": of_kind("filter")}
_LOGICAL: Mapping[str, Field] = {"fields": of_kind("filter")}
_VALUE_TYPE: Mapping[str, Field] = {"matchValueType": in_form(column_type)}


def _filter(name: str, fields: Mapping[str, Field], **arguments: Any) -> DruidClass:
    return DruidClass(f"query.filter.{name}", fields, **arguments)


_FILTERS: Mapping[str, DruidClass] = {
    "and": _filter("AndDimFilter", _LOGICAL, shape=_without_nulls),
    "or": _filter("OrDimFilter", _LOGICAL, shape=_without_nulls),
    "not": _filter("NotDimFilter", _ONE_FIELD),
    "istrue": _filter("IsTrueDimFilter", _ONE_FIELD),
    "isfalse": _filter("IsFalseDimFilter", _ONE_FIELD),
    "selector": _filter("SelectorDimFilter", {**_EXTRACTED, "value": in_form(text)}),
    "in": _filter("InDimFilter", {**_EXTRACTED, "values": in_form(sorted_texts)}),
    "bound": _filter(
        "BoundDimFilter",
        {
            **_EXTRACTED,
            "lower": in_form(text),
            "upper": in_form(text),
            "lowerStrict": omits(False),
            "upperStrict": omits(False),
            "ordering": in_form(_ordering),
        },
        shape=_with_ordering,
    ),
    "interval": _filter("IntervalDimFilter", {**_EXTRACTED, "intervals": in_form(canonical_intervals)}),
    "equals": _filter("EqualityFilter", _VALUE_TYPE),
    "range": _filter(
        "RangeFilter",
        {
            **_VALUE_TYPE,
            "lowerOpen": omits(False),
            "upperOpen": omits(False),
        },
    ),
    "inType": _filter("TypedInFilter", _VALUE_TYPE, shape=_with_values),
    "arrayContainsElement": _filter("ArrayContainsElementFilter", {"elementMatchValueType": in_form(column_type)}),
    "columnComparison": _filter("ColumnComparisonDimFilter", {"dimensions": of_kind("dimensionSpec")}),
    "spatial": _filter("SpatialDimFilter", {"bound": of_kind("spatialBound")}),
    "search": _filter("SearchQueryDimFilter", _EXTRACTED),
    "": _filter("DimFilter", _EXTRACTED),
}
KINDS: Mapping[str, Kind] = {
    "filter": Kind(_FILTERS),
    "spatialBound": Kind({"": DruidClass("collections.spatial.search.RadiusBound", shape=_without_derived)}),
    "dimensionSpec": Kind(
        {
            "": DruidClass(
                "query.dimension.DefaultDimensionSpec",
                {
                    "outputType": in_form(column_type),
                    "extractionFn": of_kind("extractionFn"),
                    "delegate": of_kind("dimensionSpec"),
                    "values": in_form(sorted_texts),
                },
                _with_output,
            )
        },
        default_type="default",
        types={"LegacyDimensionSpec": "default"},
        from_text=_dimension,
    ),
    "extractionFn": Kind(
        {
            "upper": DruidClass("query.extraction.UpperExtractionFn", shape=_with_locale),
            "lower": DruidClass("query.extraction.LowerExtractionFn", shape=_with_locale),
            "timeFormat": DruidClass(
                "query.extraction.TimeFormatExtractionFn",
                {
                    "granularity": in_form(canonical_granularity),
                    "timeZone": in_form(canonical_time_zone),
                },
            ),
            "stringFormat": DruidClass("query.extraction.StringFormatExtractionFn", {"nullHandling": in_form(lower)}),
            "registeredLookup": DruidClass(
                "query.lookup.RegisteredLookupExtractionFn", {"retainMissingValue": omits(False)}
            ),
            "cascade": DruidClass("query.extraction.CascadeExtractionFn", {"extractionFns": of_kind("extractionFn")}),
        }
    ),
}
