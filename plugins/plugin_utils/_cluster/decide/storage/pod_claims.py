# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The PVCs that were created for the pods of this cluster's StatefulSets, by their labels and their names.

A PVC that is not certainly one of these is never orphaned: stand-alone ones, those with another owner, and names
without an ordinal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_sizes import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_users import Orphan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import place_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    group_of,
    is_claim_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import ordinal_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import is_managed_by_us
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating


class PodClaim(NamedTuple):
    """A PVC of a pod of a StatefulSet, and the group in the spec; None: the group was removed."""

    live: Manifest
    workload: str
    group: Group | None

    @property
    def name(self) -> str:
        return str(self.live["metadata"]["name"])

    @property
    def key(self) -> str | None:
        """The key of the group."""
        return None if self.group is None else self.group.key

    @property
    def orphan(self) -> Orphan:
        """What decides whether the PVC is orphaned, with the largest number of pods that the spec allows."""
        if self.group is None:
            return Orphan(self.workload, None)
        return Orphan(self.workload, max(self.group.replicas, self.group.left_replicas or 0, self.group.max_replicas))


def pod_claims(inputs: Inputs) -> Iterator[PodClaim]:
    """Yield the PVCs of pods of this cluster, except terminating ones."""
    groups = {group.unique_name: group for group in inputs.cluster.groups}
    desired = {key_of(manifest) for _group, manifest in desired_objects(inputs.desired)}
    for live in inputs.observed.of_kind(CLAIM):
        if not is_terminating(live) and key_of(live) not in desired and _is_of_pod(live, inputs.cluster):
            yield PodClaim(live, group_of(live), groups.get(group_of(live)))


def _is_of_pod(live: Manifest, cluster: Cluster) -> bool:
    labels, workload = live["metadata"].get("labels") or {}, group_of(live)
    carries_ours = names.cluster_labels(cluster.name).items() <= labels.items() and names.COMPONENT_LABEL in labels
    place = place_of(live["metadata"]["name"])
    is_named = place is not None and place[0].endswith(f"-{workload}") and is_claim_of(live, cluster)
    is_prefixed = workload.startswith(names.unique_name(cluster.name, ""))
    return (
        carries_ours and is_named and is_prefixed and not _is_standalone(live) and _has_no_other_owner(live, workload)
    )


def _is_standalone(live: Manifest) -> bool:
    """True for a PVC that the Go operator or we have created: the controller of StatefulSets creates the others."""
    return is_managed_by_us(live) or names.RESOURCE_HASH_ANNOTATION in (live["metadata"].get("annotations") or {})


def _has_no_other_owner(live: Manifest, workload: str) -> bool:
    """True if the PVC has no owner but its StatefulSet or a pod of it (persistentVolumeClaimRetentionPolicy)."""
    return all(
        (owner["kind"], owner["name"]) == ("StatefulSet", workload)
        or (owner["kind"] == "Pod" and ordinal_of({"metadata": owner}, workload) is not None)
        for owner in live["metadata"].get("ownerReferences") or ()
    )
