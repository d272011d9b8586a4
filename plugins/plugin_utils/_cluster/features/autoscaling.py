# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Autoscalers that are not part of the resource, created manually or by KEDA: their decisions are respected.

Helm and KEDA delete and create an autoscaler to change it. A reconcile in between must not lower the number of pods,
because the StatefulSet controller may delete their PVCs. So the number stays until another client scales the workload.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    is_not_handed_over,
    is_ours,
    is_scaled_by_autoscaler,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    REPLICAS,
    owned_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import intersection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads

KIND = "HorizontalPodAutoscaler"


class Autoscaling(Feature):
    """Leaves the replicas of a workload to an autoscaler that is not part of the resource."""

    def specified(self, cluster: Cluster, observed: Observed, reads: ClusterReads) -> Cluster:
        """Return the cluster with its external autoscalers, which are read if there may be any."""
        undecided = undecided_workloads(cluster, observed)
        if not undecided:
            return cluster
        return with_external_autoscalers(cluster, observed, undecided, reads.list_objects(KIND))

    def warnings(self, inputs: Inputs) -> Iterator[str]:
        """Yield a warning for each group whose replicas have no effect, and for an autoscaler of another workload."""
        for group in inputs.cluster.groups:
            yield from (f"spec.nodes[{group.key}]: {text}" for text in autoscaling_warnings(group))


def autoscaling_warnings(group: Group) -> Iterator[str]:
    """Yield what has no effect, or is not right, in the specification of a group."""
    if group.node.get("replicas") is not None and group.autoscaled and group.foreign_autoscaler:
        yield (
            f"replicas has no effect: HorizontalPodAutoscaler {group.foreign_autoscaler}, which is not part of the "
            "resource, scales the group. Define it as hpAutoscaler, delete it, or remove replicas, which keeps the "
            "current number of pods"
        )
    if group.left_replicas is not None:
        yield (
            f"replicas has no effect: a HorizontalPodAutoscaler that does not exist any more set {group.left_replicas} "
            f"pods, and {group.replicas} are specified. The pods stay, in case the autoscaler is being replaced. "
            f"To stop {group.left_replicas - group.replicas} of them, run kubectl scale {group.kind.lower()} "
            f"{group.unique_name} --namespace {group.cluster.namespace} --replicas {group.replicas}"
        )
    target = (group.node.get("hpAutoscaler") or {}).get("scaleTargetRef") or {}
    if target and (target.get("kind"), target.get("name")) != (group.kind, group.unique_name):
        yield f"hpAutoscaler.scaleTargetRef does not name the group's workload, {group.kind} {group.unique_name}"


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
    objects = (live for live in autoscalers if not is_ours(live, cluster))
    targets = ((live["spec"]["scaleTargetRef"], live["metadata"]["name"]) for live in objects)
    names = {target["name"]: name for target, name in targets if (target["kind"], target["name"]) in undecided}
    remaining = (group for group in cluster.groups if group.unique_name not in names)
    left = {group.unique_name: count for group in remaining if (count := _left_replicas(group, observed, undecided))}
    return replace(cluster, autoscalers=names, left_replicas=left)


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
    is_left = is_scaled_by_autoscaler(workload) or is_not_handed_over(workload)
    return replicas if is_left and replicas > group.replicas else None


def _is_undecided(group: Group, observed: Observed) -> bool:
    if group.keeps_replicas or group.stopped:
        return False
    workload = observed.workload(group)
    if workload is None:
        return bool(observed.orphans_of(group.unique_name))
    return not intersection(owned_fields(workload), REPLICAS)
