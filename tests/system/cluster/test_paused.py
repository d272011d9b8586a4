# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happens to a paused cluster of which others delete objects, and when the pause ends."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import (
    NAME,
    STATEFUL,
    STATELESS,
    claim_template,
)
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)

ALONE = "alone"
CLAIMS = [f"data-{STATEFUL}-{ordinal}" for ordinal in range(2)]
NEW_IMAGE = "apache/druid:35.0.0"


@pytest.fixture
def ready(live: NamespaceClient) -> NamespaceClient:
    """A cluster with an object of every kind, and two pods of each group, all ready."""
    own = {"replicas": 2, "persistentVolumeClaim": [claim_template(ALONE)]}
    scaled = {"replicas": 2, "hpAutoscaler": full_cluster.autoscaler("Deployment", STATELESS, 2)}
    full_cluster.create(live, historicals=full_cluster.historicals(**own), brokers=full_cluster.brokers(**scaled))
    live.merge("Druid", NAME, {"spec": {"rollingDeploy": True}})
    until_ready(live, NAME)
    return live


def pause(live: NamespaceClient, is_paused: bool = True) -> None:
    live.merge("Druid", NAME, {"spec": {"paused": is_paused or None}})


def uids(live: NamespaceClient, kind: str) -> dict[str, str]:
    """Return name and uid of each object that is not terminating."""
    found = (each["metadata"] for each in live.list(kind) if not is_terminating(each))
    return {each["name"]: each["uid"] for each in found}


def nothing_is_written(live: NamespaceClient) -> str:
    """Reconcile the paused cluster twice; return the message of its condition Ready."""
    mark = live.mark()
    for _time in range(2):
        outcome = one_pass(live, NAME)
        assert (outcome.changed, outcome.plan.steps) == (False, ())
    assert [each for each in without_status(live.writes(mark)) if "(dry run)" not in each] == []
    status = live.get("Druid", NAME)
    assert condition(status, "Paused")["status"] == "True"
    found = condition(status, "Ready")
    assert (found["status"], found["reason"]) == ("False", reasons.CHANGES_PENDING)
    return str(found["message"])


def without_pods(live: NamespaceClient, name: str) -> bool:
    return not any(each.startswith(name) for each in uids(live, "Pod"))


# (kind, name) of what is deleted
DELETED = {
    "Service": ("Service", STATEFUL),
    "another Service": ("Service", STATELESS),
    "common ConfigMap": ("ConfigMap", f"{NAME}-druid-common-config"),
    "ConfigMap of a group": ("ConfigMap", f"{STATEFUL}-config"),
    "PodDisruptionBudget": ("PodDisruptionBudget", STATELESS),
    "Ingress": ("Ingress", STATELESS),
    "HorizontalPodAutoscaler": ("HorizontalPodAutoscaler", STATELESS),
    "stand-alone PVC": ("PersistentVolumeClaim", ALONE),
}


def test_deleted_objects_are_restored_when_the_pause_ends(ready: NamespaceClient) -> None:
    pods, before = uids(ready, "Pod"), ready.created_objects()
    pause(ready)
    for kind, name in DELETED.values():
        ready.delete(kind, name)
    eventually(lambda: before - ready.created_objects() == {*DELETED.values()})
    message = nothing_is_written(ready)
    assert f"{len(DELETED)} pending changes: " in message
    assert f"create ConfigMap {STATEFUL}-config" in message
    assert before - ready.created_objects() == {*DELETED.values()}

    pause(ready, is_paused=False)
    until_ready(ready, NAME)
    assert ready.created_objects() == before
    assert uids(ready, "Pod") == pods


WORKLOADS = [("StatefulSet", STATEFUL), ("Deployment", STATELESS)]


@pytest.mark.parametrize(("kind", "name"), only_first(1, WORKLOADS, "the same for the other kind of workload"))
def test_a_deleted_workload_has_no_pods_until_the_pause_ends(ready: NamespaceClient, kind: str, name: str) -> None:
    pods, claims = uids(ready, "Pod"), uids(ready, "PersistentVolumeClaim")
    pause(ready)
    ready.delete(kind, name)
    eventually(lambda: without_pods(ready, name))
    assert nothing_is_written(ready) == f"Paused. 1 pending change: create {kind} {name}."
    assert ready.find(kind, name) is None
    # Of what runs, as documented.
    assert ready.get("Druid", NAME)["status"]["nodes"] == "2/2"

    pause(ready, is_paused=False)
    until_ready(ready, NAME)
    after = uids(ready, "Pod")
    assert len(after) == len(pods)
    assert {each for each in after if after[each] == pods.get(each)} == {each for each in pods if name not in each}
    assert uids(ready, "PersistentVolumeClaim") == claims


