# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Autoscalers that are not part of the resource, created by hand or by KEDA: their decisions are respected."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import REPLICAS, owned_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import intersection

KIND = "HorizontalPodAutoscaler"


def with_foreign_autoscalers(api: KubernetesApi, cluster: Cluster, observed: Observed) -> Cluster:
    """Return the cluster with the external autoscalers of its groups.

    managedFields do not identify an autoscaler, only the controller manager. So autoscalers are listed (one LIST), but
    only if we do not own the field replicas.
    """
    undecided = {(group.kind, group.unique_name) for group in cluster.groups if _is_undecided(group, observed)}
    if not undecided:
        return cluster
    found = [live for live in api.list_objects(KIND, cluster.namespace) if not is_ours(live, cluster)]
    targets = ((live["spec"]["scaleTargetRef"], live["metadata"]["name"]) for live in found)
    autoscalers = {target["name"]: name for target, name in targets if (target["kind"], target["name"]) in undecided}
    return replace(cluster, autoscalers=autoscalers)


def _is_undecided(group: Group, observed: Observed) -> bool:
    workload = observed.workload(group)
    if workload is None or group.autoscaled or group.stopped:
        return False
    return not intersection(owned_fields(workload), REPLICAS)
