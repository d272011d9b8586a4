# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every notation of instants, intervals, periods and durations that Druid accepts, and its own."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.times import (
    canonical_duration,
    canonical_interval,
    canonical_period,
    canonical_timestamp,
)
from hypothesis import given
from hypothesis import strategies as st

INTERVALS: dict[Any, Any] = {
    "2020/2021": "2020-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z",
    "2020-03/2021-04-05": "2020-03-01T00:00:00.000Z/2021-04-05T00:00:00.000Z",
    "2020-01-01T01:00+01:00/2020-01-02T00:00:00.5Z": "2020-01-01T00:00:00.000Z/2020-01-02T00:00:00.500Z",
    "P1M/2020-01-01": "2019-12-01T00:00:00.000Z/2020-01-01T00:00:00.000Z",
    "2020-01-01/P1Y": "2020-01-01T00:00:00.000Z/2021-01-01T00:00:00.000Z",
    "2020-01-01/P1Y2M3DT4H": "2020-01-01T00:00:00.000Z/2021-03-04T04:00:00.000Z",
    "2020-01-31/p1m": "2020-01-31T00:00:00.000Z/2020-02-29T00:00:00.000Z",
    "P1M/2020-03-31": "2020-02-29T00:00:00.000Z/2020-03-31T00:00:00.000Z",
    "2024-060/2024-061T12:00": "2024-02-29T00:00:00.000Z/2024-03-01T12:00:00.000Z",
    "2023-366/2024": "2023-366/2024-01-01T00:00:00.000Z",
    "2020-W05/2020-W06": "2020-01-27T00:00:00.000Z/2020-02-03T00:00:00.000Z",
    "2020-11-30/P13M": "2020-11-30T00:00:00.000Z/2021-12-30T00:00:00.000Z",
    "P1D/P1D": "P1D/P1D",
    "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z": (
        "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"
    ),
    "for ever": "for ever",
    "2020/P999999999999Y": "2020-01-01T00:00:00.000Z/P999999999999Y",
    # years that Python does not support
    "0001-01-01T00:00:00+05:00/2020": "0000-12-31T19:00:00.000Z/2020-01-01T00:00:00.000Z",
    "2020/9999-12-31T23:00:00-05:00": "2020-01-01T00:00:00.000Z/10000-01-01T04:00:00.000Z",
    "0000/3000": "0000-01-01T00:00:00.000Z/3000-01-01T00:00:00.000Z",
    "2020-01-01/+10000-01-01": "2020-01-01T00:00:00.000Z/10000-01-01T00:00:00.000Z",
    "-1000-05/-999": "-1000-05-01T00:00:00.000Z/-0999-01-01T00:00:00.000Z",
    "-146136543-09-08/146140482-04-24": "-146136543-09-08T00:00:00.000Z/146140482-04-24T00:00:00.000Z",
    "9999/P1Y": "9999-01-01T00:00:00.000Z/10000-01-01T00:00:00.000Z",
    "P5000Y/3000": "-2000-01-01T00:00:00.000Z/3000-01-01T00:00:00.000Z",
    "P1Y/0000": "-0001-01-01T00:00:00.000Z/0000-01-01T00:00:00.000Z",
    "0004-02-29/P4Y": "0004-02-29T00:00:00.000Z/0008-02-29T00:00:00.000Z",
    "1500-02-29/2000": "1500-02-29/2000-01-01T00:00:00.000Z",
    "0000-W05/2020": "0000-01-31T00:00:00.000Z/2020-01-01T00:00:00.000Z",
    "12345-123/12345-200": "12345-05-03T00:00:00.000Z/12345-07-19T00:00:00.000Z",
    "2020-1-1/02021-2-3": "2020-01-01T00:00:00.000Z/2021-02-03T00:00:00.000Z",
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
    # milliseconds
    (3600000, "PT3600S"),
    (5, "PT0.005S"),
    (-5, -5),
    (True, True),
    # parts that are zero
    ("P0Y0M0DT1H0M0.000S", "PT3600S"),
    (None, None),
]


@pytest.mark.parametrize(("period", "seconds"), DURATIONS)
def test_canonical_duration(period: Any, seconds: Any) -> None:
    assert canonical_duration(period) == seconds


@given(st.from_regex(r"P(\d{1,3}D)?(T\d{1,3}H(\d{1,2}M)?(\d{1,2}S)?)?", fullmatch=True))
def test_duration_in_seconds_is_unchanged(period: str) -> None:
    assert canonical_duration(canonical_duration(period)) == canonical_duration(period)


PERIODS = {
    "P1D": "P1D",
    "p1m": "P1M",
    "PT60M": "PT60M",
    "PT24H": "PT24H",
    "P1DT0H": "P1D",
    "P0D": "PT0S",
    "PT0H": "PT0S",
    "P1Y2M3W4DT5H6M7S": "P1Y2M3W4DT5H6M7S",
    "P2147483647D": "P2147483647D",
    "PT0.5S": "PT0.500S",
    "P1DT1.25S": "P1DT1.250S",
    "PT1.000S": "PT1S",
    "for ever": "for ever",
    # milliseconds
    0: "PT0S",
    600000: "PT10M",
    90061001: "PT25H1M1.001S",
    None: None,
}


@pytest.mark.parametrize(("period", "canonical"), PERIODS.items())
def test_canonical_period(period: Any, canonical: Any) -> None:
    assert canonical_period(period) == canonical
    assert canonical_period(canonical) == canonical


@pytest.mark.parametrize(
    "value",
    [
        *("2020", "2020-01", "2020-01-01", "2020-01-01T00:00:00Z", "2020-01-01t00:00:00z", "2020-01-01T01:00+01:00"),
        1577836800000,
    ],
)
def test_canonical_timestamp(value: Any) -> None:
    assert canonical_timestamp(value) == "2020-01-01T00:00:00.000Z"


# Druid rejects them
@pytest.mark.parametrize("value", ["1577836800000", 1577836800000.5, True, 10**19, -(10**19)])
def test_other_timestamps_are_unchanged(value: Any) -> None:
    assert canonical_timestamp(value) is value
