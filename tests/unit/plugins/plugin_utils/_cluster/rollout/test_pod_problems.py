# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods are not ready: containers that cannot start or have ended, and evictions."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import FAILING
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import (
    GroupState,
    group_states,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored

Manifest = dict[str, Any]

TWO = {"replicas": 2}
TERMINATING = {"deletionTimestamp": "2026-01-02T03:04:05Z"}


def pod(name: str, group: str = "druid-c-brokers", **status: Any) -> Manifest:
    labels = {"nodeSpecUniqueStr": group}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "status": status}


def waiting(reason: str, **more: str) -> list[Manifest]:
    return [{"name": "fine", "state": {"running": {}}}, {"name": "m", "state": {"waiting": {"reason": reason, **more}}}]


def ended(code: int, reason: str, **more: str) -> Manifest:
    return {"terminated": {"exitCode": code, "reason": reason, **more}}


def restarted(code: int, reason: str, message: str = "", **more: Any) -> Manifest:
    last = ended(code, reason, **({"message": message} if message else {}))
    return {"name": "m", "state": {"running": {}}, "lastState": last, "restartCount": 1, "ready": False, **more}


LOG = "see kubectl logs p --container m --namespace default"
BY_ITSELF = "it has ended by itself with an error"
MORE_MEMORY = "the container needs more than the memory of its node, raise it or lower the sizes of its JVM"

PODS: list[tuple[str, Manifest, tuple[str, ...]]] = [
    *(
        (reason, pod("p", containerStatuses=waiting(reason)), (f"pod p, container m: {reason}",))
        for reason in sorted(FAILING)
    ),
    (
        "with a message",
        pod("p", containerStatuses=waiting("ErrImagePull", message="no such image")),
        ("pod p, container m: ErrImagePull: no such image",),
    ),
    (
        "an init container",
        pod("p", initContainerStatuses=waiting("CrashLoopBackOff")),
        ("pod p, container m: CrashLoopBackOff",),
    ),
    ("starting", pod("p", containerStatuses=waiting("ContainerCreating")), ()),
    ("of another group", pod("p", "druid-c-others", containerStatuses=waiting("CrashLoopBackOff")), ()),
    ("no status", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, ()),
    ("unknown states", pod("p", containerStatuses=None, initContainerStatuses=[{"name": "m"}]), ()),
    ("running", pod("p", containerStatuses=[{"name": "m", "state": {"running": {}}}]), ()),
    (
        "killed, and started again",
        pod("p", containerStatuses=[restarted(137, "OOMKilled", restartCount=2)]),
        (f"pod p, container m: restarted 2 times, last exit code 137 (OOMKilled): {MORE_MEMORY}",),
    ),
    (
        "killed just now",
        pod("p", containerStatuses=[{"name": "m", "state": ended(137, "OOMKilled")}]),
        (f"pod p, container m: ended, last exit code 137 (OOMKilled): {MORE_MEMORY}",),
    ),
    (
        "killed, and waiting for the next attempt",
        pod("p", containerStatuses=[{**waiting("CrashLoopBackOff")[1], "lastState": ended(137, "OOMKilled")}]),
        (f"pod p, container m: CrashLoopBackOff, last exit code 137 (OOMKilled): {MORE_MEMORY}",),
    ),
    (
        "crashed, and waiting for the next attempt: the log has the cause",
        pod(
            "p",
            containerStatuses=[
                {
                    **waiting("CrashLoopBackOff", message="back-off 10s restarting failed container=m pod=p")[1],
                    "lastState": ended(1, "Error"),
                    "restartCount": 2,
                }
            ],
        ),
        (f"pod p, container m: CrashLoopBackOff, last exit code 1 (Error): {BY_ITSELF}; {LOG} --previous",),
    ),
    (
        "crashed just now",
        pod("p", containerStatuses=[{"name": "m", "state": ended(1, "Error")}]),
        (f"pod p, container m: ended, last exit code 1 (Error): {BY_ITSELF}; {LOG}",),
    ),
    (
        "with the end of its log",
        pod("p", containerStatuses=[restarted(1, "Error", message=" no space\nleft ")]),
        (f"pod p, container m: restarted once, last exit code 1 (Error): no space left; {LOG} --previous",),
    ),
    (
        "on a node that does not respond",
        pod("p", reason="NodeLost", message="Node n is unresponsive.", containerStatuses=[restarted(137, "Error")]),
        (f"pod p, container m: restarted once, last exit code 137 (Error): Node n is unresponsive; {LOG} --previous",),
    ),
    ("ready again", pod("p", containerStatuses=[restarted(137, "OOMKilled", ready=True)]), ()),
    (
        "ready again, but another container is not",
        pod("p", containerStatuses=[restarted(1, "Error", ready=True), {"name": "n", "ready": False}]),
        (),
    ),
    (
        "all are ready",
        pod("p", containerStatuses=[restarted(1, "Error")], conditions=[{"type": "Ready", "status": "True"}]),
        (),
    ),
    (
        "an init container that has succeeded in the end",
        pod("p", initContainerStatuses=[{**restarted(1, "Error"), "state": ended(0, "Completed")}]),
        (),
    ),
    ("evicted", pod("p", phase="Failed", containerStatuses=[{"name": "m", "state": ended(137, "Error")}]), ()),
]


