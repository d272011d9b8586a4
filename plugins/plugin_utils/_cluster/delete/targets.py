# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects to delete with a cluster: its workloads, its pods without a workload, and its PVCs.

A PVC is deleted only if it certainly belongs to the cluster: by its labels or, since users can remove these, because a
StatefulSet of the cluster is its only owner. Kubernetes would delete it with the StatefulSet anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    controller,
    describe_owner,
    foreign_workloads,
    group_of,
    is_claim_of,
    is_ours,
    is_pod_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)

# Kinds of the objects that belong to a cluster, besides PVCs and what controllers create.
PRUNED_KINDS = (
    "StatefulSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "Ingress",
    "PodDisruptionBudget",
    "Service",
    "ConfigMap",
)
# Kinds that a workload orphans when it is recreated.
ORPHANED_KINDS = ("ReplicaSet", "Pod")
# Only pods of a ReplicaSet have it.
_TEMPLATE_HASH = "pod-template-hash"


def workloads(cluster: Cluster, observed: Observed) -> tuple[Delete, ...]:
    """Return the deletion of this cluster's workloads, except terminating ones."""
    return _deletions(live for live in observed.of_kind(*WORKLOADS) if is_ours(live, cluster))


def orphans(cluster: Cluster, observed: Observed) -> tuple[Delete, ...]:
    """Return the deletion of pods and ReplicaSets without a controller, left by an interrupted recreation."""
    return _deletions(_orphans(cluster, observed))


def unadopted_orphans(cluster: Cluster, observed: Observed) -> tuple[Manifest, ...]:
    """Return the orphans that no workload will adopt: their group is removed, or has another kind now."""
    kinds = _kinds(cluster)
    return tuple(live for live in _orphans(cluster, observed) if kinds.get(group_of(live)) != _adopter(live))


def runs_without_deployment(cluster: Cluster, observed: Observed) -> bool:
    """True when pods of a ReplicaSet run whose group neither has nor gets a Deployment."""
    kinds = _kinds(cluster)
    deployments = {live["metadata"]["name"] for live in observed.of_kind("Deployment")}
    pods = (live for live in observed.of_kind("Pod") if not is_terminating(live) and is_pod_of(live, cluster))
    groups = {group_of(live) for live in pods if _adopter(live) == "Deployment"}
    return any(kinds.get(group) != "Deployment" for group in groups - deployments)


def owned_claims(cluster: Cluster, observed: Observed) -> frozenset[str]:
    """Return the uids of the PVCs whose only owners are StatefulSets of the cluster."""
    sets = (live for live in observed.of_kind("StatefulSet") if is_ours(live, cluster))
    owners = {live["metadata"]["uid"] for live in sets}
    found = (live for live in observed.of_kind(CLAIM) if _is_owned_only_by(live, owners))
    return frozenset(live["metadata"]["uid"] for live in found)


def claims(
    cluster: Cluster, observed: Observed, owned: Collection[str] = ()
) -> tuple[tuple[Delete, ...], tuple[str, ...]]:
    """Return the deletion of this cluster's PVCs, and a warning for each that others may need.

    `observed` has all PVCs, workloads and pods of the namespace. `owned` are the uids of PVCs that StatefulSets of the
    cluster owned before its deletion.
    """
    found = [live for live in _claims_of(cluster, observed, owned) if not is_terminating(live)]
    kept = _kept(cluster, observed, found)
    return (
        _deletions(live for live in found if live["metadata"]["name"] not in kept),
        tuple(f"PVC {name} is retained: {reason}" for name, reason in kept.items()),
    )


def collected_claims(observed: Observed, stateful_sets: Collection[Manifest]) -> tuple[Delete, ...]:
    """Return the deletion of the PVCs that Kubernetes deletes with these StatefulSets, their only owners."""
    uids = {live["metadata"]["uid"] for live in stateful_sets}
    return _deletions(live for live in observed.of_kind(CLAIM) if _is_owned_only_by(live, uids))


