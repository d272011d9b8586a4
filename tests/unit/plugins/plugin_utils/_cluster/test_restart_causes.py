# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods restart: which files of which ConfigMap, and which fields of the pods."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import restart_causes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling

COMMON = "ConfigMap c-druid-common-config (common.runtime.properties)"
NODE = "ConfigMap druid-c-brokers-config (runtime.properties)"
CHANGED = {"brokers": {"runtime.properties": "druid.service=other"}}
SECRET = {"brokers": {"env": [{"name": "druid_metadata_storage_connector_password", "value": "hush"}]}}
# (id, desired cluster, causes of the restart of the brokers)
TABLE: list[tuple[str, Cluster, list[str]]] = [
    ("an image", rolling.cluster(rolling.NEW),
     [f"image: {rolling.OLD} -> {rolling.NEW}"]),
    ("the common configuration", rolling.cluster(**{"common.runtime.properties": "c=d"}), [COMMON]),
    ("the configuration of the group", rolling.cluster(nodes=CHANGED), [NODE]),
    ("both", rolling.cluster(nodes=CHANGED, **{"common.runtime.properties": "c=d"}), [COMMON, NODE]),
    ("another file", rolling.cluster(nodes={"brokers": {"extra.jvm.options": "-Xmx1g"}}),
     ["ConfigMap druid-c-brokers-config (jvm.config)"]),
]  # fmt: skip


def causes(desired: Cluster, live: Any = None) -> list[str]:
    found = restart_causes(rolling.steps(desired, live or rolling.observed(rolling.cluster())))
    return list(next(texts for key, texts in found.items() if key.name == "druid-c-brokers"))


@pytest.mark.parametrize(("desired", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_causes(desired: Cluster, expected: list[str]) -> None:
    assert causes(desired) == expected


def test_a_config_map_that_has_been_written_is_named() -> None:
    desired = rolling.cluster(**{"common.runtime.properties": "c=d"})
    before, after = rolling.observed(rolling.cluster()), rolling.observed(desired)
    live = before.with_objects(each for each in after.of_kind("ConfigMap") if "common" in each["metadata"]["name"])
    assert causes(desired, live) == ["ConfigMap c-druid-common-config"]


def test_secrets_are_masked() -> None:
    [cause] = causes(rolling.cluster(nodes=SECRET))
    assert "hush" not in cause
