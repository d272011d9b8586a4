# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documented ways to delete PVCs, and which PVCs a user has asked to delete by one of them.

A scale-down of a group with `whenScaled: Delete` that is not stopped; the removal of a group with `whenDeleted: Delete`
or the deletion of the resource, both without `disablePVCDeletionFinalizer`; the deletion of a StatefulSet with
`whenDeleted: Delete` that was left by a deletion with --cascade=orphan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.tests.simulator.specification import (
    Cluster,
    Group,
    group_of_claim,
    workload_name,
)

_DELETE = "Delete"


@dataclass
class DocumentedDeletions:
    """What the user asked for since the cluster converged the last time.

    `deleting` are the groups whose PVCs are deleted with them, by a spec since then. `left` are those of them whose
    workload was left when the resource was deleted.
    """

    rules: list[Callable[[str, int], bool]] = field(default_factory=list)
    deleting: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    # The smallest number of pods that an autoscaler of another owner may choose, by group.
    foreign: dict[str, int] = field(default_factory=dict)

    def asked_for(self, claim: str) -> bool:
        """True if the user has asked to delete the PVC."""
        key, ordinal = group_of_claim(claim)
        return any(rule(key, ordinal) for rule in self.rules)

    def specify(self, cluster: Cluster) -> None:
        """Take note of what a new spec asks for."""
        self._specify(cluster, {key: _specified(group) for key, group in cluster.groups.items()})

    def _specify(self, cluster: Cluster, specified: Mapping[str, int]) -> None:
        removed = set() if cluster.keeps_pvcs else self.deleting - cluster.groups.keys()
        self.deleting |= {key for key, group in cluster.groups.items() if group.when_deleted == _DELETE}
        fewest = {key: self._fewest_pods(cluster, key, specified[key]) for key in cluster.groups}
        self.rules.append(lambda key, ordinal: key in removed or ordinal >= fewest.get(key, ordinal + 1))

    def _fewest_pods(self, cluster: Cluster, key: str, specified: int) -> int:
        group = cluster.groups[key]
        if cluster.is_stopped(key) or group.when_scaled != _DELETE or group.kind != "StatefulSet":
            return 1000
        if group.autoscaler is not None:
            return group.autoscaler[0]
        return min(self.foreign.get(key, specified), specified)

    def delete(self, cluster: Cluster, propagation: str) -> None:
        """Take note of the deletion of the resource."""
        self.left |= self.deleting if propagation == "Orphan" and not cluster.keeps_pvcs else set()
        self.deleting.clear()
        deletes = not cluster.keeps_pvcs and propagation != "Orphan"
        self.rules.append(lambda _key, _ordinal: deletes)

    def prune(self, workloads: Iterable[str]) -> None:
        """Take note that a user deletes workloads that were left: Kubernetes deletes the PVCs of some with them."""
        pruned = {*workloads}
        left = {key for key in self.left if workload_name(key) in pruned}
        self.rules.append(lambda key, _ordinal: key in left)

    def forget(self, cluster: Cluster | None) -> None:
        """Forget what is done: the cluster has converged to this spec."""
        self.rules.clear()
        self.deleting.clear()
        if cluster is not None:
            self.left.clear()
            # An autoscaler of another owner has scaled its group; when it is deleted, the group stays as it is.
            self._specify(
                cluster, {key: self.foreign.get(key, _specified(group)) for key, group in cluster.groups.items()}
            )


def _specified(group: Group) -> int:
    return 1000 if group.replicas is None else group.replicas
