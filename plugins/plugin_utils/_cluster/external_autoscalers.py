# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Autoscalers that are not part of the resource, created manually or by KEDA: their decisions are respected.

Helm and KEDA delete and create an autoscaler to change it. A reconcile in between must not lower the number of pods,
because the StatefulSet controller may delete their PVCs. So the number stays until another client scales the workload.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    AUTOSCALED_MANAGER,
    REPLICAS,
    SCALE,
    UPDATE,
    owned_by,
    owned_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import intersection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

KIND = "HorizontalPodAutoscaler"
# The client that scales for every HorizontalPodAutoscaler, and its way to do so. A user who scales is another client.
_AUTOSCALER = ("kube-controller-manager", SCALE)
_PERSON = "kubectl"


def undecided_workloads(cluster: Cluster, observed: Observed) -> frozenset[ObjectKey]:
    """Return the workloads that an external autoscaler may scale: we do not own their field replicas.

    Of a workload whose recreation was interrupted, only the pods are left, and the autoscaler has set their number.
    managedFields do not identify an autoscaler, only the controller manager. So the autoscalers must be listed.
    """
    undecided = (group for group in cluster.groups if _is_undecided(group, observed))
    return frozenset(ObjectKey(group.kind, group.unique_name) for group in undecided)


def with_external_autoscalers(
    cluster: Cluster, observed: Observed, undecided: Collection[ObjectKey], autoscalers: Iterable[Manifest]
) -> Cluster:
    """Return the cluster with those of the autoscalers that scale an undecided workload, and are not its own.

    If there is none, but one has set more pods than specified, this number is in the cluster instead.
    """
    found = (live for live in autoscalers if not is_ours(live, cluster))
    targets = ((live["spec"]["scaleTargetRef"], live["metadata"]["name"]) for live in found)
    names = {target["name"]: name for target, name in targets if (target["kind"], target["name"]) in undecided}
    remaining = (group for group in cluster.groups if group.unique_name not in names)
    left = {group.unique_name: count for group in remaining if (count := _left_replicas(group, observed, undecided))}
    return replace(cluster, autoscalers=names, left_replicas=left)


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
    found = (each for each in entries if "f:replicas" in (each.get("fieldsV1") or {}).get("f:spec", {}))
    return any(
        each["manager"] == AUTOSCALED_MANAGER or (each.get("subresource") == SCALE and each["manager"] != _PERSON)
        for each in found
    )


def scaled_by_autoscaler(manifest: Manifest) -> Manifest:
    """Return the workload with managedFields as if an autoscaler had set its replicas."""
    manager, subresource = _AUTOSCALER
    entry = {"manager": manager, "operation": UPDATE, "subresource": subresource, "fieldsV1": REPLICAS}
    return {**manifest, "metadata": {**manifest["metadata"], "managedFields": [entry]}}


def _left_replicas(group: Group, observed: Observed, undecided: Collection[ObjectKey]) -> int | None:
    """Return the number of pods that a deleted autoscaler has set, if it is higher than specified."""
    key = ObjectKey(group.kind, group.unique_name)
    # An autoscaler of the resource is still there in the reconcile that removes it.
    if key not in undecided or ObjectKey(KIND, group.unique_name) in observed.objects:
        return None
    workload = observed.objects.get(key)
    if workload is None:
        return None
    replicas: int = workload["spec"].get("replicas", 1)
    is_left = is_scaled_by_autoscaler(workload) or _is_not_handed_over(workload)
    return replicas if is_left and replicas > group.replicas else None


def _is_interrupted(group: Group, observed: Observed) -> bool:
    workload = observed.workload(group)
    return _is_not_handed_over(workload) if workload else bool(observed.orphans_of(group.unique_name))


def _is_not_handed_over(workload: Manifest) -> bool:
    """True if the operator was stopped between the creation of the workload and the handover of its replicas."""
    return bool(intersection(owned_by(workload, AUTOSCALED_MANAGER), REPLICAS))


def _is_undecided(group: Group, observed: Observed) -> bool:
    if group.keeps_replicas or group.stopped:
        return False
    workload = observed.workload(group)
    if workload is None:
        return bool(observed.orphans_of(group.unique_name))
    return not intersection(owned_fields(workload), REPLICAS)
