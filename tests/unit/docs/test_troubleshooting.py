# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whoever looks up the reason of a condition finds it."""

from __future__ import annotations

import re
from pathlib import Path

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons

PAGE = Path(__file__).resolve().parents[3] / "docs" / "troubleshooting.md"


def test_every_reason_has_its_heading() -> None:
    constants = {value for name, value in vars(reasons).items() if name.isupper()}
    headings = re.findall(r"^### `(\w+)`", PAGE.read_text(encoding="utf-8"), re.M)
    assert sorted(headings) == sorted(constants)
