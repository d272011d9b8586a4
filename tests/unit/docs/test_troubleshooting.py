# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whoever looks up the reason of a condition finds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import reasons as reasons_of_ingestions

PAGES = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize(("page", "module"), [("troubleshooting.md", reasons), ("ingestion.md", reasons_of_ingestions)])
def test_every_reason_has_its_heading(page: str, module: object) -> None:
    constants = {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}
    headings = re.findall(r"^### `(\w+)`", (PAGES / page).read_text(encoding="utf-8"), re.M)
    assert sorted(headings) == sorted(constants)
