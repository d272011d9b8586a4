# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of a group beside its workload and ConfigMap, and the metadata that all objects have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

# Kubernetes deletes an object with its owner, regardless of disablePVCDeletionFinalizer.
_WITHOUT_OWNER = ("PersistentVolumeClaim",)


def cluster_manifest(
    cluster: Cluster, api_version: str, kind: str, metadata: Mapping[str, Any], **content: Any
) -> dict[str, Any]:
    """Return an object of the cluster; `metadata` names it and has the labels of its kind."""
    return _manifest(cluster, None, api_version, kind, metadata, content)


def group_manifest(
    group: Group, api_version: str, kind: str, metadata: Mapping[str, Any], **content: Any
) -> dict[str, Any]:
    """Return an object of one group; `metadata` names it and has the labels of its kind."""
    return _manifest(group.cluster, group.node_type, api_version, kind, metadata, content)


def without_none(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy without fields that are None."""
    return {key: _without_none(value) for key, value in mapping.items() if value is not None}


def _manifest(
    cluster: Cluster,
    component: str | None,
    api_version: str,
    kind: str,
    metadata: Mapping[str, Any],
    content: Mapping[str, Any],
) -> dict[str, Any]:
    owners = None if kind in _WITHOUT_OWNER else _owner_references(cluster)
    recommended = names.recommended_labels(cluster.name, component)
    labels = recommended if owners else names.without_instance(recommended)
    completed = {
        **metadata,
        "namespace": cluster.namespace,
        "labels": {**labels, **metadata["labels"]},
        "annotations": metadata.get("annotations") or None,
        "ownerReferences": owners,
    }
    return without_none({"apiVersion": api_version, "kind": kind, "metadata": completed, **content})


def _owner_references(cluster: Cluster) -> list[dict[str, Any]] | None:
    # No blockOwnerDeletion: it needs a permission on finalizers, and the Go operator does not set it.
    if cluster.uid is None:
        return None
    owner = {"apiVersion": names.API_VERSION, "kind": names.KIND, "name": cluster.name, "uid": cluster.uid}
    return [{**owner, "controller": True}]


def _without_none(value: Any) -> Any:
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_without_none(item) for item in value]
    # A dict first: it takes longer to recognize it as a Mapping.
    return without_none(value) if isinstance(value, (dict, Mapping)) else value


def services(group: Group, selector: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the group's Services in the order in which the user lists them."""
    return [_service(group, entry, selector) for entry in service_entries(group)]


def service_entries(group: Group) -> list[Mapping[str, Any]]:
    """Return the specified Services of the group."""
    return list(group.first_present("services") or [])


def service_names(group: Group) -> list[str]:
    """Return the names of the group's Services."""
    return [
        names.service_name((entry.get("metadata") or {}).get("name"), group.unique_name)
        for entry in service_entries(group)
    ]


def named_target_ports(group: Group) -> frozenset[str]:
    """Return the names of container ports that the group's Services reference."""
    targets = [port.get("targetPort") for entry in service_entries(group) for port in _ports(group, entry)]
    return frozenset(target for target in targets if isinstance(target, str))


def _service(group: Group, entry: Mapping[str, Any], selector: Mapping[str, str]) -> dict[str, Any]:
    metadata = entry.get("metadata") or {}
    spec = entry.get("spec") or {}
    identity = {
        **metadata,
        "name": names.service_name(metadata.get("name"), group.unique_name),
        "labels": {**(metadata.get("labels") or {}), **names.group_labels(group)},
    }
    content = {**spec, "selector": {**(spec.get("selector") or {}), **selector}, "ports": _ports(group, entry) or None}
    return group_manifest(group, "v1", "Service", identity, spec=content)


def _ports(group: Group, entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    ports = (entry.get("spec") or {}).get("ports")
    # An empty list is a valid value: a headless Service can have no ports.
    return [_default_port(group)] if ports is None else list(ports)


def _default_port(group: Group) -> dict[str, Any]:
    return {"name": names.SERVICE_PORT, "port": group.port, "targetPort": group.port}


def persistent_volume_claims(group: Group) -> list[dict[str, Any]]:
    """Return the group's stand-alone PVCs."""
    return [_claim(group, entry) for entry in group.node.get("persistentVolumeClaim") or []]


def _claim(group: Group, entry: Mapping[str, Any]) -> dict[str, Any]:
    metadata = entry.get("metadata") or {}
    identity = {
        **metadata,
        "name": metadata.get("name") or group.unique_name,
        "labels": {**(metadata.get("labels") or {}), **names.group_labels(group)},
    }
    return group_manifest(group, "v1", "PersistentVolumeClaim", identity, spec=entry.get("spec") or {})


def ingress(group: Group) -> list[dict[str, Any]]:
    """Return the group's Ingress, if it is specified."""
    spec = group.node.get("ingress")
    if spec is None:
        return []
    metadata = {
        "name": group.unique_name,
        "labels": names.cluster_labels(group.cluster.name),
        "annotations": group.node.get("ingressAnnotations"),
    }
    return [group_manifest(group, "networking.k8s.io/v1", "Ingress", metadata, spec=spec)]


def pod_disruption_budget(group: Group, selector: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the group's disruption budget, if it is specified; it always selects the group's pods."""
    budget = group.node.get("podDisruptionBudgetSpec")
    if budget is None:
        return []
    metadata = {"name": group.unique_name, "labels": names.group_labels(group)}
    spec = {**budget, "selector": {"matchLabels": selector}}
    return [group_manifest(group, "policy/v1", "PodDisruptionBudget", metadata, spec=spec)]


def horizontal_pod_autoscaler(group: Group) -> list[dict[str, Any]]:
    """Return the group's autoscaler, if it is specified."""
    spec = group.node.get("hpAutoscaler")
    if spec is None:
        return []
    metadata = {"name": group.unique_name, "labels": names.cluster_labels(group.cluster.name)}
    return [group_manifest(group, "autoscaling/v2", "HorizontalPodAutoscaler", metadata, spec=spec)]
