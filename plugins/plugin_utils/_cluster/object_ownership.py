# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ownership of live objects: what is not ours is never written or deleted. Who holds the replicas of a workload."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import field_ownership
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    AUTOSCALED_MANAGER,
    REPLICAS,
    SCALE,
    UPDATE,
    owned_by,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import intersection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest

_GROUP = names.API_VERSION.partition("/")[0] + "/"


def is_ours(live: Manifest, cluster: Cluster) -> bool:
    """True for an object that belongs to this cluster.

    With a resource: its controller is the Druid resource of this name (also a deleted one with another uid).
    Without a resource, and for orphans of a deleted one: it has the cluster's label, and our field manager or the Go
    operator wrote it.
    """
    if controller(live) is not None:
        return cluster.uid is not None and is_of_resource(live, cluster)
    labels = live["metadata"].get("labels") or {}
    return _is_written_by_us(live) and labels.get(names.CLUSTER_LABEL) == cluster.name


def _is_written_by_us(live: Manifest) -> bool:
    annotations = live["metadata"].get("annotations") or {}
    return field_ownership.is_managed_by_us(live) or names.RESOURCE_HASH_ANNOTATION in annotations


def is_of_resource(live: Manifest, cluster: Cluster) -> bool:
    """True when a Druid resource of the cluster's name controls the object."""
    owner = controller(live)
    return owner is not None and _is_druid(owner, cluster.name)


def controller(live: Manifest) -> Mapping[str, Any] | None:
    """Return the owner reference of the controller, if there is one."""
    references = live["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def describe_owner(live: Manifest) -> str:
    """Return a short description of the owner of the object."""
    owner = controller(live)
    if owner is not None:
        return f"it belongs to {owner['kind']} {owner['name']}"
    cluster = (live["metadata"].get("labels") or {}).get(names.CLUSTER_LABEL)
    by_others = "" if _is_written_by_us(live) else "it has no owner and was not created by us"
    label = f"the label {names.CLUSTER_LABEL}={cluster}" if cluster else ""
    if by_others:
        return f"{by_others}, although it has {label}" if label else by_others
    return f"it has {label}" if label else "it has no owner and no label of a cluster"


def is_claim_of(claim: Manifest, cluster: Cluster) -> bool:
    """True for a PVC of this cluster: of a volume claim template of a group, or created by us.

    The label alone is not sufficient: names of two clusters can collide (``a-b`` and ``c``, ``a`` and ``b-c``).
    """
    if controller(claim) is not None:
        return is_ours(claim, cluster) or _controller_is_group(claim, cluster)
    if is_ours(claim, cluster):
        return True
    labels = claim["metadata"].get("labels") or {}
    group = labels.get(names.GROUP_LABEL, "")
    ours = labels.get(names.CLUSTER_LABEL) == cluster.name and labels.get(names.APP_LABEL) == "druid"
    placed = re.fullmatch(rf".+-{re.escape(group)}-\d+", claim["metadata"]["name"])
    return ours and group.startswith(names.unique_name(cluster.name, "")) and placed is not None


def is_pod_of(live: Manifest, cluster: Cluster) -> bool:
    """True for a pod or ReplicaSet of one of this cluster's groups, including removed ones.

    It has all four labels and the group's name, and the group's workload controls it; or it has no controller, while
    the workload is being recreated.
    """
    labels = live["metadata"].get("labels") or {}
    group = labels.get(names.GROUP_LABEL, "")
    carries_ours = names.cluster_labels(cluster.name).items() <= labels.items() and names.COMPONENT_LABEL in labels
    placed = group.startswith(names.unique_name(cluster.name, "")) and live["metadata"]["name"].startswith(f"{group}-")
    owner = controller(live)
    return carries_ours and placed and (owner is None or _is_workload_of(owner, group))


def foreign_workloads(cluster: Cluster, workloads: Iterable[Manifest]) -> dict[str, Manifest]:
    """Return, by name, the workloads of other owners: objects with their name in the labels may belong to them."""
    return {live["metadata"]["name"]: live for live in workloads if not is_ours(live, cluster)}


def group_of(live: Manifest) -> str:
    """Return the name of the workload of the object's group per its labels, or an empty string."""
    group: str = (live["metadata"].get("labels") or {}).get(names.GROUP_LABEL, "")
    return group


def _is_workload_of(owner: Mapping[str, Any], group: str) -> bool:
    kind, name = owner["kind"], owner["name"]
    return (kind in WORKLOADS and name == group) or (kind == "ReplicaSet" and name.startswith(f"{group}-"))


def _controller_is_group(claim: Manifest, cluster: Cluster) -> bool:
    """True when the StatefulSet of the claim's group controls it (persistentVolumeClaimRetentionPolicy)."""
    labels = claim["metadata"].get("labels") or {}
    owner = controller(claim) or {}
    named = owner.get("name") == labels.get(names.GROUP_LABEL)
    return owner.get("kind") == "StatefulSet" and named and labels.get(names.CLUSTER_LABEL) == cluster.name


def _is_druid(owner: Mapping[str, Any], name: str) -> bool:
    return owner["kind"] == names.KIND and owner["apiVersion"].startswith(_GROUP) and owner["name"] == name


# The client that scales for every HorizontalPodAutoscaler, and its way to do so. A user who scales is another client.
_AUTOSCALER = ("kube-controller-manager", SCALE)
_PERSON = "kubectl"


def scaled_before_interruption(cluster: Cluster, observed: Observed) -> frozenset[str]:
    """Return the names of workloads that an external autoscaler scaled, and whose recreation was interrupted.

    managedFields do not contain the autoscaler then, and have to: the autoscaler may be deleted later.
    """
    scaled = {*cluster.autoscalers, *cluster.left_replicas}
    groups = (group for group in cluster.groups if group.unique_name in scaled)
    return frozenset(group.unique_name for group in groups if _is_interrupted(group, observed))


def is_scaled_by_autoscaler(workload: Manifest) -> bool:
    """True if an autoscaler has set the replicas of the workload."""
    return bool(intersection(owned_by(workload, *_AUTOSCALER), REPLICAS))


def may_be_autoscaled(workload: Manifest) -> bool:
    """True if an autoscaler may have set the replicas of the workload: KEDA scales by itself while it is paused."""
    entries = workload["metadata"].get("managedFields") or ()
    setters = (entry for entry in entries if "f:replicas" in (entry.get("fieldsV1") or {}).get("f:spec", {}))
    return any(
        each["manager"] == AUTOSCALED_MANAGER or (each.get("subresource") == SCALE and each["manager"] != _PERSON)
        for each in setters
    )


def scaled_by_autoscaler(manifest: Manifest) -> Manifest:
    """Return the workload with managedFields as if an autoscaler had set its replicas."""
    manager, subresource = _AUTOSCALER
    entry = {"manager": manager, "operation": UPDATE, "subresource": subresource, "fieldsV1": REPLICAS}
    return {**manifest, "metadata": {**manifest["metadata"], "managedFields": [entry]}}


def _is_interrupted(group: Group, observed: Observed) -> bool:
    workload = observed.workload(group)
    return is_not_handed_over(workload) if workload else bool(observed.orphans_of(group.unique_name))


def is_not_handed_over(workload: Manifest) -> bool:
    """True if the operator was stopped between the creation of the workload and the handover of its replicas."""
    return bool(intersection(owned_by(workload, AUTOSCALED_MANAGER), REPLICAS))
