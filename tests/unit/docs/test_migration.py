# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The migration guide names every annotation, condition, result and option that the Go operator does not have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, plan_output, status
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion import names as ingestion_names
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "migration-from-the-go-operator.md"
HEADING = "\n## 9. Names that the Go operator does not have\n"
GO_OPERATORS = {names.RESOURCE_HASH_ANNOTATION}


def rows() -> dict[str, list[str]]:
    """Return the cells of each row, by the names in its first cell."""
    section = GUIDE.read_text(encoding="utf-8").partition(HEADING)[2]
    found = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line[:3] == "| `"
    ]
    return {name: cells for cells in found for name in re.findall(r"`([^`]+)`", cells[0])}


def annotations() -> set[str]:
    """Return the annotations that the code of both kinds names."""
    constants = {**vars(names), **vars(ingestion_names)}
    return {value for name, value in constants.items() if name.endswith("_ANNOTATION")} - GO_OPERATORS


@pytest.mark.parametrize("name", sorted(annotations()))
def test_every_annotation_has_a_row(name: str) -> None:
    assert "annotation" in rows()[name][1]


def test_conditions_events_results_and_options_have_a_row() -> None:
    expected = {status.WARNINGS, status.ROLLOUT_WARNINGS, reasons.SPEC_WARNING, reasons.ROLLOUT_WARNING}
    expected |= {*plan_output.flags(Plan()), "ignored_variables"}
    assert expected - rows().keys() == set()


def test_every_row_has_all_cells() -> None:
    assert {len(cells) for cells in rows().values()} == {4, 5}
    assert [name for name, cells in rows().items() if not all(cells)] == []
