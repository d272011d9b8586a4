# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A diff has what is specified, without what only Druid has added to the state before."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.diff import diff_of

FILLED = {"type": "string", "multiValueHandling": "SORTED_ARRAY", "createBitmapIndex": True}


def spec(dimensions: list[Any], exclusions: list[str], **schema: Any) -> dict[str, Any]:
    found = {"dimensions": dimensions, "dimensionExclusions": exclusions, **schema.pop("dimensionsSpec", {})}
    return {"type": "kafka", "spec": {"dataSchema": {"dimensionsSpec": found, **schema}}}


def shown(before: Any, after: Any) -> list[dict[str, Any]]:
    """Return both dimensionsSpecs."""
    return [each["spec"]["dataSchema"]["dimensionsSpec"] for each in diff_of("supervisor", before, after)]


@pytest.mark.parametrize(
    ("more", "more_is_shown"),
    [
        ({}, {}),
        ({"multiValueHandling": "ARRAY", "createBitmapIndex": False}, None),
        # a default of numbers only
        ({"createBitmapIndex": False}, None),
    ],
)
def test_a_renamed_dimension_has_no_defaults(more: dict[str, Any], more_is_shown: dict[str, Any] | None) -> None:
    kept = {**FILLED, "name": "page"}
    before, after = shown(
        spec([kept, {**FILLED, **more, "name": "user"}], []), spec([kept, {"type": "string", "name": "person"}], [])
    )
    is_default = more if more_is_shown is None else more_is_shown
    assert before["dimensions"] == [kept, {"type": "string", **is_default, "name": "user"}]
    assert after["dimensions"] == [kept, {"type": "string", "name": "person"}]


METRIC = {"type": "longSum", "name": "sum", "fieldName": "bytes"}


def test_a_list_of_dimensions_has_no_derived_exclusions() -> None:
    dimensions = [{**FILLED, "name": "page"}]
    old = spec(dimensions, ["__time", "bytes", "ip", "sum", "ts"], metricsSpec=[METRIC], timestampSpec={"column": "ts"})
    new = spec(dimensions, ["__time", "ip", "ts"], metricsSpec=[], timestampSpec={"column": "ts"})
    assert [each["dimensionExclusions"] for each in shown(old, new)] == [["ip"], ["ip"]]


@pytest.mark.parametrize("discovery", [{"useSchemaDiscovery": True}, {"includeAllDimensions": True}])
def test_columns_that_schema_discovery_gets_back_are_shown(discovery: dict[str, Any]) -> None:
    dimensions = [{**FILLED, "name": "page"}]
    old = spec(dimensions, ["__time", "bytes", "sum"], metricsSpec=[METRIC], dimensionsSpec=discovery)
    new = spec(dimensions, ["__time"], metricsSpec=[], dimensionsSpec=discovery)
    assert [each["dimensionExclusions"] for each in shown(old, new)] == [["__time", "bytes", "sum"], ["__time"]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (spec([{"name": "a"}], ["__time"]), spec([{"name": "a"}], [])),
        (None, spec([{**FILLED, "name": "a"}], [])),
        (spec([{**FILLED, "name": "a"}], []), None),
        (spec(["a"], []), spec([], [])),
        ({"rules": [{"type": "loadForever"}]}, {"rules": []}),
    ],
)
def test_all_else_is_shown_as_it_is(before: Any, after: Any) -> None:
    assert diff_of("supervisor", before, after) == (before, after)
