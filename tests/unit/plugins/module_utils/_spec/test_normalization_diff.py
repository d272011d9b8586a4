# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fields that a user has specified and Druid has dropped."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    differing_fields,
    dropped_fields,
)


@pytest.mark.parametrize(
    ("specified", "returned", "places"),
    [
        ({"a": 1}, {"a": 2, "b": 3}, []),
        ({"a": 1, "b": 2}, {"a": 1}, ["b"]),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {}}}, ["a.b.c"]),
        ({"a": [{"b": 1, "c": 2}, {"d": 1}]}, {"a": [{"b": 1}, {"d": 1}]}, ["a[0].c"]),
        ({"a": None}, {}, []),
        ({"a": {"b": 1}}, {"a": "changed"}, []),
    ],
)
def test_dropped_fields(specified: Any, returned: Any, places: list[str]) -> None:
    assert list(dropped_fields(specified, returned)) == places


def test_differing_fields_have_a_fixed_order() -> None:
    names = [f"{letter}-field" for letter in "hgfedcba"]
    one = {name: {"same": 0, "changed": 1} for name in names}
    other = {name: {"changed": 2, "same": 0} for name in sorted(names)}
    assert list(differing_fields(one, other)) == [f"{name}.changed" for name in names]
