# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every notation that Druid takes, and its own: intervals, durations, granularities, dimensions, exclusions."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.canonical import (
    canonical_dimensions,
    canonical_duration,
    canonical_granularity,
    canonical_interval,
    specified_exclusions,
)
from hypothesis import given
from hypothesis import strategies as st

INTERVALS: dict[Any, Any] = {
    "2020/2021": "2020-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z",
    "2020-03/2021-04-05": "2020-03-01T00:00:00.000Z/2021-04-05T00:00:00.000Z",
    "2020-01-01T01:00+01:00/2020-01-02T00:00:00.5Z": "2020-01-01T00:00:00.000Z/2020-01-02T00:00:00.500Z",
    "P1M/2020-01-01": "P1M/2020-01-01T00:00:00.000Z",
    "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z": (
        "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"
    ),
    "for ever": "for ever",
    # in another year than Python knows any
    "0001-01-01T00:00:00+05:00/2020": "0001-01-01T00:00:00+05:00/2020-01-01T00:00:00.000Z",
    "2020/9999-12-31T23:00:00-05:00": "2020-01-01T00:00:00.000Z/9999-12-31T23:00:00-05:00",
    None: None,
}


@pytest.mark.parametrize(("value", "expected"), INTERVALS.items())
def test_canonical_interval(value: Any, expected: Any) -> None:
    assert canonical_interval(value) == expected


@given(st.text(alphabet="0123456789-/:TPZ.", max_size=30))
def test_canonical_form_is_idempotent(text: str) -> None:
    assert canonical_interval(canonical_interval(text)) == canonical_interval(text)


DURATIONS = [
    ("PT1H", "PT3600S"),
    ("PT30M", "PT1800S"),
    ("PT1H30M", "PT5400S"),
    ("P1D", "PT86400S"),
    ("P1W", "PT604800S"),
    ("P1DT12H", "PT129600S"),
    ("PT3600S", "PT3600S"),
    ("PT0S", "PT0S"),
    ("PT0.5S", "PT0.500S"),
    ("PT1.000S", "PT1S"),
    ("pt1h", "PT3600S"),
    # no length, or an invalid period: Druid reports the error
    ("P1M", "P1M"),
    ("P1Y", "P1Y"),
    ("P", "P"),
    ("PT", "PT"),
    ("1h", "1h"),
    (f"P{'9' * 5000}D", f"P{'9' * 5000}D"),
    ("P999999999999999999W", f"PT{999999999999999999 * 604800}S"),
    ("", ""),
    (5, 5),
    (None, None),
]


@pytest.mark.parametrize(("period", "seconds"), DURATIONS)
def test_canonical_duration(period: Any, seconds: Any) -> None:
    assert canonical_duration(period) == seconds


@given(st.from_regex(r"P(\d{1,3}D)?(T\d{1,3}H(\d{1,2}M)?(\d{1,2}S)?)?", fullmatch=True))
def test_duration_in_seconds_is_unchanged(period: str) -> None:
    assert canonical_duration(canonical_duration(period)) == canonical_duration(period)


BERLIN = {"type": "period", "period": "P1D", "timeZone": "Europe/Berlin"}
GRANULARITIES = [
    ("hour", "HOUR"),
    ("fifteen_minute", "FIFTEEN_MINUTE"),
    ("DAY", "DAY"),
    ("none", {"type": "none"}),
    ("ALL", {"type": "all"}),
    ({"type": "none"}, {"type": "none"}),
    ({"type": "period", "period": "PT1H"}, "HOUR"),
    ({"type": "period", "period": "P1D", "timeZone": "UTC", "origin": None}, "DAY"),
    (BERLIN, BERLIN),
    ({"type": "period", "period": "PT2H"}, {"type": "period", "period": "PT2H"}),
    ({"type": "duration", "duration": 3600000}, {"type": "duration", "duration": 3600000}),
    ("fortnight", "fortnight"),
    (None, None),
]


@pytest.mark.parametrize(("granularity", "canonical"), GRANULARITIES)
def test_canonical_granularity(granularity: Any, canonical: Any) -> None:
    assert canonical_granularity(granularity) == canonical
    assert canonical_granularity(canonical) == canonical


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
