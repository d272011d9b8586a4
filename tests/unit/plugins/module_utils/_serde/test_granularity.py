# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every notation of granularities that Druid accepts, and its own."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._serde.granularity import canonical_granularity

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
    ({"type": "period", "period": "p1d"}, "DAY"),
    ({"type": "period", "period": "PT24H"}, {"type": "period", "period": "PT24H"}),
    (
        {"type": "period", "period": "P1D", "origin": "2020"},
        {"type": "period", "period": "P1D", "origin": "2020-01-01T00:00:00.000Z"},
    ),
    ({"type": "duration", "duration": "3600000"}, {"type": "duration", "duration": 3600000}),
    (
        {"type": "duration", "duration": 86400000, "origin": "2020-01-01T06:00"},
        {"type": "duration", "duration": 86400000, "origin": "1970-01-01T06:00:00.000Z"},
    ),
    ({"type": "duration", "duration": 0, "origin": "2020"}, {"type": "duration", "duration": 0, "origin": "2020"}),
    ({"type": "period", "period": "P1D", "timeZone": "Z"}, "DAY"),
    ({"type": "period", "period": "P1D", "timeZone": "US/Pacific"}, {**BERLIN, "timeZone": "America/Los_Angeles"}),
    ({"type": "period", "period": 3600000}, "HOUR"),
    (
        {"type": "period", "period": "P2D", "origin": 0},
        {"type": "period", "period": "P2D", "origin": "1970-01-01T00:00:00.000Z"},
    ),
    (
        {"type": "duration", "duration": 7200000.0, "origin": None},
        {"type": "duration", "duration": 7200000, "origin": "1970-01-01T00:00:00.000Z"},
    ),
    ("fortnight", "fortnight"),
    (None, None),
]


@pytest.mark.parametrize(("granularity", "canonical"), GRANULARITIES)
def test_canonical_granularity(granularity: Any, canonical: Any) -> None:
    assert canonical_granularity(granularity) == canonical
    assert canonical_granularity(canonical) == canonical
