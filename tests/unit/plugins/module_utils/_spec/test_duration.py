# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations in the form of Druid's answers."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.duration import in_seconds
from hypothesis import given
from hypothesis import strategies as st

CASES = [
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
    # no length, or no period: Druid says what is wrong with it
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


@pytest.mark.parametrize(("period", "seconds"), CASES)
def test_in_seconds(period: Any, seconds: Any) -> None:
    assert in_seconds(period) == seconds


@given(st.from_regex(r"P(\d{1,3}D)?(T\d{1,3}H(\d{1,2}M)?(\d{1,2}S)?)?", fullmatch=True))
def test_the_form_in_seconds_stays(period: str) -> None:
    assert in_seconds(in_seconds(period)) == in_seconds(period)
