# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Typed access to a Druid resource: a cluster and its groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import is_allowed
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import properties

# The order of a rolling update in Druid's documentation.
ROLLOUT_ORDER = ("historical", "middleManager", "indexer", "broker", "router", "overlord", "coordinator")

# Defaults of the API server, for a spec that was not read from it.
_DEFAULTS: Mapping[str, Any] = {
    "commonConfigMountPath": "/opt/druid/conf/druid/cluster/_common",
    "defaultProbes": True,
    "imagePullPolicy": "IfNotPresent",
    "orphanPvcGracePeriodSeconds": 60,
    "startScript": "/druid.sh",
}


class ReferenceKey(NamedTuple):
    """An object that the spec of a cluster references."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True)
class Cluster:
    """One Druid resource; `uid` is None for a cluster without a resource.

    `autoscalers` are the names of autoscalers that are not part of the resource, by the name of their group.
    `left_replicas` are the numbers of pods that deleted ones have set, if they are higher than specified.
    """

    name: str
    namespace: str
    uid: str | None
    generation: int | None
    annotations: Mapping[str, str]
    spec: Mapping[str, Any]
    references: Mapping[ReferenceKey, Mapping[str, Any] | None] = field(default_factory=dict)
    autoscalers: Mapping[str, str] = field(default_factory=dict)
    left_replicas: Mapping[str, int] = field(default_factory=dict)
    # A cache for values that several modules compute from the spec.
    shared: dict[tuple[str, str | None], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def from_resource(
        cls,
        resource: Mapping[str, Any],
        references: Mapping[ReferenceKey, Mapping[str, Any] | None] | None = None,
    ) -> Cluster:
        """Return the cluster of a resource, with the objects that it references."""
        metadata = resource["metadata"]
        return cls(
            name=metadata["name"],
            namespace=metadata["namespace"],
            uid=metadata.get("uid"),
            generation=metadata.get("generation"),
            annotations=metadata.get("annotations") or {},
            spec=resource.get("spec") or {},
            references=references or {},
        )

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups in the order of an upgrade; within a node type by key."""
        nodes = self.spec.get("nodes") or {}
        return tuple(sorted((Group(key, node, self) for key, node in nodes.items()), key=_rollout_position))

    @property
    def stopped(self) -> bool:
        """Whether the user stopped the whole cluster."""
        return bool(self.spec.get("stopped"))

    @property
    def keeps_pvcs(self) -> bool:
        """Whether PVCs are retained when the cluster is deleted."""
        return bool(self.spec.get("disablePVCDeletionFinalizer"))

    @property
    def expands_pvcs(self) -> bool:
        """Whether existing PVCs grow when the spec requests more."""
        return bool(self.spec.get("scalePvcSts"))

    @property
    def deletes_orphans(self) -> bool:
        """Whether PVCs that no group uses any more are deleted."""
        return bool(self.spec.get("deleteOrphanPvc"))

    @property
    def orphan_grace_seconds(self) -> int:
        """The time from the mark of an orphaned PVC to its deletion."""
        return int(self.get("orphanPvcGracePeriodSeconds"))

    @property
    def updates_pvcs(self) -> bool:
        """Whether existing PVCs get the annotations and the attributes class of their template when these change."""
        return not self.spec.get("disablePVCAnnotationUpdate")

    @property
    def auth(self) -> Mapping[str, Any]:
        """How to authenticate to Druid's API."""
        return self.spec.get("auth") or {}

    @property
    def endpoint(self) -> Mapping[str, Any]:
        """The address of Druid's API, if not the cluster's own router, and its TLS settings."""
        return self.spec.get("endpoint") or {}

    @property
    def config_map_references(self) -> tuple[ReferenceKey, ...]:
        """The ConfigMaps whose files are copied into the common configuration."""
        return tuple(key for key in _references(self.namespace, self.spec) if key.kind == "ConfigMap")

    @property
    def secret_references(self) -> tuple[ReferenceKey, ...]:
        """The Secrets whose files are mounted beside the common configuration."""
        return tuple(key for key in _references(self.namespace, self.spec) if key.kind == "Secret")

    def get(self, name: str) -> Any:
        """Return a field of the cluster level, or its default."""
        value = self.spec.get(name)
        return _DEFAULTS.get(name) if value is None else value


