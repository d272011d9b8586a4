# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every reason of a condition is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

PAGES = Path(__file__).resolve().parents[3] / "docs"


CONDITIONS = [
    ("troubleshooting.md", reasons.OF_DRUID),
    ("ingestion.md", reasons.OF_INGESTION),
    ("collector.md", reasons.OF_COLLECTOR),
    ("druid-objects.md", reasons.OF_OBJECT),
]
EVENTS = reasons.EVENTS_OF_DRUID | reasons.EVENTS_OF_INGESTION | reasons.EVENTS_OF_OBJECT | reasons.EVENTS_OF_COLLECTOR


@pytest.mark.parametrize(("page", "expected"), CONDITIONS)
def test_every_reason_has_its_heading(page: str, expected: frozenset[str]) -> None:
    headings = re.findall(r"^### `(\w+)`", (PAGES / page).read_text(encoding="utf-8"), re.M)
    assert sorted(headings) == sorted(expected)


def test_the_events_section_names_every_event() -> None:
    section = (PAGES / "monitoring.md").read_text(encoding="utf-8").partition("\n## Events\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([A-Z]\w+[a-z])`", section)) - {"Druid", "DruidIngestion", "Collector"}
    assert named == EVENTS


def test_every_reason_is_in_a_table() -> None:
    constants = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}
    assert constants == EVENTS.union(*(expected for _page, expected in CONDITIONS))
