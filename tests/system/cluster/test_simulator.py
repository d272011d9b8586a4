# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The simulator's controllers do what the real ones do: the same histories on both leave the same objects."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ResourceNotFound
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.tests.simulator.specification import (
    NAME,
    NAMESPACE,
    NEW_IMAGE,
    Cluster,
    Group,
    resource,
    workload_name,
)
from ansible_collections.druidops.druid.tests.simulator.store import Manifest
from ansible_collections.druidops.druid.tests.simulator.world import World
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient

_COMPARED = (
    "Druid",
    "ConfigMap",
    "Service",
    "StatefulSet",
    "Deployment",
    "Pod",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
)
# More than any of these histories needs.
_MOST_RECONCILES = 6


@dataclass
class Both:
    """The same cluster on a real control plane and in the simulator."""

    live: NamespaceClient
    world: World

    def specify(self, cluster: Cluster) -> None:
        """Create or change the resource."""
        desired = resource(cluster)
        simulated = self.world.store.get("Druid", NAMESPACE, NAME)
        if simulated is None:
            self.world.store.create(desired)
            self.live.create(desired)
            return
        self.world.store.update({**simulated, "spec": desired["spec"]})
        self.live.patch("Druid", NAME, [{"op": "replace", "path": "/spec", "value": desired["spec"]}])

    def converge(self) -> None:
        """Reconcile on both sides, and compare the objects when the controllers are done."""
        for _time in range(_MOST_RECONCILES):
            is_changed = self._reconcile()
            self.compare()
            if not is_changed:
                return
        raise AssertionError("the cluster does not converge")

    def _reconcile(self) -> bool:
        """Reconcile once on both sides; return whether something was written."""
        simulated, is_changed = self.world.store.get("Druid", NAMESPACE, NAME), False
        if simulated is not None:
            is_changed = DRUID.reconcile(self.world.api(), simulated, Options(), self.world.clock.now()).changed
        # The garbage collector may be faster.
        with suppress(ResourceNotFound):
            is_changed |= one_pass(self.live, NAME).changed
        return is_changed

    def delete(self, kind: str, name: str, propagation: str = "Background") -> None:
        """Delete an object on both sides."""
        simulated = self.world.store.get(kind, NAMESPACE, name)
        assert simulated is not None
        self.world.store.delete(simulated, propagation)
        self.live.delete(kind, name, propagation)

    def compare(self) -> None:
        """Wait until the real controllers have come to the simulator's state."""
        self.world.settle()
        simulated = picture(_simulated(self.world))
        found: dict[str, Any] = {}

        def is_same() -> bool:
            found.clear()
            found.update(picture([each for kind in _COMPARED for each in self.live.list(kind)]))
            return found == simulated

        eventually(is_same, 30, otherwise=lambda: _difference(found, simulated))


def _simulated(world: World) -> list[Manifest]:
    return [{"apiVersion": KINDS[kind].api_version, **each} for kind in _COMPARED for each in world.store.of_kind(kind)]


def _difference(found: dict[str, Any], simulated: dict[str, Any]) -> str:
    keys = sorted(key for key in {**found, **simulated} if found.get(key) != simulated.get(key))
    return "\n".join(f"{key}: real {found.get(key)}, simulated {simulated.get(key)}" for key in keys)


def picture(objects: list[Manifest]) -> dict[str, Any]:
    """Return what controllers do with each object: owners, deletion, replicas, revisions, volumes."""
    found = (each for each in objects if each["metadata"]["name"] != "kube-root-ca.crt")
    pictures = sorted((_name(each), str(_essence(each))) for each in found)
    return {f"{name} {number}": text for number, (name, text) in enumerate(pictures)}


def _name(live: Manifest) -> str:
    """Return kind and name, without the random part of the name of a Deployment's pod."""
    name = live["metadata"]["name"]
    if "pod-template-hash" in (live["metadata"].get("labels") or {}):
        name = live["metadata"]["labels"]["nodeSpecUniqueStr"]
    return f"{live['kind']} {name}"


def _essence(live: Manifest) -> dict[str, Any]:
    metadata, spec, status = live["metadata"], live.get("spec") or {}, live.get("status") or {}
    owners = sorted(
        (each["kind"], each["name"] if each["kind"] != "ReplicaSet" else "", each.get("controller", False))
        for each in metadata.get("ownerReferences") or ()
    )
    essence = {
        "owners": owners,
        "finalizers": metadata.get("finalizers") or [],
        "is_terminating": "deletionTimestamp" in metadata,
    }
    if live["kind"] in ("StatefulSet", "Deployment"):
        names = ("replicas", "serviceName", "podManagementPolicy", "persistentVolumeClaimRetentionPolicy")
        counts = ("replicas", "readyReplicas", "updatedReplicas")
        essence |= {name: spec.get(name) for name in names} | {f"{name} now": status.get(name, 0) for name in counts}
        essence["is_observed"] = status.get("observedGeneration") == metadata["generation"]
        essence["is_updated"] = status.get("currentRevision") == status.get("updateRevision")
    if live["kind"] == "Pod":
        names = ("hostname", "subdomain")
        essence |= {name: spec.get(name) or "" for name in names}
        essence["image"] = spec["containers"][0]["image"]
        # The StatefulSet controller iterates over a map: the order of the volumes is random.
        essence["claims"] = sorted(
            each["persistentVolumeClaim"]["claimName"] for each in spec["volumes"] if "persistentVolumeClaim" in each
        )
    if live["kind"] == "PersistentVolumeClaim":
        essence["labels"] = sorted((metadata.get("labels") or {}).items())
    return essence


