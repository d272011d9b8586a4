# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of each group: desired, ready and settled pods."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import (
    GroupState,
    group_states,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]

TARGET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "druid-c-brokers"}
AUTOSCALED = {"hpAutoscaler": {"maxReplicas": 4, "scaleTargetRef": TARGET}}
SETTLED = {"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "currentRevision": "a", "updateRevision": "a"}
ROLLED = {"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}
MOVING = {"currentRevision": "a", "updateRevision": "b"}


def state(
    node: dict[str, Any], status: dict[str, Any] | None, spec: dict[str, Any] | None = None, **top: Any
) -> GroupState:
    """Return the state of the only group, whose workload has this status and these further fields.

    As many pods as the status counts are there, and all of them are ready.
    """
    cluster = druid.cluster(node, **top)
    [workload] = [each for each in render(cluster).objects if each["kind"] in ("StatefulSet", "Deployment")]
    live = stored(workload)
    live["spec"] |= spec or {}
    if status is not None:
        live["status"] = status
    pods = rolling.ready_pods({**live, "spec": {**live["spec"], "replicas": (status or {}).get("replicas", 0)}})
    [found] = group_states(cluster, Observed().with_objects([live, *pods]))
    return found


TWO = {"replicas": 2}
DEPLOYMENT = {"kind": "Deployment", **TWO}
ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}
PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}
HIGH_PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}
NO_PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}

