# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""
Tests of one group run in one process, one after the other.

pytest-xdist uses what it adds to the id of a test. Up to 3.8 it does that in a way that pytest 9.2 does not support.
"""

from __future__ import annotations

import pytest

GROUP = "one process"


@pytest.mark.xdist_group(GROUP)
def test_group_is_found_by(request: pytest.FixtureRequest) -> None:
    is_parallel = hasattr(request.config, "workerinput")
    assert request.node.nodeid.endswith(f"@{GROUP}") == is_parallel
