# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is nested more deeply than Python can walk down is noticed, and left out where the rest is of use."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.nested_json import (
    MAX_LEVELS,
    is_too_deep,
    upper_levels,
)

# More levels than Python has frames.
BOTTOMLESS = 5000


def nested(levels: int, value: Any = "leaf") -> Any:
    """Return a value in so many mappings and lists by turns."""
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("leaf", False),
        (nested(MAX_LEVELS), False),
        (nested(MAX_LEVELS + 1), True),
        (nested(BOTTOMLESS), True),
        ({"flat": 1, "deep": nested(MAX_LEVELS)}, True),
    ],
    ids=["scalar", "most", "one more", "bottomless", "below a field"],
)
def test_detects_too_deep_nesting(value: Any, expected: bool) -> None:
    assert is_too_deep(value) is expected


def test_keeps_the_upper_levels() -> None:
    assert upper_levels(nested(MAX_LEVELS)) == nested(MAX_LEVELS)
    assert upper_levels(nested(BOTTOMLESS)) == nested(MAX_LEVELS, {})
    assert upper_levels({"a": [{"b": 1}, "c"]}, 2) == {"a": [{}, "c"]}
