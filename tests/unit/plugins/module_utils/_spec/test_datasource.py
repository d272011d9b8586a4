# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The datasource of a specification, wherever its type has it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._spec.datasource import datasource_of


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "compact", "dataSource": "wiki"},
        {"type": "kafka", "spec": {"dataSchema": {"dataSource": "wiki"}}},
        {"type": "autocompact", "spec": {"dataSource": "wiki"}},
        {"type": "index_parallel", "dataSource": None, "spec": {"dataSchema": {"dataSource": "wiki"}}},
    ],
)
def test_is_found(spec: dict[str, Any]) -> None:
    assert datasource_of(spec) == "wiki"


@pytest.mark.parametrize("spec", [{}, {"spec": None}, {"spec": {"dataSource": {"type": "table"}}}, {"dataSource": ""}])
def test_is_not_made_up(spec: dict[str, Any]) -> None:
    assert datasource_of(spec) is None
