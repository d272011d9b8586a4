# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The line that a module prints while it takes long."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.still_running import still_running


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
