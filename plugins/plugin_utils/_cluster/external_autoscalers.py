# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Autoscalers that are not part of the resource, created by hand or by KEDA: their decisions are respected."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import REPLICAS, owned_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import intersection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

KIND = "HorizontalPodAutoscaler"


def undecided_workloads(cluster: Cluster, observed: Observed) -> frozenset[ObjectKey]:
    """Return the workloads that an external autoscaler may scale: we do not own their field replicas.

    managedFields do not identify an autoscaler, only the controller manager. So the autoscalers must be listed.
    """
    undecided = (group for group in cluster.groups if _is_undecided(group, observed))
    return frozenset(ObjectKey(group.kind, group.unique_name) for group in undecided)


def with_external_autoscalers(
    cluster: Cluster, undecided: Collection[ObjectKey], autoscalers: Iterable[Manifest]
) -> Cluster:
    """Return the cluster with those of the autoscalers that scale an undecided workload, and are not its own."""
    found = (live for live in autoscalers if not is_ours(live, cluster))
    targets = ((live["spec"]["scaleTargetRef"], live["metadata"]["name"]) for live in found)
    names = {target["name"]: name for target, name in targets if (target["kind"], target["name"]) in undecided}
    return replace(cluster, autoscalers=names)


def _is_undecided(group: Group, observed: Observed) -> bool:
    workload = observed.workload(group)
    if workload is None or group.keeps_replicas or group.stopped:
        return False
    return not intersection(owned_fields(workload), REPLICAS)