BACKGROUND = campaign("the deletion of a StatefulSet")
BROKERS = workload_name("brokers")
PARTS = ("Retain", "Delete")
BOTH_DELETE = campaign("the same with both policies Delete")
POLICIES = [
    pytest.param((when_scaled, when_deleted), marks=() if "Retain" not in (when_scaled, when_deleted) else BOTH_DELETE)
    for when_scaled in PARTS
    for when_deleted in PARTS
]


@pytest.fixture
def both(live: NamespaceClient) -> Both:
    """A namespace on both sides."""
    return Both(live, World())


def cluster(image: str = Cluster().image, keeps_pvcs: bool = False, **group: Any) -> Cluster:
    """Return a cluster with one group."""
    return Cluster(groups={"brokers": Group(**group)}, image=image, keeps_pvcs=keeps_pvcs)


def created(both: Both, first: Cluster) -> Cluster:
    """Create the cluster on both sides."""
    both.specify(first)
    both.converge()
    return first


def changed(both: Both, before: Cluster, **fields: Any) -> Cluster:
    """Change the group of the cluster on both sides."""
    after = replace(before, groups={"brokers": replace(before.groups["brokers"], **fields)})
    both.specify(after)
    both.converge()
    return after


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_claims_by_retention_policy(both: Both, policy: tuple[str, str]) -> None:
    """Scaled, stopped and resumed, by another policy, deleted."""
    now = created(both, cluster(when_scaled=policy[0], when_deleted=policy[1]))
    now = changed(both, now, replicas=3)
    now = changed(both, now, replicas=1)
    now = changed(both, now, stopped=True)
    now = changed(both, now, when_deleted="Delete" if policy[1] == "Retain" else "Retain")
    now = changed(both, now, stopped=False, replicas=2)
    both.delete("StatefulSet", BROKERS)
    both.compare()
    both.converge()


@pytest.mark.parametrize(
    "propagation",
    ["Orphan", pytest.param("Background", marks=BACKGROUND), pytest.param("Foreground", marks=BACKGROUND)],
)
def test_deletion_of_the_resource(both: Both, propagation: str) -> None:
    created(both, cluster(keeps_pvcs=propagation == "Foreground", when_deleted="Delete"))
    both.delete("Druid", NAME, propagation)
    # A reconcile that the real garbage collector overtakes is not what is compared here.
    both.compare()
    both.converge()


@pytest.mark.parametrize(
    "management", ["OrderedReady", pytest.param("Parallel", marks=campaign("the same one by one"))]
)
def test_rolling_update(both: Both, management: str) -> None:
    now = created(both, cluster(management=management, partition=1, replicas=3))
    now = replace(now, image=NEW_IMAGE)
    both.specify(now)
    both.converge()
    changed(both, now, partition=0)


def test_replaced_service_stays_until_the_pods_are_evicted(both: Both) -> None:
    now = created(both, cluster())
    changed(both, now, service="%s-b")
    assert [each["metadata"]["name"] for each in both.live.list("Service")] == [f"{BROKERS}-b"]


def test_pods_without_the_volume_of_a_new_claim_template_are_evicted(both: Both) -> None:
    now = created(both, cluster())
    changed(both, now, has_more_claims=True)
    assert len(both.live.list("PersistentVolumeClaim")) == 2 * len(both.live.list("Pod"))


def test_resource_whose_orphans_are_pruned_keeps_its_pvcs(both: Both) -> None:
    """Before the finalizer runs, a GitOps tool has deleted what --cascade=orphan left."""
    created(both, cluster(when_scaled="Delete"))
    both.delete("Druid", NAME, "Orphan")
    both.compare()
    owned = ("StatefulSet", "ConfigMap", "Service", "PodDisruptionBudget")
    for kind in owned:
        for each in both.world.store.of_kind(kind):
            both.delete(kind, each["metadata"]["name"])
    both.compare()
    before = {each["metadata"]["uid"] for each in both.live.list("PersistentVolumeClaim")}
    both.converge()
    assert {each["metadata"]["uid"] for each in both.live.list("PersistentVolumeClaim")} == before
    assert both.live.find("Druid", NAME) is None


@campaign("the adoption of orphans")
def test_recreation_adopts_the_pods(both: Both) -> None:
    now = created(both, cluster(when_deleted="Delete"))
    changed(both, now, management="OrderedReady")


def test_orphans_are_adopted(both: Both) -> None:
    created(both, cluster(when_scaled="Delete"))
    both.delete("StatefulSet", BROKERS, "Orphan")
    both.compare()
    both.converge()


@campaign("the update of a Deployment in test_update_strategy")
def test_another_kind(both: Both) -> None:
    now = created(both, cluster())
    now = changed(both, now, kind="Deployment")
    now = replace(now, image=NEW_IMAGE)
    both.specify(now)
    both.converge()
    changed(both, now, kind="StatefulSet", when_scaled="Delete")


@campaign("test_autoscaler, without the simulator")
def test_autoscaler_sets_its_minimum(both: Both) -> None:
    now = created(both, cluster(replicas=1, when_scaled="Delete"))
    now = changed(both, now, autoscaler=(3, 5))
    now = changed(both, now, stopped=True)
    now = changed(both, now, stopped=False)
    changed(both, now, autoscaler=None)


def test_claim_in_use_stays(both: Both) -> None:
    now = created(both, cluster())
    both.delete("PersistentVolumeClaim", f"data-{BROKERS}-1")
    both.compare()
    changed(both, now, replicas=1)


@campaign("test_rename, without the simulator")
def test_a_group_is_renamed(both: Both) -> None:
    now = created(both, cluster(when_deleted="Delete"))
    both.specify(replace(now, groups={"brokers-hot": now.groups["brokers"]}))
    both.converge()