# (id, node, status, further spec, desired, ready, settled, group is ready)
TABLE: list[tuple[str, dict[str, Any], dict[str, Any] | None, dict[str, Any], int, int, bool, bool]] = [
    ("all ready", TWO, SETTLED, {}, 2, 2, True, True),
    ("one not ready", TWO, {**SETTLED, "readyReplicas": 1}, {}, 2, 1, True, False),
    ("none ready", TWO, {key: SETTLED[key] for key in SETTLED if key != "readyReplicas"}, {}, 2, 0, True, False),
    ("not observed", TWO, {**SETTLED, "observedGeneration": 0}, {}, 2, 2, False, False),
    ("no status", TWO, None, {}, 2, 0, False, False),
    ("an empty status", TWO, {}, {}, 2, 0, False, False),
    ("rolling", TWO, {**SETTLED, **MOVING}, {}, 2, 2, False, False),
    ("scaling up", {"replicas": 3}, SETTLED, {}, 3, 2, False, False),
    ("scaling down", {"replicas": 1}, SETTLED, {}, 1, 2, False, False),
    ("on delete", TWO, {**SETTLED, **MOVING}, ON_DELETE, 2, 2, True, True),
    ("a partition", TWO, {**SETTLED, **MOVING, "updatedReplicas": 1}, PARTITION, 2, 2, True, True),
    ("a partition, before the update", TWO, {**SETTLED, **MOVING}, PARTITION, 2, 2, False, False),
    ("a partition above all pods", TWO, {**SETTLED, **MOVING}, HIGH_PARTITION, 2, 2, True, True),
    ("no partition", TWO, {**SETTLED, **MOVING}, NO_PARTITION, 2, 2, False, False),
    ("a Deployment", DEPLOYMENT, ROLLED, {}, 2, 2, True, True),
    ("a Deployment that is rolling", DEPLOYMENT, {**ROLLED, "updatedReplicas": 1}, {}, 2, 2, False, False),
    ("a Deployment with a surge", DEPLOYMENT, {**ROLLED, "replicas": 3}, {}, 2, 2, False, False),
    ("a new Deployment", DEPLOYMENT, {"observedGeneration": 1}, {}, 2, 0, False, False),
    ("replicas of an autoscaler", AUTOSCALED, {**SETTLED, "replicas": 4, "readyReplicas": 3}, {"replicas": 4}, 4, 3,
     True, False),
    ("an autoscaler that is not active yet", AUTOSCALED, {**SETTLED, "replicas": 1, "readyReplicas": 1}, {}, 1, 1, True,
     True),
    ("stopped", {**TWO, "stopped": True}, {"observedGeneration": 1}, {}, 0, 0, True, True),
    ("stopping", {**TWO, "stopped": True}, SETTLED, {}, 0, 2, False, False),
    ("no replicas", {"replicas": 0}, {"observedGeneration": 1, "replicas": 0}, {}, 0, 0, True, True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("node", "status", "spec", "desired", "ready", "settled", "group_ready"),
    [row[1:] for row in TABLE],
    ids=[r[0] for r in TABLE],
)
def test_group_state(
    node: dict[str, Any],
    status: dict[str, Any] | None,
    spec: dict[str, Any],
    desired: int,
    ready: int,
    settled: bool,
    group_ready: bool,
) -> None:
    found = state(node, status, spec)
    assert (found.desired, found.ready, found.is_settled, found.is_ready) == (desired, ready, settled, group_ready)
    remark = " (too many)" if ready > desired else " (rolling out)" if ready == desired and not settled else ""
    assert str(found) == f"brokers {ready}/{desired}{remark if not group_ready else ''}"


def test_manual_edit_of_replicas_is_not_settled() -> None:
    assert not state(TWO, SETTLED, {"replicas": 5}).is_settled


def test_group_without_workload_is_not_ready() -> None:
    [found] = group_states(druid.cluster(TWO), Observed())
    assert (found.desired, found.ready, found.is_ready) == (2, 0, False)


# (status, live replicas, specified replicas, desired, group is ready)
LIVE_STATES = [(SETTLED, 2, 5, 2, True), (SETTLED, 2, 0, 2, True), ({**SETTLED, "readyReplicas": 1}, 2, 2, 2, False)]


@pytest.mark.parametrize(("status", "live", "specified", "desired", "group_ready"), LIVE_STATES)
def test_live_state(status: dict[str, Any], live: int, specified: int, desired: int, group_ready: bool) -> None:
    cluster = druid.cluster({"replicas": specified})
    [workload] = [each for each in render(cluster).objects if each["kind"] == "StatefulSet"]
    found = {**stored(workload), "status": status}
    found["spec"]["replicas"] = live
    observed = Observed().with_objects([found, *rolling.ready_pods(found)])
    [group] = group_states(cluster, observed, as_it_is=True)
    assert (group.desired, group.is_ready) == (desired, group_ready)


def test_live_state_without_a_workload() -> None:
    [found] = group_states(druid.cluster(TWO), Observed(), as_it_is=True)
    assert (found.desired, found.ready, found.is_ready) == (0, 0, True)


def test_groups_are_in_the_order_of_the_rollout() -> None:
    nodes = {
        "a": {**druid.NODE, "nodeType": "coordinator"},
        "b": {**druid.NODE, "nodeType": "historical"},
        "c": {**druid.NODE, "nodeType": "broker"},
    }
    assert [each.key for each in group_states(druid.cluster(nodes=nodes), Observed())] == ["b", "c", "a"]


PodState = Literal["ready", "unready", "terminating", "missing"]
TERMINATING = {"deletionTimestamp": "2026-01-02T03:04:05Z"}


def in_state(ready: Manifest, state: PodState) -> list[Manifest]:
    """Return the pod in this state."""
    metadata = {**ready["metadata"], **(TERMINATING if state == "terminating" else {})}
    status = {} if state == "unready" else ready["status"]
    return [] if state == "missing" else [{**ready, "metadata": metadata, "status": status}]


def state_of_pods(node: dict[str, Any], pods: list[PodState], extra: int = 0, start: int = 0) -> GroupState:
    """Return the state of a group whose workload counts all pods as ready. `extra` pods are beyond its replicas."""
    cluster = druid.cluster({**node, "replicas": len(pods)})
    [workload] = [each for each in render(cluster).objects if each["kind"] in ("StatefulSet", "Deployment")]
    # An autoscaler has set them, if the manifest does not.
    counted = {**workload, "spec": {**workload["spec"], "replicas": len(pods)}}
    live = rolling.available(stored(counted))
    live["spec"] |= {"ordinals": {"start": start}} if start else {}
    more = {**live, "spec": {**live["spec"], "replicas": len(pods) + extra}}
    found = zip(rolling.ready_pods(more), [*pods, *["ready"] * extra], strict=True)
    observed = [pod for ready, state in found for pod in in_state(ready, state)]
    [group] = group_states(cluster, Observed().with_objects([live, *observed]))
    return group


# (id, states of the pods, further pods, first ordinal, ready pods of a StatefulSet, of a Deployment)
PODS_OF_STALE_STATUS: list[tuple[str, list[PodState], int, int, int, int]] = [
    ("all ready", ["ready", "ready"], 0, 0, 2, 2),
    ("the last one was evicted", ["missing", "ready"], 0, 0, 1, 1),
    ("the only one was evicted", ["missing"], 0, 0, 0, 0),
    ("one is terminating", ["ready", "terminating"], 0, 0, 1, 1),
    ("a new one starts", ["unready", "ready"], 0, 0, 1, 1),
    ("none is there", ["missing", "missing"], 0, 0, 0, 0),
    ("no pods", [], 0, 0, 0, 0),
    ("other ordinals", ["ready", "ready"], 0, 3, 2, 2),
    ("one of other ordinals was evicted", ["missing", "ready"], 0, 3, 1, 1),
    ("one too many", ["ready", "ready"], 1, 0, 2, 2),
    ("one too many, and one was evicted", ["missing", "ready"], 1, 0, 1, 2),
]


@pytest.mark.parametrize(
    ("pods", "extra", "start", "of_stateful_set", "of_deployment"),
    [row[1:] for row in PODS_OF_STALE_STATUS],
    ids=[row[0] for row in PODS_OF_STALE_STATUS],
)
def test_a_status_that_still_counts_a_deleted_pod(
    pods: list[PodState], extra: int, start: int, of_stateful_set: int, of_deployment: int
) -> None:
    for kind, ready in (("StatefulSet", of_stateful_set), ("Deployment", of_deployment)):
        found = state_of_pods({"kind": kind}, pods, extra, start)
        assert (found.ready, found.is_ready) == (ready, ready == len(pods)), kind
        assert not found.is_complete or found.is_ready


@given(
    pods=st.lists(st.sampled_from(["ready", "unready", "terminating", "missing"]), max_size=4),
    extra=st.integers(0, 2),
    start=st.integers(0, 2),
    more=st.sampled_from([{}, ON_DELETE, PARTITION, AUTOSCALED]),
)
def test_a_group_is_ready_only_with_all_pods(
    pods: list[PodState], extra: int, start: int, more: dict[str, Any]
) -> None:
    found = state_of_pods(more, pods, extra, start)
    assert found.is_ready == found.is_complete == (pods == ["ready"] * len(pods))
    assert found.ready >= pods.count("ready")


@pytest.mark.parametrize("pods", [["unready", "unready"], ["ready", "unready"]])
def test_a_group_is_down_only_if_the_workload_and_the_pods_show_it(pods: list[PodState]) -> None:
    assert not state_of_pods({}, pods).is_down
    [none] = group_states(druid.cluster(TWO), Observed())
    assert none.is_down


def test_the_pods_of_the_former_kind_are_not_those_of_a_new_workload() -> None:
    cluster, before = druid.cluster(DEPLOYMENT), druid.cluster(TWO)
    [new] = [each for each in render(cluster).objects if each["kind"] == "Deployment"]
    [former] = [each for each in render(before).objects if each["kind"] == "StatefulSet"]
    live = [rolling.available(stored(new)), stored(former), *rolling.ready_pods(stored(former))]
    [found] = group_states(cluster, Observed().with_objects(live))
    assert (found.ready, found.is_ready) == (0, False)


def test_a_pod_of_a_deployment_that_is_not_accepted_is_the_cause() -> None:
    message = 'pods "druid-c-brokers-5c6d-x" is forbidden: exceeded quota: small'
    remedy = "Raise the quota, or lower what is specified"
    refused = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    for status, cause in (("True", f"Deployment druid-c-brokers: FailedCreate: {message}. {remedy}"), ("False", None)):
        found = state(DEPLOYMENT, {**ROLLED, "readyReplicas": 1, "conditions": [{**refused, "status": status}]})
        assert (found.cause, found.failures) == (cause, ())
