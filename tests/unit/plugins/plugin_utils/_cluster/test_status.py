# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions of the status, and the fields that the Go operator also writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import ClusterState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.status import digest_of_warning, status
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready, observe_failure
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

Manifest = dict[str, Any]

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
EARLIER = "2025-12-31T00:00:00Z"
PROBLEM = Finding(reasons.INVALID_SPEC, "It cannot be.", None)
SECOND = Finding(reasons.NAME_CONFLICT, "The name exists.", "brokers")
OTHER_GROUP = Finding(reasons.NAME_CONFLICT, "The name exists.", "routers")
TRANSIENT = Finding(reasons.APPLY_FAILED, "The server was busy.")
LEAF = Finding(reasons.NAME_CONFLICT, "The name exists.", "brokers", object="Ingress druid-c-brokers")
DELETING = Finding(reasons.DELETING, "The resource is being deleted.", is_problem=False, rank=Rank.DELETING)
PAUSED = Finding(reasons.PAUSED, "Paused by the user.", is_problem=False, rank=Rank.PAUSED)
IGNORED = Finding(reasons.IGNORED, "Ignored by the user.", is_problem=False, rank=Rank.PAUSED)
WAITING_CHANGES = Finding(reasons.CHANGES_PENDING, "Paused. 1 pending change.", is_problem=False, rank=Rank.PENDING)
CONFLICT = Finding(reasons.CONFLICTING_OPERATOR, "Another operator is running.")


def running(cluster: Cluster, **status: Any) -> Observed:
    """Return the observed state if all pods of the only group are running."""
    observed = converged(render(cluster))
    [live] = observed.of_kind("StatefulSet")
    pods = live["spec"]["replicas"]
    revisions = {"currentRevision": "a", "updateRevision": "a"}
    live["status"] = {"observedGeneration": 1, "replicas": pods, "readyReplicas": pods, **revisions} | status
    return observed.with_objects([live, *rolling.ready_pods(live)])


def pod(reason: str = "CrashLoopBackOff", created: str = "", revision: str = "a") -> Manifest:
    labels = {"nodeSpecUniqueStr": "druid-c-brokers", "controller-revision-hash": revision}
    container = {"name": "m", "state": {"waiting": {"reason": reason}}}
    metadata = {"name": "druid-c-brokers-0", "labels": labels, "creationTimestamp": created}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"containerStatuses": [container]}}


def unschedulable(ordinal: int, since: str = "") -> Manifest:
    """Return an unschedulable pod, with the condition of kube-scheduler 1.34."""
    text = "0/3 nodes are available: 3 Insufficient cpu."
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}
    scheduled |= {"lastTransitionTime": since}
    metadata = {**pod()["metadata"], "name": f"druid-c-brokers-{ordinal}"}
    return {**pod(), "metadata": metadata, "status": {"phase": "Pending", "conditions": [scheduled]}}


def evicted(ordinal: int) -> Manifest:
    """Return a pod that the kubelet has stopped."""
    status = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
    return {**unschedulable(ordinal), "status": status}


def unready(live: Manifest) -> Observed:
    """Return the observed state if this pod is not ready."""
    return running(druid.cluster(), readyReplicas=0).with_objects([live])


def unready_pods(cluster: Cluster, *names: str) -> Observed:
    """Return the observed state if these pods of the only group are not ready, and another one is."""
    states = {**dict.fromkeys(names, "False"), "druid-c-brokers-0": "True"}
    pods = [
        {**pod(), "metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": state}]}}
        for name, state in states.items()
    ]
    return running(cluster, readyReplicas=0).with_objects(pods)


def of(
    observed: Observed | None = None,
    *findings: Finding,
    cluster: Cluster | None = None,
    previous: Manifest | None = None,
) -> Manifest:
    cluster = cluster or druid.cluster()
    return status(ClusterState(cluster, observed or running(cluster), findings, previous or {}, NOW))


def conditions(document: Manifest) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in document["conditions"]}