@dataclass(frozen=True)
class Group:
    """One entry of `spec.nodes`, with fallback to the cluster level."""

    key: str
    node: Mapping[str, Any]
    cluster: Cluster = field(repr=False)

    @property
    def unique_name(self) -> str:
        """The name of the workload and of most objects of the group."""
        return names.unique_name(self.cluster.name, self.key)

    @property
    def node_type(self) -> str:
        """The Druid service that the group runs."""
        return str(self.node.get("nodeType", ""))

    @cached_property
    def properties(self) -> Mapping[str, str]:
        """The runtime properties in the spec, with those of the cluster below them."""
        texts = (self.cluster.get("common.runtime.properties"), self.node.get("runtime.properties"))
        return {name: value for text in texts for name, value in properties(str(text or "")).items()}

    @property
    def port(self) -> int:
        """The port that Druid listens on."""
        return int(self.node.get("druid.port") or 0)

    @property
    def is_deployment(self) -> bool:
        """Whether the group is a Deployment; any other kind means a StatefulSet."""
        return self.node.get("kind") == "Deployment"

    @property
    def kind(self) -> str:
        """The kind of the group's workload."""
        return "Deployment" if self.is_deployment else "StatefulSet"

    @property
    def stopped(self) -> bool:
        """Whether the user stopped this group."""
        return self.cluster.stopped or bool(self.node.get("stopped"))

    @property
    def autoscaled(self) -> bool:
        """Whether an autoscaler sets the number of replicas."""
        return not self.stopped and (self.node.get("hpAutoscaler") is not None or self.foreign_autoscaler is not None)

    @property
    def keeps_replicas(self) -> bool:
        """Whether the live number of pods is kept: an autoscaler sets it or has set it, or the spec does not."""
        return not self.stopped and (
            self.autoscaled or self.node.get("replicas") is None or self.left_replicas is not None
        )

    @property
    def foreign_autoscaler(self) -> str | None:
        """The name of the external autoscaler of the group."""
        return self.cluster.autoscalers.get(self.unique_name)

    @property
    def left_replicas(self) -> int | None:
        """The number of pods that a deleted external autoscaler has set, if it is higher than specified."""
        return self.cluster.left_replicas.get(self.unique_name)

    @property
    def replicas(self) -> int:
        """The number of pods in the spec; 0 if it is not set."""
        return 0 if self.stopped else int(self.node.get("replicas") or 0)

    @property
    def first_replicas(self) -> int:
        """The initial number of pods of a group whose live number is kept."""
        autoscaler = self.node.get("hpAutoscaler") or {}
        return max(self.replicas, int(autoscaler.get("minReplicas") or 1))

    @property
    def max_replicas(self) -> int:
        """The most pods that the group's autoscaler requests; 0 without one."""
        return int((self.node.get("hpAutoscaler") or {}).get("maxReplicas") or 0)

    @property
    def decommission_strategy(self) -> Mapping[str, Any] | None:
        """How Historicals are decommissioned before their number decreases; None: they are not."""
        strategy: Mapping[str, Any] | None = self.first_present("historicalDecommissionStrategy")
        return strategy

    def within_limits(self, replicas: int) -> int:
        """Return the number of pods that is within the limits of the autoscaler, and closest to the number."""
        number = max(self.first_replicas, replicas)
        return min(number, self.max_replicas) if self.max_replicas else number

    def first_present(self, name: str) -> Any:
        """Return the group's value if it is set, even to an empty one; else the cluster's (FNN)."""
        value = self.node.get(name)
        return self.cluster.get(name) if value is None else value

    def first_non_empty(self, name: str, cluster_name: str | None = None) -> str:
        """Return the group's string; if it is empty, the cluster's (FNE)."""
        return self.node.get(name) or self.cluster.get(cluster_name or name) or ""

    def concatenated(self, name: str) -> list[Any]:
        """Return the cluster's list followed by the group's (CAT)."""
        return [*(self.cluster.get(name) or []), *(self.node.get(name) or [])]

    @property
    def partition(self) -> int:
        """How many pods a rollout leaves at their revision, as the spec requests."""
        strategy = self.first_present("updateStrategy") or {}
        return int((strategy.get("rollingUpdate") or {}).get("partition") or 0)

    def merged(self, name: str) -> dict[str, Any]:
        """Return the union of both mappings in which the group's keys win (MERGE)."""
        return {**(self.cluster.get(name) or {}), **(self.node.get(name) or {})}


def cluster_references(resource: Mapping[str, Any]) -> tuple[ReferenceKey, ...]:
    """Return the ConfigMaps and Secrets that a resource's extraCommonConfig references, in order."""
    return _references(resource["metadata"]["namespace"], resource.get("spec") or {})


def not_permitted_keys(resource: Mapping[str, Any], allowed_namespaces: Collection[str]) -> tuple[ReferenceKey, ...]:
    """Return the references to other namespaces that are not permitted."""
    own = resource["metadata"]["namespace"]
    return tuple(key for key in cluster_references(resource) if not is_allowed(key.namespace, own, allowed_namespaces))


def missing_keys(cluster: Cluster) -> tuple[ReferenceKey, ...]:
    """Return the references to objects that do not exist."""
    desired = dict.fromkeys(_references(cluster.namespace, cluster.spec))
    return tuple(key for key in desired if cluster.references.get(key) is None)


def _references(namespace: str, spec: Mapping[str, Any]) -> tuple[ReferenceKey, ...]:
    entries = spec.get("extraCommonConfig") or []
    return tuple(_reference(namespace, entry) for entry in entries)


def _reference(namespace: str, entry: Mapping[str, Any]) -> ReferenceKey:
    # The Go operator ignores the kind: every reference that is not to a Secret is to a ConfigMap.
    kind = "Secret" if entry.get("kind") == "Secret" else "ConfigMap"
    return ReferenceKey(kind, entry.get("namespace") or namespace, entry.get("name") or "")


def _rollout_position(group: Group) -> tuple[int, str]:
    order = tuple(dict.fromkeys((*(group.cluster.spec.get("rolloutOrder") or ()), *ROLLOUT_ORDER)))
    known = group.node_type in order
    return (order.index(group.node_type) if known else len(order), group.key)
