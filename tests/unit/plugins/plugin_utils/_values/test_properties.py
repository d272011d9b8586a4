# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Java properties are parsed as Java parses them."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import properties
from hypothesis import given
from hypothesis import strategies as st


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
