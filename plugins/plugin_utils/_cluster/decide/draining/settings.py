# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which groups are drained, within which limits, and which pods the spec keeps at their revision. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draining.state import Limits
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import partition
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._values.duration import seconds_of

_WORKERS = ("middleManager", "indexer")
_STRATEGY = "middleManagerDrainStrategy"


def is_drained(group: Group) -> bool:
    """True if the workers of the group are drained before their pods are replaced or removed."""
    return _is_requested(group) and not group.is_deployment and not group.stopped


def limits(cluster: Cluster) -> Limits:
    """Return the limits; as in the Go operator, 0 is the default."""
    strategy, default = cluster.spec.get(_STRATEGY) or {}, Limits()
    return Limits(
        seconds_of(str(strategy.get("drainTimeout") or "")) or default.drain,
        seconds_of(str(strategy.get("podReadyTimeout") or "")) or default.pod_ready,
        strategy.get("maxUnavailable") or default.max_unavailable,
    )


def is_replaced_by_controller(group: Group) -> bool:
    """True unless the pods of the group are replaced only once they are deleted."""
    return bool(_update_strategy(group).get("type") != "OnDelete")


def requested_partition(group: Group) -> int:
    """Return how many pods a rollout leaves unchanged, as the spec requests."""
    return partition({"spec": {"updateStrategy": _update_strategy(group)}})


def kept_pods(group: Group, workload: Manifest) -> int:
    """Return how many pods a rollout leaves unchanged: the partition of a drain is temporary."""
    is_temporary = names.DRAIN_ANNOTATION in (workload["metadata"].get("annotations") or {})
    return min(partition(workload), requested_partition(group)) if is_temporary else partition(workload)


def drain_warnings(cluster: Cluster) -> Iterator[str]:
    """Yield a warning for each group of workers that is not drained, or not always, although the spec requests it."""
    for group in cluster.groups:
        if names.DRAIN_ANNOTATION in group.merged("workloadAnnotations"):
            yield f"workloadAnnotations[{names.DRAIN_ANNOTATION}] has no effect: drained workers are recorded there"
        if not _is_requested(group):
            continue
        field = f"{_STRATEGY} has no effect on group {group.key}"
        if group.is_deployment:
            yield f"{field}: Kubernetes decides which pods of a Deployment it replaces. Use the kind StatefulSet"
        elif not is_replaced_by_controller(group):
            yield f"{field} in a rollout: with the updateStrategy OnDelete, its pods are replaced when they are deleted"
        if group.autoscaled and not group.is_deployment:
            yield f"{field} when its autoscaler lowers its replicas: it does not wait for tasks"


def _is_requested(group: Group) -> bool:
    return group.cluster.spec.get(_STRATEGY) is not None and group.node_type in _WORKERS


def _update_strategy(group: Group) -> Manifest:
    return dict(group.first_present("updateStrategy") or {})
