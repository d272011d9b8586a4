# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The positions of strings in a statement."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._secrets.sql_literals import literals
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("SELECT 1", []),
        ("SELECT 'a', 'it''s', ''", [("", "a"), ("", "it's"), ("", "")]),
        ("SELECT \"it's\", 'a'", [("", "a")]),
        ("SELECT 1 -- don't\n, 'a' /* don't, 'b' */, 'c'", [("", "a"), ("", "c")]),
        ("SELECT 1 /* don't, 'b'", []),
        ("SELECT 1 - 2 / 3, 'a'", [("", "a")]),
        ("HTTP(userName => 'me', password=>'x', ARRAY['u'])", [("userName", "me"), ("password", "x"), ("", "u")]),
        ("WHERE a='b' AND c >= 'd'", [("", "b"), ("", "d")]),
        ("'not ended", []),
    ],
)
def test_literals(statement: str, found: list[tuple[str, str]]) -> None:
    assert [(literal.argument, literal.text) for literal in literals(statement)] == found


@given(st.text(), st.text(), st.from_regex(r"[A-Za-z]\w{0,20}", fullmatch=True))
def test_string_literal_round_trips(text: str, other: str, name: str) -> None:
    raw = text.replace("'", "''")
    (first, second) = literals(f"SELECT {name} => '{raw}', '{other.replace(chr(39), chr(39) * 2)}'")
    assert (first.argument, first.text, second.text) == (name, text, other)
    assert first.start == len(f"SELECT {name} => '")


@pytest.mark.parametrize("hostile", ["'", "/*", "/", "*", "-", "--", '"', "a", " ", "a => ", "a =>", "=>", "''", "\\"])
def test_any_statement_is_parsed_fast(hostile: str) -> None:
    """With anything worse than linear time these would take hours."""
    list(literals("'" + hostile * (200_000 // len(hostile))))
