# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person has stated, and Druid has dropped."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.dropped import dropped


@pytest.mark.parametrize(
    ("stated", "kept", "places"),
    [
        ({"a": 1}, {"a": 2, "b": 3}, []),
        ({"a": 1, "b": 2}, {"a": 1}, ["b"]),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {}}}, ["a.b.c"]),
        ({"a": [{"b": 1, "c": 2}, {"d": 1}]}, {"a": [{"b": 1}, {"d": 1}]}, ["a[0].c"]),
        ({"a": None}, {}, []),
        ({"a": {"b": 1}}, {"a": "changed"}, []),
    ],
)
def test_dropped(stated: Any, kept: Any, places: list[str]) -> None:
    assert list(dropped(stated, kept)) == places
