# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every notation of time zones that Druid accepts, and the one of them. All are answers of Druid 27 and 33."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.time_zones import canonical_time_zone

ZONES: dict[Any, Any] = {
    "UTC": "UTC",
    "utc": "UTC",
    "Z": "UTC",
    "UT": "UTC",
    "+00:00": "UTC",
    "-0000": "UTC",
    "GMT": "Etc/GMT",
    "Etc/UTC": "Etc/UTC",
    "Zulu": "Etc/UTC",
    "+05:30": "+05:30",
    "+0530": "+05:30",
    "-08": "-08:00",
    "GMT+1": "+01:00",
    "GMT-03:30": "-03:30",
    "GMT+0": "Etc/GMT",
    "US/Pacific": "America/Los_Angeles",
    "PST": "America/Los_Angeles",
    "America/Los_Angeles": "America/Los_Angeles",
    "Asia/Calcutta": "Asia/Kolkata",
    # the older name, which every release knows
    "Europe/Kyiv": "Europe/Kiev",
    "Europe/Kiev": "Europe/Kiev",
    # others, which Druid reads as UTC, are left to Druid
    "europe/berlin": "europe/berlin",
    "UTC+1": "UTC+1",
    "+5": "+5",
    "": "",
    5: 5,
    None: None,
}


@pytest.mark.parametrize(("name", "canonical"), ZONES.items())
def test_canonical_time_zone(name: Any, canonical: Any) -> None:
    assert canonical_time_zone(name) == canonical
    assert canonical_time_zone(canonical) == canonical
