# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The columns that an aggregator reads, which Druid adds to the exclusions of dimensions."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.input_columns import input_columns

AGGREGATORS: dict[str, tuple[Any, set[str]]] = {
    "a field": ({"type": "longSum", "name": "s", "fieldName": "added"}, {"s", "added"}),
    "a column of times": ({"type": "longLast", "name": "l", "fieldName": "v", "timeColumn": "at"}, {"l", "v", "at"}),
    "names of fields": ({"name": "c", "fieldNames": ["a", "b"]}, {"c", "a", "b"}),
    "dimension specs": ({"name": "c", "fields": ["a", {"type": "default", "dimension": "b"}]}, {"c", "a", "b"}),
    "an expression": ({"name": "s", "expression": "abs(added) - a.b + $x"}, {"s", "added", "a", "b", "$x"}),
    "quotes": ({"name": "s", "expression": """ "my col" + 'text' + 'it\\'s' """}, {"s", "my col"}),
    "a function before a space": ({"name": "s", "expression": "if (a > 1, b, 0)"}, {"s", "a", "b"}),
    "a filter": (
        {
            "name": "f",
            "aggregator": {"name": "s", "fieldName": "added"},
            "filter": {"type": "and", "fields": [{"dimension": "bot", "value": "x"}, {"field": {"column": "page"}}]},
        },
        {"f", "added", "bot", "page"},
    ),
    "invalid values": ({"name": 5, "fieldNames": "a", "fields": [None, 5], "expression": 5, "filter": [1]}, set()),
    "no aggregator": (5, set()),
}


@pytest.mark.parametrize(("aggregator", "columns"), AGGREGATORS.values(), ids=AGGREGATORS)
def test_input_columns(aggregator: Any, columns: set[str]) -> None:
    assert set(input_columns(aggregator)) == columns


LONG = {
    "a function": "a" * 500_000 + "(",
    "an open literal": "'" + "a" * 500_000,
    "words": "a " * 250_000 + "(",
    "quotes": '"' * 499_999,
    "backslashes": "\\" * 500_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_expression_is_read_in_linear_time(text: str) -> None:
    """A quadratic pattern would take hours."""
    assert len(set(input_columns({"expression": text}))) <= 1
