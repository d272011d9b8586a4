# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When it is tried again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._http.retry import MAX_PAUSE, RetryBudget, retry_after
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("0", 0),
        (" 120 ", 120),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30),
        ("Thu, 01 Jan 2026 13:00:30 +0100", 30),
        ("Thu, 01 Jan 2026 12:00:30 -0000", 30),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0),
        ("Thu, 99 Jan 2026 11:00:00 GMT", None),
    ],
)
def test_reads_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@given(st.text())
def test_reads_any_header(header: str) -> None:
    seconds = retry_after(header, NOW)
    assert seconds is None or seconds >= 0


@given(st.floats(0, 1000), st.lists(st.none() | st.floats(0, 1e9), min_size=1, max_size=50))
def test_wait_is_limited_by_the_deadline(total: float, asked: list[float | None]) -> None:
    pauses: list[float] = []
    budget = RetryBudget(total, now=lambda: sum(pauses), sleep=pauses.append)
    went_on = [budget.pause(each) for each in asked]
    assert sum(pauses) <= total
    assert all(0 <= pause <= MAX_PAUSE for pause in pauses)
    assert len(pauses) == went_on.count(True)


def test_time_that_has_passed_and_remains() -> None:
    pauses: list[float] = []
    budget = RetryBudget(10, now=lambda: sum(pauses), sleep=pauses.append)

    assert (budget.elapsed_after(None), budget.remaining, budget.allows(11)) == (0.5, 10, True)
    budget.pause(None)
    assert (budget.elapsed_after(None), budget.remaining) == (1.5, 9.5)
    budget.pause(9)
    assert (budget.elapsed_after(None), budget.remaining, budget.allows(None)) == (11.5, 0.5, False)