READY = ("True", reasons.ALL_PODS_READY)
IDLE = ("False", reasons.UP_TO_DATE)
HEALTHY = ("False", reasons.AS_EXPECTED)
ACTIVE = ("False", reasons.NOT_PAUSED)
ROLLING = ("True", reasons.ROLLING_OUT)
WAITING = ("False", reasons.PODS_NOT_READY)
CHANGES = ("False", reasons.CHANGES_PENDING)
INVALID = reasons.INVALID_SPEC
BLOCKED = ("False", INVALID)
EXISTS = ("False", reasons.NAME_CONFLICT)
STOPPED = druid.cluster(stopped=True)
TWO = druid.cluster({"replicas": 2})
SCALED = druid.cluster({"replicas": 3})
DRUID_WAIT = Finding(reasons.WAITING_FOR_DRUID, "It waits.", is_problem=False, rank=Rank.WAITING)
PENDING = ("False", reasons.WAITING_FOR_DRUID)
CHANGING = ("False", reasons.ROLLING_OUT)
FAILING = ("False", reasons.PODS_FAILING)
Condition = tuple[str, str]

# (id, status, Ready, Progressing, Degraded, Paused, type of the Go operator, node of the Go operator)
TABLE: list[tuple[str, Manifest, Condition, Condition, Condition, Condition, str, str]] = [
    ("all ready", of(), READY, IDLE, HEALTHY, ACTIVE, "DruidClusterReady", "All"),
    ("no objects", of(Observed()), CHANGING, ROLLING, HEALTHY, ACTIVE, "DruidNodeRollingUpdate", "All"),
    ("not ready", of(running(druid.cluster(), readyReplicas=0)), WAITING, IDLE, HEALTHY, ACTIVE,
     "DruidNodeRollingUpdate", "All"),
    ("a deleted pod that the workload still counts",
     of(running(druid.cluster()).without([ObjectKey("Pod", "druid-c-brokers-0")])), WAITING, IDLE, HEALTHY, ACTIVE,
     "DruidNodeRollingUpdate", "All"),
    ("not observed", of(running(druid.cluster(), observedGeneration=0)), CHANGING, ROLLING, HEALTHY, ACTIVE,
     "DruidNodeRollingUpdate", "All"),
    ("a pod not ready", of(unready_pods(druid.cluster(), "druid-c-brokers-2", "druid-c-brokers-1")), WAITING, IDLE,
     HEALTHY, ACTIVE, "DruidNodeRollingUpdate", "druid-c-brokers-1"),
    ("a problem", of(None, PROBLEM), ("False", INVALID), BLOCKED, ("True", INVALID), ACTIVE,
     "DruidNodeErrorState", "All"),
    ("two problems", of(None, PROBLEM, SECOND), ("False", INVALID), BLOCKED, ("True", INVALID), ACTIVE,
     "DruidNodeErrorState", "All"),
    ("a problem, no objects", of(Observed(), PROBLEM), ("False", INVALID), BLOCKED, ("True", INVALID), ACTIVE,
     "DruidNodeErrorState", "All"),
    ("a problem, more pods desired", of(running(druid.cluster()), SECOND, cluster=SCALED), EXISTS, EXISTS,
     ("True", reasons.NAME_CONFLICT), ACTIVE, "DruidNodeErrorState", "All"),
    ("a problem of another group", of(Observed(), OTHER_GROUP), EXISTS, ROLLING, ("True", reasons.NAME_CONFLICT),
     ACTIVE, "DruidNodeErrorState", "All"),
    ("a problem, progressing", of(running(druid.cluster(), observedGeneration=0), PROBLEM), ("False", INVALID), ROLLING,
     ("True", INVALID), ACTIVE, "DruidNodeErrorState", "All"),
    ("deleting", of(None, DELETING), ("False", reasons.DELETING), ("True", reasons.DELETING), HEALTHY, ACTIVE,
     "DruidNodeRollingUpdate", "All"),
    ("deleting with a problem", of(None, DELETING, PROBLEM), ("False", INVALID), BLOCKED, ("True", INVALID), ACTIVE,
     "DruidNodeErrorState", "All"),
    ("paused", of(None, PAUSED), READY, IDLE, HEALTHY, ("True", reasons.PAUSED), "DruidClusterReady", "All"),
    ("ignored, not ready", of(running(druid.cluster(), readyReplicas=0), IGNORED), WAITING, IDLE, HEALTHY,
     ("True", reasons.IGNORED), "DruidNodeRollingUpdate", "All"),
    ("ignored, progressing", of(running(druid.cluster(), observedGeneration=0), IGNORED, WAITING_CHANGES), CHANGING,
     ROLLING, HEALTHY, ("True", reasons.IGNORED), "DruidNodeRollingUpdate", "All"),
    ("paused with changes", of(running(druid.cluster()), PAUSED, WAITING_CHANGES, cluster=SCALED), CHANGES, CHANGES,
     HEALTHY, ("True", reasons.PAUSED), "DruidNodeErrorState", "All"),
    ("paused without objects", of(Observed(), PAUSED, WAITING_CHANGES), CHANGES, CHANGES, HEALTHY,
     ("True", reasons.PAUSED), "DruidNodeErrorState", "All"),
    ("stopped", of(cluster=STOPPED), ("False", reasons.STOPPED), IDLE, HEALTHY, ACTIVE, "DruidClusterReady", "All"),
    ("stopping", of(running(druid.cluster()), cluster=STOPPED), CHANGING, ROLLING, HEALTHY, ACTIVE,
     "DruidNodeRollingUpdate", "All"),
    ("waiting for Druid", of(None, DRUID_WAIT), READY, PENDING, HEALTHY, ACTIVE, "DruidClusterReady", "All"),
    ("waiting for Druid, a problem", of(None, DRUID_WAIT, PROBLEM), ("False", INVALID), BLOCKED, ("True", INVALID),
     ACTIVE, "DruidNodeErrorState", "All"),
    ("waiting for Druid, progressing", of(Observed(), DRUID_WAIT), CHANGING, ROLLING, HEALTHY, ACTIVE,
     "DruidNodeRollingUpdate", "All"),
    ("a problem that the next reconcile may solve", of(None, TRANSIENT), ("False", reasons.APPLY_FAILED),
     ("False", reasons.APPLY_FAILED), ("True", reasons.APPLY_FAILED), ACTIVE, "DruidNodeRollingUpdate", "All"),
    ("failing pods", of(unready(pod())), FAILING, IDLE,
     ("True", reasons.PODS_FAILING), ACTIVE, "DruidNodeRollingUpdate", "druid-c-brokers-0"),
    ("pods that cannot start", of(unready(pod("ErrImagePull", EARLIER))),
     FAILING, IDLE, ("True", reasons.PODS_FAILING), ACTIVE, "DruidNodeErrorState", "druid-c-brokers-0"),
    ("pods of an earlier revision that cannot start", of(unready(pod("ErrImagePull", EARLIER, "former"))), FAILING,
     ROLLING, ("True", reasons.PODS_FAILING), ACTIVE, "DruidNodeRollingUpdate", "druid-c-brokers-0"),
    ("pods that fit on no node", of(unready(unschedulable(0, EARLIER))),
     ("False", reasons.PODS_NOT_SCHEDULED), IDLE, ("True", reasons.PODS_NOT_SCHEDULED), ACTIVE, "DruidNodeErrorState",
     "druid-c-brokers-0"),
    ("failing pods while a part is blocked", of(unready(pod()), LEAF),
     FAILING, ("False", reasons.NAME_CONFLICT), ("True", reasons.PODS_FAILING), ACTIVE, "DruidNodeErrorState",
     "druid-c-brokers-0"),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_conditions(row: tuple[str, Manifest, Condition, Condition, Condition, Condition, str, str]) -> None:
    _what, document, ready, progressing, degraded, paused, kind, node = row
    found = conditions(document)
    # Tools that read one of these agree with those that read another one.
    is_stopped = ready[1] == reasons.STOPPED
    assert (found.pop("Stalled", None) is not None) is (kind == "DruidNodeErrorState" or is_stopped)
    assert (ready[0] == "True" or is_stopped) is (kind == "DruidClusterReady")
    assert found == {
        "Ready": ready,
        "Progressing": progressing,
        "Degraded": degraded,
        "Paused": paused,
    }
    assert is_ready(document["conditions"]) is (ready[0] == "True")
    assert DRUID.is_settled(document["conditions"]) is (ready in (READY, CHANGES, ("False", reasons.STOPPED)))
    assert document.get("reason") == (None if ready[0] == "True" else ready[1])
    assert document["druidNodeStatus"]["druidNodeConditionType"] == kind
    assert document["druidNodeStatus"]["druidNode"] == node
    assert document["druidNodeStatus"]["druidNodeConditionStatus"] == "True"


def message(document: Manifest, kind: str) -> str:
    [found] = [each["message"] for each in document["conditions"] if each["type"] == kind]
    return str(found)


MESSAGES = [
    (of(), "Ready", "All pods are ready and up to date (1/1)."),
    (of(Observed()), "Ready", "Waiting for brokers 0/1."),
    (
        of(unready(pod())),
        "Ready",
        "Waiting for brokers 0/1 (pod druid-c-brokers-0, container m: CrashLoopBackOff).",
    ),
    (
        of(running(TWO, readyReplicas=0).with_objects([unschedulable(1), unschedulable(0)]), cluster=TWO),
        "Ready",
        "Waiting for brokers 0/2 (pod druid-c-brokers-0: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.).",
    ),
    (
        of(running(TWO, readyReplicas=0).with_objects([unschedulable(1), evicted(0)]), cluster=TWO),
        "Ready",
        "Waiting for brokers 0/2 (pod druid-c-brokers-1: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu.; "
        "pod druid-c-brokers-0: Evicted: The node was low on resource: memory.).",
    ),
    (
        of(running(TWO, readyReplicas=0).with_objects([evicted(0)]), cluster=TWO),
        "Ready",
        "Waiting for brokers 0/2 (pod druid-c-brokers-0: Evicted: The node was low on resource: memory.).",
    ),
    (of(running(druid.cluster()).with_objects([unschedulable(0)])), "Degraded", "No problems."),
    (of(running(SCALED)), "Ready", "Waiting for brokers 3/1 (too many)."),
    (of(Observed()), "Progressing", "Pods are being changed in brokers."),
    (of(Observed(), DRUID_WAIT), "Progressing", "Pods are being changed in brokers. It waits."),
    (of(None, DRUID_WAIT), "Progressing", "It waits."),
    (of(None, PROBLEM, SECOND), "Degraded", "It cannot be. | The name exists."),
    (of(None, PAUSED), "Paused", "Paused by the user."),
    (of(None, PAUSED, WAITING_CHANGES), "Ready", "Paused. 1 pending change."),
    (
        of(None, PROBLEM),
        "Progressing",
        "No pods are being changed. Some may not be up to date.",
    ),
    (
        of(running(druid.cluster()).with_objects([pod()])),
        "Degraded",
        "pod druid-c-brokers-0, container m: CrashLoopBackOff",
    ),
]


@pytest.mark.parametrize(("document", "kind", "text"), MESSAGES)
def test_messages(document: Manifest, kind: str, text: str) -> None:
    assert message(document, kind) == text


def test_messages_name_a_few_problems() -> None:
    short = of(None, *(Finding(reasons.REJECTED_BY_API_SERVER, f"m{index}") for index in range(8)))
    assert message(short, "Degraded") == "m0 | m1 | m2 | m3 | m4 | and 3 more"


def test_transition_times_and_generation() -> None:
    previous = of(None, PROBLEM)
    for each in previous["conditions"]:
        each["lastTransitionTime"] = EARLIER
    after = of(previous=previous)
    times = {each["type"]: each["lastTransitionTime"] for each in after["conditions"]}
    assert times == {
        "Ready": "2026-01-02T03:04:05Z",
        "Progressing": EARLIER,
        "Degraded": "2026-01-02T03:04:05Z",
        "Paused": EARLIER,
    }
    assert {each["observedGeneration"] for each in after["conditions"]} == {after["observedGeneration"]} == {1}


def test_unchanged_state_does_not_change_the_status() -> None:
    first = of(Observed(), PROBLEM)
    later = datetime(2027, 1, 1, tzinfo=UTC)
    assert status(ClusterState(druid.cluster(), Observed(), [PROBLEM], first, later)) == first


def test_foreign_fields_are_kept_and_outdated_fields_are_removed() -> None:
    previous = of(None, PROBLEM) | {"foreign": {"a": 1}, "ingress": ["gone"], "druidNodeStatus": {"stale": True}}
    document = of(previous=previous)
    assert document["foreign"] == {"a": 1}
    assert "ingress" not in document
    assert "reason" not in document
    assert "stale" not in document["druidNodeStatus"]


def test_names_of_objects_as_in_the_go_operator() -> None:
    document = of(running(druid.cluster()))
    assert document["statefulSets"] == ["druid-c-brokers"]
    assert document["configMaps"] == ["c-druid-common-config", "druid-c-brokers-config"]
    assert document["pods"] == ["druid-c-brokers-0"]
    assert document["nodes"] == "1/1"
    assert "deployments" not in document


VERSIONS = [
    ("apache/druid:37.0.0", "37.0.0"),
    ("registry.example.com:5000/apache/druid:37.0.0", "37.0.0"),
    ("registry.example.com:5000/apache/druid", "latest"),
    ("apache/druid", "latest"),
    ("apache/druid:37.0.0@sha256:0123456789abcdef", "37.0.0"),
    ("apache/druid@sha256:0123456789abcdef", "0123456789ab"),
]


@pytest.mark.parametrize(("image", "version"), VERSIONS)
def test_version(image: str, version: str) -> None:
    assert of(cluster=druid.cluster(image=image))["version"] == version


def test_different_versions_of_groups() -> None:
    nodes = {name: {**druid.NODE, "image": f"apache/druid:{name}"} for name in ("b", "a")}
    cluster = druid.cluster(nodes=nodes)
    assert of(converged(render(cluster)), cluster=cluster)["version"] == "a, b"


def test_version_of_the_running_pods() -> None:
    sidecar = {"containerName": "sidecar", "image": "example.com/sidecar:1", "command": ["true"]}
    before, after = (druid.cluster(image=f"apache/druid:{tag}", additionalContainer=[sidecar]) for tag in ("36", "37"))
    assert of(running(before), PROBLEM, cluster=after)["version"] == "36"
    assert "version" not in of(Observed(), cluster=after)


def test_fields_of_a_running_go_operator_are_kept() -> None:
    theirs = {"druidNodeStatus": {"druidNode": "a-pod"}, "pods": ["a-pod"]}
    document = of(running(druid.cluster()), CONFLICT, previous=theirs)
    assert {field: document[field] for field in theirs} == theirs
    assert "statefulSets" not in document
    assert conditions(document)["Ready"] == ("False", reasons.CONFLICTING_OPERATOR)


@pytest.mark.parametrize("nodes", [{}, {"brokers": {**druid.NODE, "replicas": 0}}], ids=["no groups", "no replicas"])
def test_a_cluster_without_pods_is_never_ready(nodes: dict[str, Any]) -> None:
    which = druid.cluster(nodes=nodes)
    document = of(running(which) if nodes else Observed(), cluster=which)
    assert conditions(document)["Ready"] == ("False", reasons.NO_PODS)
    assert document["nodes"] == "0/0"
    assert DRUID.is_settled(document["conditions"])


def test_failed_read_is_reported() -> None:
    previous = of()
    reported = {each["type"]: each for each in observe_failure("Cannot list.", previous, 2, NOW)}
    assert (reported["Ready"]["status"], reported["Ready"]["reason"]) == ("False", reasons.OBSERVE_FAILED)
    assert (reported["Degraded"]["status"], reported["Degraded"]["message"]) == ("True", "Cannot list.")
    assert reported["Paused"] == next(each for each in previous["conditions"] if each["type"] == "Paused")
    assert len(observe_failure("Cannot list.", {}, 2, NOW)) == 2


@pytest.mark.parametrize(
    ("before", "fields", "after"),
    [({}, {}, None), ({"a": "x"}, {}, "x"), ({"a": "x"}, {"a": "y"}, "y"), ({"a": "x"}, {"a": {}}, None)],
)
def test_fields_of_features_are_kept_until_they_are_replaced(
    before: dict[str, str], fields: dict[str, Any], after: str | None
) -> None:
    assert status(ClusterState(druid.cluster(), Observed(), [], before, NOW), fields).get("a") == after


LONG = tuple(f"{number}{'x' * 900}" for number in range(5))
SIX = tuple("abcdef")
# (what, warnings, warnings about rollouts, those that the conditions do not show)
HIDDEN: list[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = [
    ("few", SIX[:5], ("r",), ()),
    ("more than five", SIX, ("r",), ("f",)),
    ("more than five about rollouts", ("w",), SIX, ("f",)),
    ("too long for the condition", LONG, (), LONG[4:]),
    ("more than are recorded", tuple(map(str, range(200))), (), tuple(map(str, range(5, 105)))),
]


@pytest.mark.parametrize(("warnings", "rollout", "hidden"), [row[1:] for row in HIDDEN], ids=[row[0] for row in HIDDEN])
def test_digests_of_hidden_warnings(
    warnings: tuple[str, ...], rollout: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    cluster = druid.cluster()
    ready = running(cluster)
    first = status(ClusterState(cluster, ready, [], {}, NOW, warnings, rollout))
    assert first.get("hiddenWarnings", []) == [digest_of_warning(text) for text in hidden]
    assert status(ClusterState(cluster, ready, [], first, NOW, warnings, rollout)) == first
    assert "hiddenWarnings" not in status(ClusterState(cluster, ready, [], first, NOW))


def test_digests_stay_while_pods_are_being_changed() -> None:
    cluster = druid.cluster()
    first = status(ClusterState(cluster, Observed(), [], {}, NOW, (), SIX))
    assert len(first["hiddenWarnings"]) == 1
    assert status(ClusterState(cluster, Observed(), [], first, NOW)) == first
