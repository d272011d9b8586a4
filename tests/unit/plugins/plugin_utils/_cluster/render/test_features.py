# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every field is rendered at its path."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import FEATURES, Case


@pytest.mark.parametrize("case", FEATURES, ids=[case.name for case in FEATURES])
def test_rendered_value(case: Case) -> None:
    assert druid.at(druid.rendered(case.kind, case.node, **case.spec), *case.path) == case.value
