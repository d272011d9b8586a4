# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exclusions that are specified are those that are sent, and what Druid adds is no difference."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.exclusions import with_exclusions
from ansible_collections.druidops.druid.plugins.module_utils._spec.merge import merge
from hypothesis import given
from hypothesis import strategies as st

METRICS = [
    {"type": "longSum", "name": "sum", "fieldName": "added"},
    {"type": "filtered", "name": "f", "aggregator": {"type": "count", "name": "c"}, "filter": {"dimension": "bot"}},
]
DRUIDS = ["__time", "added", "bot", "f", "sum", "ts"]


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
    """What Druid adds again stays, so that a diff has only what is specified."""
    assert _sent(_live(*live), _spec(specified)) == sorted([*specified, *DRUIDS])


def test_null_removes_the_specified_ones() -> None:
    assert _sent(_live(), _spec_of({"dimensionExclusions": None})) == DRUIDS
    assert _sent(_live("ip"), _spec_of({"dimensionExclusions": None})) == DRUIDS


def test_exclusions_that_are_not_specified_stay() -> None:
    assert _sent(_live("ip"), _spec(None, granularitySpec={"rollup": False})) == sorted(["ip", *DRUIDS])


FIRST_METRIC_ONLY = {"metricsSpec": METRICS[:1]}
OTHER_TIME = {"timestampSpec": {"column": "when"}}
AS_DIMENSION = {"dimensionsSpec": {"dimensions": [{"type": "string", "name": "added"}]}}
CHANGES: dict[str, tuple[dict[str, Any], list[str] | None, set[str]]] = {
    "no metrics": ({"metricsSpec": []}, None, {"added", "bot", "f", "sum"}),
    "fewer metrics": (FIRST_METRIC_ONLY, None, {"bot", "f"}),
    "another time column": (OTHER_TIME, None, {"ts"}),
    "a specified one stays": ({"metricsSpec": []}, ["ip", "added"], {"bot", "f", "sum"}),
    "null": ({"dimensionsSpec": {"dimensionExclusions": None}, "metricsSpec": METRICS[:1]}, None, {"ip", "bot", "f"}),
    "a dimension of a metric": (AS_DIMENSION, None, {"added"}),
    "a dimension of a metric, with exclusions": (AS_DIMENSION, ["ip"], {"added"}),
    "a specified one becomes a dimension": ({"dimensionsSpec": {"dimensions": [{"name": "ip"}]}}, None, {"ip"}),
}


@pytest.mark.parametrize(("schema", "specified", "dropped"), CHANGES.values(), ids=CHANGES)
def test_what_druid_derived_from_the_old_schema_is_dropped(
    schema: dict[str, Any], specified: list[str] | None, dropped: set[str]
) -> None:
    dimensions = {**schema.get("dimensionsSpec", {}), **({"dimensionExclusions": specified} if specified else {})}
    desired = {"spec": {"dataSchema": {**schema, **({"dimensionsSpec": dimensions} if dimensions else {})}}}

    assert {*_sent(_live("ip"), desired)} == {"ip", *DRUIDS} - dropped


EXCLUSIONS = st.lists(st.sampled_from(["ip", "added", "ts", "sum"]), unique=True)
SCHEMAS = st.fixed_dictionaries(
    {"timestampSpec": st.sampled_from([{"column": "ts"}, {"column": "at"}])},
    optional={
        "metricsSpec": st.lists(st.sampled_from(METRICS), unique_by=str),
        "dimensionsSpec": st.fixed_dictionaries({"dimensionExclusions": EXCLUSIONS}),
    },
)


@given(a=SCHEMAS, b=SCHEMAS)
def test_a_schema_that_is_applied_again_is_as_at_first(a: dict[str, Any], b: dict[str, Any]) -> None:
    """From A to B and back to A, whatever Druid has added. A resource sends null for what it had specified."""
    schemas = [{"metricsSpec": [], "dimensionsSpec": {"dimensionExclusions": None}, **each} for each in (a, b, a)]
    first = live = _as_druid_has_it(_spec_of(None, **schemas[0]))
    for schema in schemas:
        desired = {"spec": {"dataSchema": schema}}
        live = _as_druid_has_it(with_exclusions(live, desired, merge(live, desired, "supervisor")))
    assert live == first
    assert with_exclusions(live, desired, merge(live, desired, "supervisor")) == live


def _spec_of(dimensions: dict[str, Any] | None, **schema: Any) -> dict[str, Any]:
    return {"spec": {"dataSchema": {**({} if dimensions is None else {"dimensionsSpec": dimensions}), **schema}}}


def _as_druid_has_it(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec with the columns that Druid adds, which these are for the metrics above."""
    schema = spec["spec"]["dataSchema"]
    columns = {"longSum": ["added", "sum"], "filtered": ["bot", "f"]}
    metrics = {name for metric in schema["metricsSpec"] for name in columns[metric["type"]]}
    specified = schema["dimensionsSpec"]["dimensionExclusions"] or []
    exclusions = sorted({*specified, *metrics, schema["timestampSpec"]["column"], "__time"})
    return {"spec": {"dataSchema": {**schema, "dimensionsSpec": {"dimensionExclusions": exclusions}}}}
