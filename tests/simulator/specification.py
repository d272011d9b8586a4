# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a user can specify of a cluster: few fields, in all combinations that controllers react to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.tests.simulator.store import Manifest

NAME, NAMESPACE = "c", "ns"
OLD_IMAGE, NEW_IMAGE = "apache/druid:36.0.0", "apache/druid:37.0.0"


@dataclass(frozen=True)
class Group:
    """One group of a cluster. `autoscaler` are the limits of its HorizontalPodAutoscaler.

    Without a `node_type`, its key defines it. An empty policy is not specified.
    """

    replicas: int | None = 2
    kind: str = "StatefulSet"
    stopped: bool = False
    when_scaled: str = "Retain"
    when_deleted: str = "Retain"
    autoscaler: tuple[int, int] | None = None
    service: str = "%s"
    is_headless: bool = True
    management: str = "Parallel"
    partition: int = 0
    has_standalone_claim: bool = False
    storage: str = "1Gi"
    storage_class: str = ""
    attributes_class: str = ""
    node_type: str | None = None
    has_more_claims: bool = False
    strategy: str = "RollingUpdate"
    min_ready: int = 0
    has_budget: bool = True
    restarted_at: str = ""


@dataclass(frozen=True)
class Cluster:
    """A cluster."""

    groups: Mapping[str, Group] = field(default_factory=lambda: {"brokers": Group(), "historicals": Group()})
    stopped: bool = False
    keeps_pvcs: bool = False
    image: str = OLD_IMAGE
    rolls: bool = False
    paused: bool = False
    expands_pvcs: bool = False
    deletes_orphans: bool = False
    order: tuple[str, ...] = ()
    restarted_at: str = ""

    def is_stopped(self, key: str) -> bool:
        return self.stopped or self.groups[key].stopped

    @property
    def order_of_restarts(self) -> list[str]:
        """The keys of the groups in the order in which they get the image; another order of kinds is a test's own."""
        types = [*dict.fromkeys((*self.order, "historical", "broker"))]
        keys = sorted(self.groups, key=lambda key: (types.index(_node_type(key, self.groups[key])), key))
        return keys[::-1] if self.image == OLD_IMAGE else keys

    def annotations(self) -> dict[str, str]:
        """Return the annotations of the resource."""
        requested = {f"{names.GROUP_RESTARTED_AT_PREFIX}{key}": each.restarted_at for key, each in self.groups.items()}
        requested[names.RESTARTED_AT_ANNOTATION] = self.restarted_at
        return {name: time for name, time in requested.items() if time}

    def spec(self) -> Manifest:
        """Return the spec of the resource."""
        return {
            "image": self.image,
            "common.runtime.properties": "druid.zk.service.host=zk",
            "rollingDeploy": self.rolls,
            "forceDeleteStsPodOnError": True,
            **({"rolloutOrder": [*self.order]} if self.order else {}),
            **({"paused": True} if self.paused else {}),
            "stopped": self.stopped,
            **({"scalePvcSts": True} if self.expands_pvcs else {}),
            **({"deleteOrphanPvc": True} if self.deletes_orphans else {}),
            "disablePVCDeletionFinalizer": self.keeps_pvcs,
            "nodes": {key: _node(key, group) for key, group in self.groups.items()},
        }


def workload_name(key: str) -> str:
    return names.unique_name(NAME, key)


def resource(cluster: Cluster) -> Manifest:
    """Return the Druid resource of the cluster."""
    head = {"apiVersion": names.API_VERSION, "kind": names.KIND}
    metadata = {"name": NAME, "namespace": NAMESPACE, "annotations": cluster.annotations()}
    return {**head, "metadata": metadata, "spec": cluster.spec()}


def changed_resource(live: Manifest, cluster: Cluster) -> Manifest:
    """Return the resource after the user has changed it: the annotations of others stay."""
    found = live["metadata"].get("annotations") or {}
    others = {name: value for name, value in found.items() if "restarted-at" not in name}
    metadata = {**live["metadata"], "annotations": {**others, **cluster.annotations()}}
    return {**live, "metadata": metadata, "spec": cluster.spec()}


def _node_type(key: str, group: Group) -> str:
    return group.node_type or ("historical" if key.startswith("historical") else "broker")


def _node(key: str, group: Group) -> dict[str, Any]:
    node_type = _node_type(key, group)
    common = {
        "nodeType": node_type,
        "druid.port": 8088,
        "nodeConfigMountPath": f"/opt/druid/conf/druid/cluster/{node_type}",
        "runtime.properties": f"druid.service=druid/{node_type}",
        "kind": group.kind,
        "stopped": group.stopped,
        "services": [{"metadata": {"name": group.service}, "spec": {"clusterIP": "None"} if group.is_headless else {}}],
    }
    if group.has_budget:
        common["podDisruptionBudgetSpec"] = {"maxUnavailable": 1}
    if group.min_ready:
        common["minReadySeconds"] = group.min_ready
    if group.has_standalone_claim:
        common["persistentVolumeClaim"] = [{"metadata": {"name": f"standalone-{key}"}, "spec": _volume(group)}]
    replicas = {} if group.replicas is None else {"replicas": group.replicas}
    scaled = {} if group.autoscaler is None else {"hpAutoscaler": autoscaler_spec(key, group.kind, group.autoscaler)}
    return {**common, **replicas, **scaled, **(_stateful(group) if group.kind == "StatefulSet" else {})}


def _stateful(group: Group) -> dict[str, Any]:
    policy = {"whenScaled": group.when_scaled, "whenDeleted": group.when_deleted}
    specified = {name: value for name, value in policy.items() if value}
    rolling = {"rollingUpdate": {"partition": group.partition}}
    return {
        "podManagementPolicy": group.management,
        "updateStrategy": {"type": group.strategy, **({} if group.strategy == "OnDelete" else rolling)},
        **({"persistentVolumeClaimRetentionPolicy": specified} if specified else {}),
        "volumeClaimTemplates": [
            {"metadata": {"name": name}, "spec": _volume(group)} for name in names_of_claims(group)
        ],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }


def names_of_claims(group: Group) -> tuple[str, ...]:
    """Return the names of the claim templates."""
    return ("data", "more") if group.has_more_claims else ("data",)


def _volume(group: Group) -> dict[str, Any]:
    of_class = {"storageClassName": group.storage_class} if group.storage_class else {}
    attributes = {"volumeAttributesClassName": group.attributes_class} if group.attributes_class else {}
    requests = {"requests": {"storage": group.storage}}
    return {"accessModes": ["ReadWriteOnce"], "resources": requests, **of_class, **attributes}


def autoscaler_spec(key: str, kind: str, limits: tuple[int, int]) -> dict[str, Any]:
    """Return the spec of a HorizontalPodAutoscaler for the group."""
    target = {"apiVersion": "apps/v1", "kind": kind, "name": workload_name(key)}
    return {"minReplicas": limits[0], "maxReplicas": limits[1], "scaleTargetRef": target}


def group_of_claim(name: str) -> tuple[str, int]:
    """Return group and ordinal of a PVC; no group and -1 for one that no pod has to itself."""
    if name.startswith("standalone-"):
        return "", -1
    group, _hyphen, ordinal = name.partition(f"-{workload_name('')}")[2].rpartition("-")
    return group, int(ordinal)
