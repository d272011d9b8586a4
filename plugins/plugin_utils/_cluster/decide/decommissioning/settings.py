# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which groups are decommissioned, and where a strategy has no effect. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

STRATEGY = "historicalDecommissionStrategy"
HISTORICAL = "historical"
SHRINK = "Shrink"


def is_decommissioned(group: Group) -> bool:
    """True if the pods of the group are decommissioned before their number decreases."""
    is_fixed = not (group.is_deployment or group.stopped or group.keeps_replicas)
    return group.node_type == HISTORICAL and is_fixed and group.decommission_strategy is not None


def strategy_warnings(cluster: Cluster) -> Iterator[str]:
    """Yield a warning for each group whose strategy, or whose annotation with the name of the record, has no effect."""
    for group in cluster.groups:
        if names.DECOMMISSION_ANNOTATION in group.merged("workloadAnnotations"):
            field = f"workloadAnnotations[{names.DECOMMISSION_ANNOTATION}]"
            yield f"spec.nodes[{group.key}]: {field} has no effect: decommissioned pods are recorded there"
        reason = _without_effect(group)
        if reason is not None:
            yield f"spec.nodes[{group.key}]: {STRATEGY} has no effect: {reason}"


def _without_effect(group: Group) -> str | None:
    if group.node.get(STRATEGY) is not None and group.node_type != HISTORICAL:
        return f"nodeType is {group.node_type}. Remove it"
    if group.decommission_strategy is None or group.node_type != HISTORICAL:
        return None
    if group.is_deployment:
        return "the pods of a Deployment stop in no order. Its pods are not decommissioned; use a StatefulSet"
    if group.autoscaled:
        return "an autoscaler sets the number of pods. They are not decommissioned"
    if group.keeps_replicas:
        return "replicas is not set. Pods that another client stops are not decommissioned"
    if group.cluster.uid is None:
        return "a cluster without a resource has no status to record the progress in. Its pods are not decommissioned"
    return None
