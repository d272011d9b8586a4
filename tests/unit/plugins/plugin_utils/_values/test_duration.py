# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Durations as Go writes them."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.duration import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1h", 3600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("500ms", 0.5),
        ("1us", 1e-6),
        ("0", 0),
        ("", 0),
        ("1x", 0),
    ],
)
def test_is_in_seconds(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)
