# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exclusions that are specified are those that are sent, and what Druid adds is no difference."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.exclusions import with_exclusions
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import merge

METRICS = [
    {"type": "longSum", "name": "sum", "fieldName": "added"},
    {"type": "filtered", "name": "f", "aggregator": {"type": "count", "name": "c"}, "filter": {"dimension": "bot"}},
]
DRUIDS = ["__time", "added", "f", "sum", "ts"]


def _spec(exclusions: Any, **schema: Any) -> dict[str, Any]:
    dimensions = {} if exclusions is None else {"dimensionsSpec": {"dimensionExclusions": exclusions}}
    return {"spec": {"dataSchema": {**dimensions, **schema}}}


def _live(*specified: str) -> dict[str, Any]:
    return _spec(sorted([*specified, *DRUIDS]), timestampSpec={"column": "ts"}, metricsSpec=METRICS)


def _sent(before: Any, desired: Any) -> Any:
    after = with_exclusions(before, desired, merge(before, desired, "supervisor"))
    return after["spec"]["dataSchema"]["dimensionsSpec"]["dimensionExclusions"]


@pytest.mark.parametrize("specified", [["ip"], ["ip", "ts"], ["added", "ip"], ["__time", "ip", "sum"]])
def test_what_druid_adds_is_no_difference(specified: list[str]) -> None:
    assert (
        _sent(_live("ip"), _spec(specified))
        == _live("ip")["spec"]["dataSchema"]["dimensionsSpec"]["dimensionExclusions"]
    )


@pytest.mark.parametrize(
    ("live", "specified"),
    [
        (["ip"], ["ip", "session"]),
        (["ip", "session"], ["ip"]),
        (["ip"], []),
        ([], ["c"]),
        (["ip"], ["ip", "timestamp"]),
    ],
)
def test_other_exclusions_are_sent_as_specified(live: list[str], specified: list[str]) -> None:
    assert _sent(_live(*live), _spec(specified)) == specified


def test_null_removes_the_specified_ones() -> None:
    assert _sent(_live(), {"spec": {"dataSchema": {"dimensionsSpec": {"dimensionExclusions": None}}}}) == DRUIDS
    assert _sent(_live("ip"), {"spec": {"dataSchema": {"dimensionsSpec": {"dimensionExclusions": None}}}}) == []


def test_exclusions_that_are_not_specified_stay() -> None:
    live = _live("ip")
    changed = _spec(None, granularitySpec={"rollup": False})
    assert _sent(live, changed) == live["spec"]["dataSchema"]["dimensionsSpec"]["dimensionExclusions"]


def test_a_dimension_is_not_excluded() -> None:
    dimensions = {"dimensions": [{"type": "string", "name": "added"}]}
    desired = {"spec": {"dataSchema": {"dimensionsSpec": dimensions, "metricsSpec": []}}}
    assert _sent(_live("ip"), desired) == ["__time", "f", "ip", "sum", "ts"]
