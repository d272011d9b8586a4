# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods are missing: the latest event about the pod, with the remedy."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import (
    events_of_missing_pods,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import group_states
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import answers_of, inputs

Manifest = dict[str, Any]

CLUSTER = rolling.cluster()
NAME = "druid-c-historicals"
MISSING = ObjectKey("Pod", f"{NAME}-1")


def event(reason: str, message: str, second: int, about: str = f"uid-of-{NAME}") -> Manifest:
    """Return an event about a StatefulSet, or about another object."""
    return {
        "kind": "Event",
        "metadata": {"name": f"{reason}-{second}"},
        "type": "Normal" if reason == "SuccessfulCreate" else "Warning",
        "involvedObject": {"uid": about},
        "reason": reason,
        "message": message,
        "lastTimestamp": f"2026-01-02T03:04:0{second}Z",
    }


def rejected(error: str, second: int = 5, pod: str = MISSING.name) -> Manifest:
    """Return the event of the StatefulSet controller of Kubernetes 1.34."""
    return event("FailedCreate", f"create Pod {pod} in StatefulSet {NAME} failed error: {error}", second)


QUOTA = rejected(f'pods "{MISSING.name}" is forbidden: exceeded quota: small')
CREATED = f"create Pod {MISSING.name} in StatefulSet {NAME} successful"
CLAIM = f"create Claim data-{MISSING.name} Pod {MISSING.name} in StatefulSet {NAME} success"
# (events, the end of the cause; None: there is none)
CASES: dict[str, tuple[list[Manifest], str | None]] = {
    "quota": ([QUOTA], "exceeded quota: small. Raise the quota, or lower what is specified"),
    "webhook": ([rejected('failed calling webhook "injector.example.com": no route to host.')],
                "no route to host. Repair this webhook, or exclude the namespace from it"),
    "another cause": ([rejected("the policy forbids it")],
                      "the policy forbids it. Change what rejects it, or the specification"),
    "created since, and removed by its controller": ([QUOTA, event("SuccessfulCreate", CREATED, 6)], None),
    "rejected since": ([event("SuccessfulCreate", CREATED, 1), QUOTA], "or lower what is specified"),
    "its PVC was created in the same second": ([QUOTA, event("SuccessfulCreate", CLAIM, 5)], "what is specified"),
    "another pod, which exists": ([rejected("no", pod=f"{NAME}-0")], None),
    "a former StatefulSet of that name": ([{**QUOTA, "involvedObject": {"uid": "former"}}], None),
    "none": ([], None),
}  # fmt: skip


@pytest.mark.parametrize(("events", "end"), CASES.values(), ids=CASES)
def test_the_cause_is_the_latest_event_about_the_missing_pod(events: list[Manifest], end: str | None) -> None:
    live = rolling.observed(CLUSTER, historicals={"replicas": 1, "readyReplicas": 1})
    cause = group_states(CLUSTER, live.without([MISSING]).with_objects(events))[0].cause
    assert cause is None if end is None else str(cause).endswith(end)
    assert group_states(CLUSTER, live.with_objects(events))[0].cause is None


def pending(claim: str = "Pending") -> Observed:
    """Return the state if a pod fits on no node, and its PVC has this phase."""
    unplaced = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}
    pod = rolling.pod("historicals", 1, conditions=[unplaced])
    pod["spec"] = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-1"}}]}
    live = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data-1", "uid": "pvc"}}
    live |= {"spec": {"storageClassName": "gp2"}, "status": {"phase": claim}}
    return rolling.observed(CLUSTER).with_objects([pod, live])


def test_the_cause_is_the_class_that_does_not_exist() -> None:
    waits = {**event("WaitForFirstConsumer", "waiting for first consumer", 9, "pvc"), "type": "Normal"}
    failed = event("ProvisioningFailed", 'storageclass.storage.k8s.io "gp2" not found', 5, "pvc")
    found = group_states(CLUSTER, pending().with_objects([waits, failed]))[0].cause
    assert found == (
        "PVC data-1 of StorageClass gp2 has no volume: ProvisioningFailed: "
        'storageclass.storage.k8s.io "gp2" not found. '
        "Create this StorageClass, or specify another storageClassName"
    )
    # others can write events, in which both are optional
    bare = {name: value for name, value in failed.items() if name not in ("reason", "message")} | {"type": "Warning"}
    found = group_states(CLUSTER, pending().with_objects([bare]))[0].cause
    assert found == (
        "PVC data-1 of StorageClass gp2 has no volume. Create this StorageClass, or specify another storageClassName"
    )
    for live in (pending().with_objects([waits]), pending("Bound").with_objects([failed])):
        assert group_states(CLUSTER, live)[0].cause == f"pod {MISSING.name}: Unschedulable: no node"


@pytest.mark.parametrize(
    ("live", "needs"),
    [
        (rolling.observed(CLUSTER), False),
        (rolling.observed(CLUSTER).without([MISSING]), True),
        (pending(), True),
        (pending("Bound"), False),
    ],
)
def test_events_are_read_only_if_they_explain_something(live: Observed, needs: bool) -> None:
    found = inputs(CLUSTER, live)
    events_of_missing_pods(found)
    assert answers_of(found).asked == ["Event"] * needs
