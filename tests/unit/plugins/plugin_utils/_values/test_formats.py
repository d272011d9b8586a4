# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Quantities and durations in any notation, and Java properties as Java parses them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import (
    binary_size,
    parse_quantity,
    properties,
    seconds_of,
)
from hypothesis import given
from hypothesis import strategies as st

SAME = [
    ("0.5", "500m"),
    ("1", "1000m"),
    (1, "1"),
    (0.5, "500m"),
    ("1.5Gi", "1536Mi"),
    ("1024Mi", "1Gi"),
    ("2e3", "2k"),
    ("2E3", "2000"),
    ("1E", "1000P"),
    ("-1", "-1000m"),
    ("+1", "1"),
    (".5", "0.5"),
    ("1.", "1"),
    ("1e-3", "1m"),
    ("1000000n", "1m"),
    ("1000u", "1m"),
]
INVALID: list[Any] = [
    "",
    ".",
    "1 Gi",
    "1Gi ",
    "Gi",
    "1K",
    "1gi",
    "1Gb",
    "1e",
    "1e3Ki",
    "--1",
    "one",
    "١",
    "1\n",
    None,
    True,
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_equal_quantities(first: Any, second: Any) -> None:
    assert parse_quantity(first) is not None
    assert parse_quantity(first) == parse_quantity(second)


@pytest.mark.parametrize(("first", "second"), [("1", "1m"), ("1M", "1Mi"), ("1G", "1M"), ("-1", "1")])
def test_different_quantities(first: Any, second: Any) -> None:
    assert parse_quantity(first) != parse_quantity(second)


@pytest.mark.parametrize("text", [*INVALID, "1e99999999", "1e99999999999999999999", "1e-99999999999999999999"])
def test_invalid_quantity_is_none(text: Any) -> None:
    assert parse_quantity(text) is None


@given(st.text())
def test_any_string_is_accepted(text: str) -> None:
    assert isinstance(parse_quantity(text), Decimal | None)


@pytest.mark.parametrize("text", ["0", "1", "1000", "1023", "1Ki", "1025", "1536Mi", "2Gi", "7Ei"])
def test_sizes_are_formatted_as_by_the_api_server(text: str) -> None:
    amount = parse_quantity(text)
    assert amount is not None
    assert binary_size(amount) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1h", 3600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("500ms", 0.5),
        ("1us", 1e-6),
        ("0", 0),
        ("", 0),
        ("1x", 0),
    ],
)
def test_is_in_seconds(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", {}),
        ("# comment\n! comment\n\n  \n", {}),
        ("a=1", {"a": "1"}),
        ("  a = 1 ", {"a": "1 "}),
        ("a:1\nb 2\nc", {"a": "1", "b": "2", "c": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\\\n    ,2", {"a": "1,2"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a\\=b=c\\:d", {"a=b": "c:d"}),
        ("a=\\u0041\\tb", {"a": "A\tb"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a==1", {"a": "=1"}),
    ],
)
def test_parses(text: str, entries: dict[str, str]) -> None:
    assert properties(text) == entries


@given(st.text(max_size=40))
def test_accepts_any_string(text: str) -> None:
    assert isinstance(properties(text), dict)
