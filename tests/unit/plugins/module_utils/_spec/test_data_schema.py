# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Dimensions, and the specified exclusions."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.data_schema import (
    canonical_dimensions,
    specified_exclusions,
)


def test_a_name_is_a_dimension_of_type_string() -> None:
    assert canonical_dimensions(
        ["page", {"name": "user"}, {"type": "long", "name": "added", "multiValueHandling": "array"}]
    ) == [
        {"type": "string", "name": "page"},
        {"type": "string", "name": "user"},
        {"type": "long", "name": "added", "multiValueHandling": "ARRAY"},
    ]


@pytest.mark.parametrize(
    ("schema", "specified"),
    [
        ({}, None),
        ({"dimensionsSpec": {"dimensions": []}}, None),
        ({"dimensionsSpec": {"dimensionExclusions": []}}, []),
        ({"dimensionsSpec": {"dimensionExclusions": ["b", "a"]}}, ["a", "b"]),
        (
            {
                "timestampSpec": {"column": "ts"},
                "dimensionsSpec": {"dimensionExclusions": ["ts", "__time", "sum", "added", "x", "y", "mine"]},
                "metricsSpec": [
                    {"type": "longSum", "name": "sum", "fieldName": "added"},
                    {"type": "cardinality", "name": "users", "fieldNames": ["x", "y"]},
                ],
            },
            ["mine"],
        ),
    ],
)
def test_specified_exclusions(schema: dict[str, Any], specified: list[str] | None) -> None:
    assert specified_exclusions(schema) == specified
