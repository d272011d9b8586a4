# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Intervals."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.interval import canonical_interval
from hypothesis import given
from hypothesis import strategies as st

CASES: dict[Any, Any] = {
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


@pytest.mark.parametrize(("given", "expected"), CASES.items())
def test_canonical_interval(given: Any, expected: Any) -> None:
    assert canonical_interval(given) == expected


@given(st.text(alphabet="0123456789-/:TPZ.", max_size=30))
def test_applied_twice_it_changes_nothing_more(text: str) -> None:
    assert canonical_interval(canonical_interval(text)) == canonical_interval(text)
