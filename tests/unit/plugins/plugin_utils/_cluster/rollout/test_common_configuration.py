# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A pod that starts before the restart of its group reads the new common configuration."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan_output import lines
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs

KEY = ObjectKey("ConfigMap", "c-druid-common-config")
COMMON = str(KEY)
CHANGED = {"common.runtime.properties": "a=new"}
BEFORE, SINCE = "2026-11-28T12:00:00Z", "2026-11-28T12:00:01Z"


def planned(which: Cluster, live: Observed, *findings: Finding) -> Plan:
    steps = rolling.steps(which, live)
    return DraftPlan(inputs(which, live), steps, findings).plan()


def effects(plan: Plan) -> list[str]:
    return [line for line in lines(plan) if line.endswith(f"reads the new {COMMON}")]


def test_the_plan_names_the_groups_that_wait() -> None:
    plan = planned(rolling.cluster(**CHANGED), rolling.observed(rolling.cluster()))
    text = "a pod of middlemanagers, brokers, coordinators that starts before its group restarts"
    assert effects(plan) == [f"{text} reads the new {COMMON}"]
    assert plan.rollout_warnings == ()


def test_and_a_group_that_is_blocked() -> None:
    blocked = Finding("RejectedByAPIServer", "No.", "historicals")
    plan = planned(rolling.cluster(**CHANGED), rolling.observed(rolling.cluster()), blocked)
    assert "historicals" in effects(plan)[0]


@pytest.mark.parametrize(
    "which",
    [
        rolling.cluster(rolling.NEW),
        rolling.cluster(nodes={"brokers": {"runtime.properties": "a=new"}}),
        rolling.cluster(rollingDeploy=False, **CHANGED),
    ],
    ids=["another image", "the configuration of a group", "all groups restart now"],
)
def test_only_where_it_applies(which: Cluster) -> None:
    assert effects(planned(which, rolling.observed(rolling.cluster()))) == []


def started(live: Observed, time: str) -> Observed:
    """The live state, in which the ConfigMap is new, and a Broker has started at that time."""
    config_map = rolling.observed(rolling.cluster(**CHANGED)).objects[KEY]
    fields = [{**each, "time": BEFORE} for each in config_map["metadata"]["managedFields"]]
    config_map = {**config_map, "metadata": {**config_map["metadata"], "managedFields": fields}}
    pod: dict[str, Any] = rolling.pod("brokers", 0, conditions=[{"type": "Ready", "status": "True"}])
    pod["status"]["containerStatuses"] = [{"name": "druid-c-brokers", "state": {"running": {"startedAt": time}}}]
    return live.with_objects([config_map, {"apiVersion": "v1", **pod}])


@pytest.mark.parametrize(("time", "expected"), [(BEFORE, 0), (SINCE, 1)])
def test_a_pod_that_has_started_since_the_change_is_reported(time: str, expected: int) -> None:
    live = started(rolling.observed(rolling.cluster()), time)
    plan = planned(rolling.cluster(**CHANGED), live)
    assert effects(plan) == []
    assert len(plan.rollout_warnings) == expected
    assert all(text.startswith("druid-c-brokers-0 has started before") for text in plan.rollout_warnings)