@pytest.mark.parametrize(("kind", "name"), only_first(1, WORKLOADS, "the same for the other kind of workload"))
def test_a_deleted_workload_that_has_left_its_pods_adopts_them(ready: NamespaceClient, kind: str, name: str) -> None:
    pods, claims = uids(ready, "Pod"), uids(ready, "PersistentVolumeClaim")
    pause(ready)
    ready.delete(kind, name, propagation="Orphan")
    eventually(lambda: ready.find(kind, name) is None)
    assert f"create {kind} {name}" in nothing_is_written(ready)
    assert uids(ready, "Pod") == pods

    pause(ready, is_paused=False)
    until_ready(ready, NAME)
    assert (uids(ready, "Pod"), uids(ready, "PersistentVolumeClaim")) == (pods, claims)


def test_deleted_pods_and_their_pvcs_are_restored_by_the_controllers(ready: NamespaceClient) -> None:
    """Kubernetes keeps a PVC while a pod mounts it; the controller of the StatefulSet creates another one."""
    pods, claims = uids(ready, "Pod"), uids(ready, "PersistentVolumeClaim")
    pause(ready)
    ready.delete("PersistentVolumeClaim", CLAIMS[0])
    assert is_terminating(ready.get("PersistentVolumeClaim", CLAIMS[0]))
    assert not one_pass(ready, NAME).changed
    ready.delete("Pod", f"{STATEFUL}-0")

    def is_restored() -> bool:
        state: Manifest = ready.get("StatefulSet", STATEFUL)["status"]
        now = uids(ready, "PersistentVolumeClaim")
        return state.get("readyReplicas") == len(CLAIMS) and now.get(CLAIMS[0], claims[CLAIMS[0]]) != claims[CLAIMS[0]]

    eventually(is_restored)
    outcome = one_pass(ready, NAME)
    assert (outcome.changed, outcome.plan.steps) == (False, ())
    found = condition(ready.get("Druid", NAME), "Ready")
    assert (found["status"], found["reason"]) == ("True", reasons.ALL_PODS_READY)
    changed = {each for each, uid in uids(ready, "Pod").items() if pods.get(each) != uid}
    assert changed == {f"{STATEFUL}-0"}

    pause(ready, is_paused=False)
    assert not one_pass(ready, NAME).changed


def images(live: NamespaceClient) -> list[str]:
    """Return the images of both workloads."""
    found: list[Any] = [live.get(kind, name)["spec"]["template"]["spec"]["containers"] for kind, name in WORKLOADS]
    return [next(each["image"] for each in containers if "druid" in each["image"]) for containers in found]


def test_the_rollout_of_a_group_is_completed_and_that_of_the_next_one_waits(ready: NamespaceClient) -> None:
    pods = uids(ready, "Pod")
    ready.merge("Druid", NAME, {"spec": {"image": NEW_IMAGE}})
    one_pass(ready, NAME)
    assert images(ready) == [NEW_IMAGE, full_cluster.IMAGE]
    pause(ready)

    def is_complete() -> bool:
        state: Manifest = ready.get("StatefulSet", STATEFUL)["status"]
        return state.get("updatedReplicas") == state.get("readyReplicas") == len(CLAIMS) == state.get("replicas")

    eventually(is_complete)
    assert f"update Deployment {STATELESS}" in nothing_is_written(ready)
    assert images(ready) == [NEW_IMAGE, full_cluster.IMAGE]
    kept = {each for each, uid in uids(ready, "Pod").items() if pods.get(each) == uid}
    assert kept == {each for each in pods if each.startswith(STATELESS)}

    pause(ready, is_paused=False)
    until_ready(ready, NAME)
    assert images(ready) == [NEW_IMAGE] * 2
    assert not set(uids(ready, "Pod").values()) & set(pods.values())
