# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failing pods of an earlier revision are deleted if they block the update of a StatefulSet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import failing_pods
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.rolling import pod

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ORDERED = {"podManagementPolicy": "OrderedReady"}
UPDATING = {"updateRevision": "b", "updatedReplicas": 0, "readyReplicas": 0}
CRASHING = "CrashLoopBackOff"
NO_NODE = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
PARTITION = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}


def which(**more: Any) -> Cluster:
    node = {**ORDERED, **more.pop("node", {})}
    return rolling.cluster(nodes={"brokers": node}, **{"forceDeleteStsPodOnError": True, **more})


def created(seconds: int, found: Any) -> Any:
    """Return the pod as created so many seconds ago."""
    return {
        **found,
        "metadata": {**found["metadata"], "creationTimestamp": timestamp(NOW - timedelta(seconds=seconds))},
    }


# (id, cluster, state of the StatefulSet, pods, names of the deleted pods)
TABLE: list[tuple[str, Cluster, dict[str, Any], list[Any], list[str]]] = [
    ("it blocks the update", which(), UPDATING, [pod("brokers", 0, "a", CRASHING)], ["druid-c-brokers-0"]),
    ("the first one", which(), UPDATING, [pod("brokers", n, "a", CRASHING) for n in (1, 0)], ["druid-c-brokers-0"]),
    ("an image that does not exist", which(), UPDATING, [pod("brokers", 0, "a", "ImagePullBackOff")],
     ["druid-c-brokers-0"]),
    ("the current revision", which(), UPDATING, [pod("brokers", 0, "b", CRASHING)], []),
    ("it runs", which(), UPDATING, [pod("brokers", 0, "a")], []),
    ("it is starting", which(), UPDATING, [pod("brokers", 0, "a", "ContainerCreating")], []),
    ("no update", which(), {"readyReplicas": 0}, [pod("brokers", 0, "a", CRASHING)], []),
    ("the first revision of a recreated StatefulSet", which(), {"readyReplicas": 0}, [pod("brokers", 0, "0", CRASHING)],
     ["druid-c-brokers-0"]),
    ("the update is not observed", which(), {**UPDATING, "observedGeneration": 0},
     [pod("brokers", 0, "a", CRASHING)], []),
    ("in parallel the controller deletes it", which(node={"podManagementPolicy": "Parallel"}), UPDATING,
     [pod("brokers", 0, "a", CRASHING)], []),
    ("below the partition", which(node={"updateStrategy": PARTITION}),
     UPDATING, [pod("brokers", 0, "a", CRASHING)], []),
    ("on delete", which(node={"updateStrategy": {"type": "OnDelete"}}), UPDATING,
     [pod("brokers", 0, "a", CRASHING)], []),
    ("not requested", which(forceDeleteStsPodOnError=False), UPDATING, [pod("brokers", 0, "a", CRASHING)], []),
    ("it fits on no node", which(), UPDATING, [pod("brokers", 0, "a", conditions=NO_NODE)], ["druid-c-brokers-0"]),
    ("the current revision fits on no node", which(), UPDATING, [pod("brokers", 0, "b", conditions=NO_NODE)], []),
    ("several that are not needed", which(), UPDATING, [pod("brokers", n, "b", CRASHING) for n in (2, 3)],
     ["druid-c-brokers-3"]),
    ("the controller stops a single one", which(), UPDATING, [pod("brokers", 2, "a", CRASHING)], []),
    ("those that are needed first", which(), UPDATING, [pod("brokers", n, "a", CRASHING) for n in (1, 2, 3)],
     ["druid-c-brokers-1"]),
    ("another pod", which(), UPDATING, [{**pod("brokers", 0, "a", CRASHING),
     "metadata": {**pod("brokers")["metadata"], "name": "druid-c-brokers-debug"}}], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cluster", "state", "pods", "deleted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_failing_pods(cluster: Cluster, state: dict[str, Any], pods: list[Any], deleted: list[str]) -> None:
    live = rolling.observed(cluster, brokers=state).with_objects(created(60, each) for each in pods)
    found = failing_pods(inputs(cluster, live, now=NOW))
    assert [(step.operation.verb, step.key.kind, step.key.name, step.group) for step in found] == [
        ("delete", "Pod", name, "brokers") for name in deleted
    ]


@pytest.mark.parametrize(
    ("seconds", "reason", "restarts", "is_deleted"),
    [
        (59, "ErrImagePull", 0, False),
        (60, "ErrImagePull", 0, True),
        (0, "CreateContainerConfigError", 0, False),
        (10, CRASHING, 2, False),
        (10, CRASHING, 3, True),
    ],
)
def test_a_pod_whose_start_may_still_succeed_is_not_deleted(
    seconds: int, reason: str, restarts: int, is_deleted: bool
) -> None:
    found = created(seconds, pod("brokers", 0, "a", reason))
    found["status"]["containerStatuses"][0]["restartCount"] = restarts
    live = rolling.observed(which(), brokers=UPDATING).with_objects([found])
    assert bool(failing_pods(inputs(which(), live, now=NOW))) == is_deleted


def test_a_pod_of_unknown_age_is_not_deleted() -> None:
    live = rolling.observed(which(), brokers=UPDATING).with_objects([pod("brokers", 0, "a", "ErrImagePull")])
    assert failing_pods(inputs(which(), live, now=NOW)) == ()
