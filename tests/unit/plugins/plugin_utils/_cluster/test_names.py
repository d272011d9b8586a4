# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names and labels match those of running clusters."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.druid import cluster


@pytest.mark.parametrize(
    ("template", "name"),
    [
        (None, "druid-c-brokers"),
        ("", "druid-c-brokers"),
        ("%s-api", "druid-c-brokers-api"),
        ("api-%s", "api-druid-c-brokers"),
        ("%d%s", "%ddruid-c-brokers"),
    ],
)
def test_service_name(template: str | None, name: str) -> None:
    assert names.service_name(template, "druid-c-brokers") == name


def test_fixed_labels_take_precedence() -> None:
    node = {"podLabels": {"app": "mine", "tier": "hot"}}
    [group] = cluster(node, podLabels={"component": "x", "tier": "cold"}).groups
    assert names.group_labels(group) == {
        "app": "druid",
        "druid_cr": "c",
        "nodeSpecUniqueStr": "druid-c-brokers",
        "component": "broker",
        "tier": "hot",
    }
