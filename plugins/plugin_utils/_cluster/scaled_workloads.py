# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who holds the replicas of a workload: an autoscaler, as managedFields show it. Pure."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    AUTOSCALED_MANAGER,
    REPLICAS,
    SCALE,
    UPDATE,
    owned_by,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import intersection
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

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


def _is_interrupted(group: Group, observed: Observed) -> bool:
    workload = observed.workload(group)
    return is_not_handed_over(workload) if workload else bool(observed.orphans_of(group.unique_name))


def is_not_handed_over(workload: Manifest) -> bool:
    """True if the operator was stopped between the creation of the workload and the handover of its replicas."""
    return bool(intersection(owned_by(workload, AUTOSCALED_MANAGER), REPLICAS))
