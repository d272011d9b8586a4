# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A user's specification, merged into Druid's."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import are_same, merge
from hypothesis import given
from hypothesis import strategies as st

CASES: dict[str, tuple[Any, Any, Any]] = {
    "what is not stated stays": ({"a": 1, "b": 2}, {"b": 3}, {"a": 1, "b": 3}),
    "mappings are merged deeply": ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
    "null takes away": ({"a": {"b": 1, "c": 2}}, {"a": {"c": None}}, {"a": {"b": 1, "c": None}}),
    "null of what is not there": ({"a": 1}, {"b": None}, {"a": 1}),
    "null of nothing": ({"a": None}, {"a": None}, {"a": None}),
    "something where nothing was": ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    "a number as text": ({"a": 2}, {"a": "2"}, {"a": 2}),
    "text as a number": ({"a": "2"}, {"a": 2}, {"a": "2"}),
    "a boolean as text": ({"a": True}, {"a": "true"}, {"a": True}),
    "another number as text": ({"a": 2}, {"a": "3"}, {"a": 3}),
    "another boolean as text": ({"a": True}, {"a": "false"}, {"a": False}),
    "text of more levels than can be read": ({"a": 1}, {"a": "[" * 100_000}, {"a": "[" * 100_000}),
    "two texts are compared as texts": ({"a": "1"}, {"a": "1.0"}, {"a": "1.0"}),
    "a float that is whole": ({"a": 1}, {"a": 1.0}, {"a": 1}),
    "a context keeps the types": ({"context": {"a": 1}}, {"context": {"a": "1"}}, {"context": {"a": "1"}}),
    "a context keeps booleans": ({"context": {"a": True}}, {"context": {"a": 1}}, {"context": {"a": 1}}),
    "a context keeps what is not stated": (
        {"context": {"a": 1, "b": 2}},
        {"context": {"b": None, "c": 3}},
        {"context": {"a": 1, "b": None, "c": 3}},
    ),
    "another type is another thing": (
        {"f": {"type": "json", "keepNullColumns": False}},
        {"f": {"type": "csv", "columns": ["a"]}},
        {"f": {"type": "csv", "columns": ["a"]}},
    ),
    "the same type keeps the rest": (
        {"f": {"type": "json", "keepNullColumns": False}},
        {"f": {"type": "json"}},
        {"f": {"type": "json", "keepNullColumns": False}},
    ),
    "a list is replaced as a whole": ({"a": [1, 2, 3]}, {"a": [3, 1]}, {"a": [3, 1]}),
    "elements keep what they had, by name": (
        {"d": [{"name": "x", "type": "string", "index": True}, {"name": "y", "type": "long"}]},
        {"d": [{"name": "y", "type": "long"}, {"name": "x", "type": "string"}]},
        {"d": [{"name": "y", "type": "long"}, {"name": "x", "type": "string", "index": True}]},
    ),
    "elements without a name keep what they had when nothing that is stated is different": (
        {"f": [{"type": "selector", "value": "a", "tuning": {}}]},
        {"f": [{"type": "selector", "value": "a"}]},
        {"f": [{"type": "selector", "value": "a", "tuning": {}}]},
    ),
    "another element takes nothing from the one that was there": (
        {"f": [{"type": "bound", "dimension": "x", "lower": 1}, {"type": "selector", "value": "a", "tuning": {}}]},
        {"f": [{"type": "bound", "dimension": "y", "upper": 5}, {"type": "selector", "value": "a"}]},
        {"f": [{"type": "bound", "dimension": "y", "upper": 5}, {"type": "selector", "value": "a", "tuning": {}}]},
    ),
    "elements are recognised wherever they are": (
        {"f": [{"a": 1, "x": 0}, {"b": 1, "x": 0}]},
        {"f": [{"new": 1}, {"b": 1}, {"a": 1}]},
        {"f": [{"new": 1}, {"b": 1, "x": 0}, {"a": 1, "x": 0}]},
    ),
    "true is no 1": ({"a": "1"}, {"a": True}, {"a": True}),
    "a number and the same with a point in a text": ({"a": "1.0"}, {"a": 1}, {"a": 1}),
    "a list where a mapping was": ({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}),
    "text where a mapping was": ({"a": {"b": 1}}, {"a": "x"}, {"a": "x"}),
    "text that is no number": ({"a": 7}, {"a": "007"}, {"a": "007"}),
}

names = st.sampled_from(["a", "b", "name", "type", "context"])
leaves = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "1", "x", "true"])
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=12
)
documents = st.dictionaries(names, values, max_size=4)


@pytest.mark.parametrize(("before", "desired", "after"), CASES.values(), ids=CASES)
def test_merge(before: Any, desired: Any, after: Any) -> None:
    assert are_same(merge(before, desired), after)


@given(documents, documents)
def test_merge_is_idempotent(before: Any, desired: Any) -> None:
    after = merge(before, desired)

    assert are_same(merge(after, desired), after)


@given(documents)
def test_merge_with_itself_is_identity(before: Any) -> None:
    assert are_same(merge(before, before), before)