def kept_claims(cluster: Cluster, observed: Observed, all_stay: bool, owned: Collection[str] = ()) -> list[Manifest]:
    """Return the PVCs that are retained when the cluster is deleted: all, or else those that others may need."""
    found = [live for live in _claims_of(cluster, observed, owned) if not is_terminating(live)]
    kept = {} if all_stay else _kept(cluster, observed, found)
    return [live for live in found if all_stay or live["metadata"]["name"] in kept]


def remaining_claims(cluster: Cluster, observed: Observed, owned: Collection[str] = ()) -> list[Manifest]:
    """Return the PVCs that are deleted with the cluster, including terminating ones."""
    found = _claims_of(cluster, observed, owned)
    kept = _kept(cluster, observed, found)
    return [live for live in found if live["metadata"]["name"] not in kept]


def running_pods(cluster: Cluster, observed: Observed) -> list[str]:
    """Return the pods that are not terminating: their controller may not have observed the deletion of the StatefulSet.

    Until then it creates PVCs. The controller of a Deployment does not.
    """
    foreign = foreign_workloads(cluster, observed.of_kind(*WORKLOADS))
    pods = (live for live in observed.of_kind("Pod") if not is_terminating(live) and _adopter(live) == "StatefulSet")
    return [live["metadata"]["name"] for live in pods if is_pod_of(live, cluster) and group_of(live) not in foreign]


def _claims_of(cluster: Cluster, observed: Observed, owned: Collection[str]) -> list[Manifest]:
    found = observed.of_kind(CLAIM)
    return [live for live in found if is_claim_of(live, cluster) or live["metadata"].get("uid") in owned]


def _is_owned_only_by(live: Manifest, uids: Collection[str]) -> bool:
    """True if the object has owners, and all of them are among these."""
    owners = {each["uid"] for each in live["metadata"].get("ownerReferences") or ()}
    return bool(owners) and owners <= set(uids)


def _kept(cluster: Cluster, observed: Observed, claims: Iterable[Manifest]) -> dict[str, str]:
    """Return, by name, why a PVC is retained."""
    foreign = foreign_workloads(cluster, observed.of_kind(*WORKLOADS))
    users = _users(cluster, observed, foreign)
    reasons = {live["metadata"]["name"]: _why_kept(live, foreign, users) for live in claims}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _why_kept(claim: Manifest, foreign: Mapping[str, Manifest], users: Mapping[str, str]) -> str | None:
    name, group = claim["metadata"]["name"], group_of(claim)
    if group in foreign:
        whose = describe_owner(foreign[group])
        return f"{foreign[group]['kind']} {group} does not belong to this cluster ({whose}), and may use the PVC."
    return f"pod {users[name]} mounts it and does not belong to this cluster." if name in users else None


def _users(cluster: Cluster, observed: Observed, foreign: Mapping[str, Manifest]) -> dict[str, str]:
    """Return, by PVC, the name of a pod of another owner that mounts it."""
    theirs = (pod for pod in observed.of_kind("Pod") if not is_pod_of(pod, cluster) or group_of(pod) in foreign)
    return {
        volume["persistentVolumeClaim"]["claimName"]: pod["metadata"]["name"]
        for pod in theirs
        for volume in pod["spec"].get("volumes") or ()
        if "persistentVolumeClaim" in volume
    }


def _orphans(cluster: Cluster, observed: Observed) -> Iterable[Manifest]:
    foreign = foreign_workloads(cluster, observed.of_kind(*WORKLOADS))
    alone = (
        live for live in observed.of_kind(*ORPHANED_KINDS) if controller(live) is None and not is_terminating(live)
    )
    return (live for live in alone if is_pod_of(live, cluster) and group_of(live) not in foreign)


def _kinds(cluster: Cluster) -> dict[str, str]:
    return {group.unique_name: group.kind for group in cluster.groups}


def _adopter(live: Manifest) -> str:
    """Return the kind of workload that the object was part of."""
    return "Deployment" if _TEMPLATE_HASH in (live["metadata"].get("labels") or {}) else "StatefulSet"


def _deletions(objects: Iterable[Manifest]) -> tuple[Delete, ...]:
    return tuple(Delete(live=live) for live in objects if not is_terminating(live))
