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
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed
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
