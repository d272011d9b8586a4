# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which PVCs a scale-down or a removal orphans, as the plan reports it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import orphaned_by
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import with_effects
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import orphans
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.orphans import (
    claim,
    cluster,
    stateful_set,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import CREATED

NAMES = [f"d-druid-c-brokers-{ordinal}" for ordinal in range(4)]
SCALED = {"hpAutoscaler": orphans.autoscaler("druid-c-brokers", 3)["spec"]}
RETAIN = {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Retain"}}
SET = "druid-c-brokers"

# The cluster, the StatefulSet, its replicas after the step, and the ordinals that are orphaned.
CASES: dict[str, tuple[Cluster, str, int, list[int]]] = {
    "fewer pods": (cluster(), SET, 2, [2, 3]),
    "no pods": (cluster(), SET, 0, []),
    "an autoscaler": (cluster(SCALED), SET, 1, [3]),
    "Retain": (cluster(RETAIN), SET, 1, []),
    "stopped": (cluster({"stopped": True}), SET, 0, []),
    "a stopped cluster": (cluster(stopped=True), SET, 1, []),
    "switched off": (cluster(deleteOrphanPvc=False), SET, 1, []),
    "a Deployment now": (cluster({"kind": "Deployment", "volumeClaimTemplates": None}), SET, 1, []),
    "removed": (cluster(), "druid-c-old", 0, [0, 1, 2, 3]),
}


def live(name: str) -> dict[str, Any]:
    managed_fields = [{"manager": "x", "operation": "Update", "fieldsV1": {}}]
    return {**stateful_set(name), "metadata": {"name": name, "managedFields": managed_fields}}


@pytest.mark.parametrize(("which", "name", "replicas", "ordinals"), CASES.values(), ids=CASES)
def test_orphans(which: Cluster, name: str, replicas: int, ordinals: list[int]) -> None:
    assert orphaned_by(which, live(name), replicas, map(claim, NAMES), CREATED) == [
        NAMES[ordinal] for ordinal in ordinals
    ]


@pytest.mark.parametrize("name", [SET, "druid-c-old"])
def test_what_is_never_orphaned_is_not_counted(name: str) -> None:
    claims = [
        claim(NAMES[1], creationTimestamp="2026-01-02T03:04:04Z"),
        claim(NAMES[2], annotations={"druid.apache.org/orphaned-since": "never"}),
        claim(NAMES[3]),
    ]
    assert orphaned_by(cluster(), live(name), 1, claims, CREATED) == [NAMES[3]]
    assert orphaned_by(cluster(), live(name), 1, claims, None) == []


def test_the_plan_names_them() -> None:
    before = stateful_set(SET, replicas=4)
    after: dict[str, Any] = {**before, "spec": {**before["spec"], "replicas": 2}}
    observed = Observed().with_objects([before, *map(claim, NAMES)])
    [step] = with_effects(
        [Apply(manifest=after, group="brokers", live=before, after=after)], observed, cluster(), CREATED
    )
    assert [(effect.text, effect.is_destructive) for effect in step.effects] == [
        (f"stop 2 pods of StatefulSet {SET}", False),
        (
            f"orphan 2 PVCs of StatefulSet {SET} (deleteOrphanPvc: marked, then deleted after 60 s): "
            f"{NAMES[2]}, {NAMES[3]}",
            True,
        ),
    ]
