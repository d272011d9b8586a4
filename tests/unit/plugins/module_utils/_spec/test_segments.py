# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Segments: ids and intervals of any datasource and any time, and which segments newer ones overshadow."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.segments import (
    ETERNITY,
    Segment,
    Timeline,
    counted,
    interval_of,
    parsed,
    valid_datasource,
)
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import DruidError, InvalidInput

DAY = "2020-01-01T00:00:00.000Z/2020-01-02T00:00:00.000Z"
NEXT_DAY = "2020-01-02T00:00:00.000Z/2020-01-03T00:00:00.000Z"
HOUR = "2020-01-01T23:00:00.000Z/2020-01-02T00:00:00.000Z"
TWO_DAYS = "2020-01-01T00:00:00.000Z/2020-01-03T00:00:00.000Z"


def segment(interval: str, version: str = "1") -> Segment:
    return Segment(parsed(interval), version)


@pytest.mark.parametrize("datasource", ["clicks", "a_2020-01-01T00:00:00.000Z", "ö 50%_x"])
@pytest.mark.parametrize("interval", [DAY, ETERNITY])
@pytest.mark.parametrize("partition", ["", "_12"])
def test_id_of_a_segment(datasource: str, interval: str, partition: str) -> None:
    identifier = f"{datasource}_{interval.replace('/', '_')}_2026-11-29T23:31:30.486Z{partition}"
    found = counted([identifier, identifier], datasource)
    assert found == {segment(interval, "2026-11-29T23:31:30.486Z"): 2}
    assert parsed(interval).text == interval


def test_id_of_another_form() -> None:
    with pytest.raises(DruidError, match="id of a segment"):
        counted(["clicks_x"], "clicks")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2020/P1D", DAY),
        ("2020-01-01/2020-01-02", DAY),
        ("2020-01-01T01:00+01:00/P1D", DAY),
        (None, None),
        (ETERNITY, None),
    ],
)
def test_interval_of_an_option(text: str | None, canonical: str | None) -> None:
    assert interval_of(text) == canonical


@pytest.mark.parametrize("text", ["", "2020", "2020_2021", "2021/2020", "2020/2020", "today/P1D", "2020/2021/2022"])
def test_what_is_no_interval(text: str) -> None:
    with pytest.raises(InvalidInput, match="set an interval, such as"):
        interval_of(text)


@pytest.mark.parametrize("name", [None, "", "a/b", ".a", "clicks\n", "a\tb", "a\x80", "a\U0001f622"])
def test_name_of_no_datasource(name: Any) -> None:
    with pytest.raises(InvalidInput, match="datasource"):
        valid_datasource(name)


@pytest.mark.parametrize(
    ("used", "unused", "is_overshadowed"),
    [
        ([], segment(DAY), False),
        ([segment(DAY, "2")], segment(DAY), True),
        ([segment(DAY, "2")], segment(DAY, "2"), False),
        ([segment(DAY, "2")], segment(DAY, "3"), False),
        ([segment(DAY, "1"), segment(DAY, "3")], segment(DAY, "2"), True),
        ([segment(DAY, "2")], segment(HOUR), True),
        ([segment(HOUR, "2")], segment(DAY), False),
        ([segment(DAY, "2")], segment(TWO_DAYS), False),
        ([segment(DAY, "2"), segment(NEXT_DAY, "3")], segment(TWO_DAYS), True),
        ([segment(DAY, "2"), segment(NEXT_DAY, "1")], segment(TWO_DAYS, "1"), False),
        ([segment(NEXT_DAY, "2")], segment(DAY), False),
        ([segment(DAY, "2")], segment(NEXT_DAY), False),
        ([segment(ETERNITY, "2")], segment(DAY), True),
        ([segment(DAY, "2")], segment(ETERNITY), False),
    ],
)
def test_segments_that_newer_ones_overshadow(used: list[Segment], unused: Segment, is_overshadowed: bool) -> None:
    assert Timeline(used).overshadows(unused) is is_overshadowed
