# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A module that is still running is reported after 3 seconds, and then less and less often."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.still_running import (
    report_elapsed,
    report_until,
    still_running,
    times,
)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"url": "http://druid:8888"}, "It sends requests to http://druid:8888, tries again"),
        ({"url": ["http://a", "http://b"]}, "It sends requests to http://a, http://b, tries again"),
        ({}, "It sends requests to the server in DRUID_URL, tries again"),
        ({"url": "http://user:hunter2@druid"}, "It sends requests to http://********@druid, tries again"),
        ({"wait": True}, "for each response (read_timeout), and for the requested state (wait_timeout)."),
        ({"wait": False}, "for each response (read_timeout)."),
    ],
)
def test_line(arguments: dict[str, Any], part: str) -> None:
    line = still_running(arguments, 3)

    assert line.startswith("no result after 3 s. ")
    assert part in line
    assert "hunter2" not in line


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
