# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each row of the table: what is specified is sent, also what Druid omits or would use anyway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.canonical import canonical
from ansible_collections.druidops.druid.plugins.module_utils._serde.druid_class import DruidClass, Field
from ansible_collections.druidops.druid.plugins.module_utils._serde.table import KINDS
from ansible_collections.druidops.druid.plugins.module_utils._spec.diff import without_omitted
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from hypothesis import given
from hypothesis import strategies as st

Row = tuple[str, str, str, Field]


def _rows() -> Iterator[Row]:
    for kind, rules in KINDS.items():
        for kind_type, druid_class in rules.classes.items():
            for name, field in druid_class.fields.items():
                yield kind, kind_type, name, field


ROWS = list(_rows())
OMITTED = [row for row in ROWS if row[3].omitted]
RETURNED = [row for row in ROWS if row[3].has_default and not row[3].omitted]


def _names(rows: list[Row]) -> list[str]:
    return ["-".join(filter(None, row[:3])) for row in rows]


def opposite(field: Field) -> Any:
    """Return another value than the default."""
    default = field.default
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 1
    return {"other": True} if isinstance(default, dict) else ["other"] if isinstance(default, list) else "other"


def _object(kind_type: str, **fields: Any) -> dict[str, Any]:
    return {**({"type": kind_type} if kind_type else {}), **fields}


@pytest.mark.parametrize(("kind", "kind_type", "name", "field"), OMITTED, ids=_names(OMITTED))
def test_the_omitted_default_is_sent_and_no_warning(kind: str, kind_type: str, name: str, field: Field) -> None:
    before, default = _object(kind_type), _object(kind_type, **{name: field.default})
    assert are_same(without_omitted(kind, before, merge(before, default, kind)), before)
    other = _object(kind_type, **{name: opposite(field)})
    assert are_same(merge(before, other, kind), other)
    assert are_same(without_omitted(kind, before, other), other)
    assert are_same(without_omitted(kind, other, default), default)


@pytest.mark.parametrize(("kind", "kind_type", "name", "field"), RETURNED, ids=_names(RETURNED))
def test_null_is_the_returned_default(kind: str, kind_type: str, name: str, field: Field) -> None:
    null = _object(kind_type, **{name: None})
    before = _object(kind_type, **{name: field.default})
    assert are_same(merge(before, null, kind), before)
    other = _object(kind_type, **{name: opposite(field)})
    assert are_same(merge(other, null, kind), null)


@pytest.mark.parametrize(("kind", "kind_type", "name", "field"), RETURNED, ids=_names(RETURNED))
def test_a_missing_field_that_druid_returns_is_sent(kind: str, kind_type: str, name: str, field: Field) -> None:
    value = opposite(field) if field.default is None else field.default
    assert are_same(
        merge(_object(kind_type), _object(kind_type, **{name: value}), kind), _object(kind_type, **{name: value})
    )


DERIVED = [
    (kind, kind_type, derived, source)
    for kind, rules in KINDS.items()
    for kind_type, druid_class in rules.classes.items()
    for derived, source in druid_class.derived
]


@pytest.mark.parametrize(("kind", "kind_type", "derived", "source"), DERIVED)
def test_what_druid_has_derived_is_derived_again(kind: str, kind_type: str, derived: str, source: str) -> None:
    before = _object(kind_type, **{derived: "x", source: "x"})
    assert are_same(merge(before, {derived: None, source: "z"}, kind), _object(kind_type, **{source: "z"}))
    assert are_same(merge(before, {source: "z"}, kind), _object(kind_type, **{source: "z"}))
    assert are_same(merge(before, {derived: "y", source: "z"}, kind), _object(kind_type, **{derived: "y", source: "z"}))


@pytest.mark.parametrize("name", ["context", "consumerProperties", "taskContext", "queryContext"])
def test_nothing_in_a_free_map_is_a_default(name: str) -> None:
    for kind in ("supervisor", "compaction", "kafkaIOConfig"):
        desired = {name: {"forceTimeChunkLock": False, "skipHeaderRows": 0, "empty": None}}
        assert are_same(merge({name: {}}, desired, kind), {name: {"forceTimeChunkLock": False, "skipHeaderRows": 0}})
        assert are_same(merge({name: {"a": 1}}, {name: {"a": "1"}}, kind), {name: {"a": "1"}})


EXCLUSIVE = [
    (kind, kind_type, druid_class)
    for kind, rules in KINDS.items()
    for kind_type, druid_class in rules.classes.items()
    if druid_class.one_of
]


@pytest.mark.parametrize(("kind", "kind_type", "druid_class"), EXCLUSIVE, ids=lambda each: str(each)[:20])
def test_of_exclusive_fields_the_specified_one_stays(kind: str, kind_type: str, druid_class: DruidClass) -> None:
    for group in druid_class.one_of:
        for name in group:
            before = _object(kind_type, **dict.fromkeys(group - {name}, 1))
            desired = _object(kind_type, **{name: 2})
            after = merge(before, desired, kind)
            assert are_same(after, desired)
            assert are_same(merge(after, desired, kind), after)
            # null is how GET returns the others
            returned = {**dict.fromkeys(group), **desired}
            assert are_same(merge(returned, desired, kind), returned)


def test_each_kind_that_a_field_names_exists() -> None:
    assert {field.kind for *_where, field in ROWS if field.kind} <= {*KINDS}


def test_each_class_names_its_source() -> None:
    for rules in KINDS.values():
        assert all("." in druid_class.source for druid_class in rules.classes.values())


# fields that an object as a whole depends on
_OF_SHAPES = (
    *("hasHeaderRow", "columns", "shouldTryParseNumbers", "name", "expr", "aggregator", "fieldNames", "fields"),
    *("alphaNumeric", "ordering", "sortedValues", "values", "minCoords", "localeString", "dimension", "outputName"),
    *("spatialDimensions", "dimensionsSpec", "metricsSpec", "timestampSpec", "targetRowsPerSegment", "dataSchema"),
    *("reportParseExceptions", "maxSavedParseExceptions", "spec", "type", "period", "origin", "duration", "timeZone"),
)
_NAMES = sorted({*_OF_SHAPES, *(name for _kind, _type, name, _field in ROWS)})
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
_ODD = st.recursive(
    _LEAVES,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inside, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from([(kind, kind_type) for kind, rules in KINDS.items() for kind_type in rules.classes]), _ODD)
def test_invalid_values_are_left_to_druid(which: tuple[str, str], value: Any) -> None:
    kind, kind_type = which
    document = {"type": kind_type, **value} if isinstance(value, dict) and kind_type else value
    form = canonical(kind, document)
    assert are_same(canonical(kind, form), form)
    after = merge(form, form, kind)
    assert are_same(merge(after, form, kind), after)


@given(st.sampled_from(sorted(KINDS)), _ODD, _ODD)
def test_merge_is_idempotent(kind: str, returned: Any, specified: Any) -> None:
    before, desired = canonical(kind, returned), canonical(kind, specified)
    after = merge(before, desired, kind)
    assert are_same(merge(after, desired, kind), after)
