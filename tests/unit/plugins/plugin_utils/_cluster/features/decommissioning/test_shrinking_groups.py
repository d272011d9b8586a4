# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How long a restart of a Historical may take."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.shrinking_groups import (
    restart_seconds,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid


@pytest.mark.parametrize(
    ("node", "spec", "expected"),
    [
        pytest.param({}, {"defaultProbes": False}, 900, id="without a probe, as a rollout"),
        pytest.param({}, {"defaultProbes": True}, 30 + 180 + 30 * 20, id="the built-in probe"),
        pytest.param({"startUpProbe": {"httpGet": {"path": "/"}}}, {}, 120, id="defaults of Kubernetes: the minimum"),
        pytest.param({"startUpProbe": {"periodSeconds": 60, "failureThreshold": 60}}, {}, 3630, id="a slow start"),
        pytest.param(
            {"startUpProbe": {"initialDelaySeconds": 1000}, "terminationGracePeriodSeconds": 300}, {}, 1330, id="grace"
        ),
        pytest.param(
            {"startUpProbe": {"initialDelaySeconds": 1000}, "terminationGracePeriodSeconds": 0}, {}, 1030, id="no grace"
        ),
        pytest.param({"progressDeadlineSeconds": 300}, {"defaultProbes": False}, 300, id="the limit of a rollout"),
        pytest.param({"progressDeadlineSeconds": 1}, {"defaultProbes": False}, 120, id="the minimum"),
        pytest.param({"progressDeadlineSeconds": 300}, {"defaultProbes": True}, 810, id="the longer one"),
        pytest.param({"progressDeadlineSeconds": 7200}, {"defaultProbes": True}, 7200, id="the longer limit"),
    ],
)
def test_a_restart_may_take_as_long_as_the_pod_may_start(
    node: dict[str, Any], spec: dict[str, Any], expected: int
) -> None:
    nodes = {"historicals": {**druid.NODE, "nodeType": "historical", "druid.port": 8083, **node}}
    which = Cluster.from_resource(druid.resource(nodes=nodes, **spec))
    [group] = which.groups
    assert restart_seconds(group, render(which).groups["historicals"]) == expected
