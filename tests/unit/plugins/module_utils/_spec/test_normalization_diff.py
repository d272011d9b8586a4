# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fields that a user has specified and Druid has dropped."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.normalization_diff import (
    added_fields,
    differing_fields,
    kept_fields,
)


@pytest.mark.parametrize(
    ("before", "after", "places"),
    [
        ({"a": 2, "b": 3}, {"a": 1}, []),
        ({"a": 1}, {"a": 1, "b": 2}, ["b"]),
        ({"a": {"b": {}}}, {"a": {"b": {"c": 1}}}, ["a.b.c"]),
        ({"a": [{"b": 1}, {"d": 1}]}, {"a": [{"b": 1, "c": 2}, {"d": 1}]}, ["a[0].c"]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}, {"d": 1}]}, []),
        ({}, {"a": None}, []),
        ({"a": "changed"}, {"a": {"b": 1}}, []),
    ],
)
def test_added_fields(before: Any, after: Any, places: list[str]) -> None:
    assert list(added_fields(before, after)) == places


@pytest.mark.parametrize(
    ("one", "other", "places"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ["b"]),
        ({"a": 1}, {"b": 2}, []),
        ({"a": [{"b": 1}, {"c": 2}]}, {"a": [{"b": 1}, {"c": 3}]}, ["a[1].c"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a"]),
    ],
)
def test_differing_fields(one: Any, other: Any, places: list[str]) -> None:
    assert list(differing_fields(one, other)) == places


MESSAGE = "A value of this type: exactly one of targetRowsPerSegment or maxRowsPerSegment must be present"


@pytest.mark.parametrize(
    ("before", "after", "specified", "places"),
    [
        (
            {"partitionsSpec": {"targetRowsPerSegment": 5, "assumeGrouped": True}},
            {"partitionsSpec": {"targetRowsPerSegment": 5, "assumeGrouped": True, "maxRowsPerSegment": 9}},
            {"partitionsSpec": {"maxRowsPerSegment": 9}},
            ["partitionsSpec.targetRowsPerSegment"],
        ),
        ({"maxRowsPerSegment": 1}, {"maxRowsPerSegment": 2}, {"maxRowsPerSegment": 2}, []),
        ({"maxRowsPerSegment": None}, {"maxRowsPerSegment": None}, {}, []),
        ({"maxRows": 1}, {"maxRows": 1}, {}, []),
        # a word of the message
        ({"present": 1}, {"present": 1}, None, ["present"]),
        ({"type": "of"}, {"type": "of"}, None, []),
        # specified, with the value that it has
        ({"maxRowsPerSegment": 1}, {"maxRowsPerSegment": 1}, {"maxRowsPerSegment": 1}, []),
    ],
)
def test_kept_fields_are_not_specified_and_named_in_the_message(
    before: Any, after: Any, specified: Any, places: list[str]
) -> None:
    assert list(kept_fields(before, after, specified, MESSAGE)) == places


def test_differing_fields_have_a_fixed_order() -> None:
    names = [f"{letter}-field" for letter in "hgfedcba"]
    one = {name: {"same": 0, "changed": 1} for name in names}
    other = {name: {"changed": 2, "same": 0} for name in sorted(names)}
    assert list(differing_fields(one, other)) == [f"{name}.changed" for name in names]