@pytest.mark.parametrize(("found", "failures"), [row[1:] for row in PODS], ids=[row[0] for row in PODS])
def test_failures_of_pods(found: Manifest, failures: tuple[str, ...]) -> None:
    [group] = group_states(druid.cluster(), Observed().with_objects([found]))
    assert group.failures == failures


def test_memory_limit_of_a_container_that_was_killed_is_named() -> None:
    found = pod("p", containerStatuses=[restarted(137, "OOMKilled")])
    found["spec"] = {"containers": [{"name": "n"}, {"name": "m", "resources": {"limits": {"memory": "512Mi"}}}]}
    [group] = group_states(druid.cluster(), Observed().with_objects([found]))
    assert group.cause == group.failures[0]
    assert group.failures[0].endswith(MORE_MEMORY.replace("the memory of its node", "its memory limit of 512Mi"))


def test_a_terminating_pod_has_no_failure() -> None:
    found = pod("p", containerStatuses=[restarted(137, "OOMKilled")])
    found["metadata"] |= TERMINATING
    [group] = group_states(druid.cluster(), Observed().with_objects([found]))
    assert group.failures == ()


def evicted(name: str, template: str, created: str, **status: Any) -> Manifest:
    found = pod(name, phase="Failed", **status)
    found["metadata"]["labels"]["pod-template-hash"] = template
    found["metadata"]["creationTimestamp"] = created
    return found


def state_with(pods: list[Manifest]) -> GroupState:
    cluster = druid.cluster(TWO)
    [workload] = [each for each in render(cluster).objects if each["kind"] == "StatefulSet"]
    [group] = group_states(cluster, Observed().with_objects([stored(workload), *pods]))
    return group


def test_evicted_pods_of_the_current_template_are_a_cause() -> None:
    """A Deployment keeps them, also those of earlier templates. None is a failure: the controller replaces them."""
    pods = [
        evicted("a", "old", "2026-01-01T00:00:00Z", reason="Evicted", message="Too much."),
        evicted("b", "new", "2026-01-01T00:00:01Z", reason="Evicted", message="The node was low\n on memory."),
        evicted("c", "new", "2026-01-01T00:00:02Z"),
    ]
    group = state_with(pods)
    assert group.evicted == ("pod c: Failed", "pod b: Evicted: The node was low on memory.")
    assert (group.failures, group.cause) == ((), "pod c: Failed")


def test_a_pod_that_starts_is_unready_before_an_evicted_one() -> None:
    group = state_with([evicted("a", "new", "2026-01-01T00:00:01Z"), pod("b", phase="Pending")])
    assert group.unready == "pod b is not ready"
