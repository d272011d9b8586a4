# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A block that is still running is reported after 3 seconds, and then less and less often."""

from __future__ import annotations

import threading
from itertools import islice

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.elapsed import report_elapsed, report_until, times


def test_times() -> None:
    assert list(islice(times(), 6)) == [3, 10, 30, 60, 90, 120]


def test_reports_until_the_block_has_ended() -> None:
    slept: list[float] = []
    reported: list[int] = []

    def ended(seconds: float) -> bool:
        slept.append(seconds)
        return len(slept) == 5

    report_until(ended, reported.append)

    assert slept == [3, 7, 20, 30, 30]
    assert reported == [3, 10, 30, 60]


def test_block_that_ends_early_is_not_reported() -> None:
    reported: list[int] = []
    threads = threading.active_count()

    with report_elapsed(reported.append):
        pass
    with pytest.raises(ValueError, match="fails"), report_elapsed(reported.append):
        raise ValueError("fails")

    assert reported == []
    assert threading.active_count() == threads
