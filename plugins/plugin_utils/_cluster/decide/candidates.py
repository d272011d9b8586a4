# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects differ from what is wanted, and which are wanted no longer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ansible_collections.druidops.druid.plugins.plugin_utils._additions import with_additions
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.belonging import (
    describe_owner,
    is_of_resource,
    is_ours,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import removal
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.immutable import (
    immutable_changes,
    not_adoptable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._compare import compare
from ansible_collections.druidops.druid.plugins.plugin_utils._field_set import intersection
from ansible_collections.druidops.druid.plugins.plugin_utils._finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._going import is_going
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._ownership import REPLICAS, owned

PRUNED_KINDS = (
    "StatefulSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "Ingress",
    "PodDisruptionBudget",
    "Service",
    "ConfigMap",
)


def wanted(desired: Desired) -> Iterator[tuple[str | None, Manifest]]:
    """Yield each wanted object with the key of its group (None: shared by all)."""
    yield from ((None, manifest) for manifest in desired.common)
    yield from ((group, manifest) for group, manifests in desired.groups.items() for manifest in manifests)


def unseen(desired: Desired, observed: Observed) -> list[ObjectKey]:
    """Return the wanted objects that the LISTs do not show."""
    keys = (key_of(manifest) for _group, manifest in wanted(desired))
    return [key for key in keys if key not in observed.objects]


def collisions(cluster: Cluster, desired: Desired, observed: Observed) -> tuple[Finding, ...]:
    """Return a finding for each wanted name that an object has which is not this cluster's.

    One for all of them when it is the cluster's own name that a resource has.
    """
    found = ((group, observed.objects.get(key_of(manifest))) for group, manifest in wanted(desired))
    taken = [(group, live) for group, live in found if live is not None and not is_ours(live, cluster)]
    if any(is_of_resource(live, cluster) for _group, live in taken):
        return (Finding(reasons.NAME_COLLISION, _kept_by_resource(cluster)),)
    return tuple(Finding(reasons.NAME_COLLISION, _collision(live), group) for group, live in taken)


def _kept_by_resource(cluster: Cluster) -> str:
    return (
        f"The objects of that name belong to Druid {cluster.name} in namespace {cluster.namespace}: that cluster was "
        "not made of variables, and nothing of it is changed. To reconcile it by its resource, leave out spec and "
        "by_variable; for another cluster, choose another name; if the resource was deleted, wait until they are gone."
    )


def _collision(live: Manifest) -> str:
    return (
        f"{key_of(live)} exists and is not this cluster's: {describe_owner(live)}. It is left alone. "
        "Rename the group, or remove or rename the object."
    )


def candidates(cluster: Cluster, desired: Desired, observed: Observed) -> tuple[Step, ...]:
    """Return a step for each wanted object that is missing or differs, in the order of the rollout."""
    first_replicas = {
        group.unique_name: max(group.first_replicas, len(observed.orphans_of(group.unique_name)))
        for group in cluster.groups
        if group.autoscaled
    }
    verbatim = {key_of(manifest): manifest for manifest in desired.verbatim}
    steps = (
        _candidate(group, manifest, verbatim.get(key_of(manifest)), observed.objects, first_replicas)
        for group, manifest in wanted(desired)
    )
    return tuple(step for step in steps if step is not None)


def _candidate(
    group: str | None,
    manifest: Manifest,
    verbatim: Manifest | None,
    objects: Mapping[ObjectKey, Manifest],
    first_replicas: Mapping[str, int],
) -> Step | None:
    live = objects.get(key_of(manifest))
    if live is None:
        return Step("create", manifest, group, initial=_initial(verbatim or manifest, first_replicas) or verbatim)
    if manifest["kind"] == "PersistentVolumeClaim":
        manifest = _frozen(manifest, live)
    elif is_going(live) or immutable_changes(live, manifest):
        return Step("recreate", manifest, group, live, initial=_recreated(manifest, live, first_replicas))
    if _is_resuming(live, manifest, first_replicas):
        manifest = _initial(manifest, first_replicas) or manifest
    comparison = compare(live, manifest)
    if comparison.is_settled:
        return None
    return Step("update", manifest, group, live, comparison.predicted, comparison.managed_fields)


def _frozen(claim: Manifest, live: Manifest) -> Manifest:
    """Return the claim with the specification that it has: data are not touched by a mere apply."""
    return {**claim, "spec": {name: live["spec"].get(name, value) for name, value in claim["spec"].items()}}


def _is_resuming(live: Manifest, manifest: Manifest, first_replicas: Mapping[str, int]) -> bool:
    """True for a workload that we have stopped: an autoscaler leaves alone what has no replicas."""
    stopped_by_us = live["spec"].get("replicas") == 0 and intersection(owned(live), REPLICAS) if "spec" in live else {}
    return manifest["metadata"]["name"] in first_replicas and bool(stopped_by_us)


def _initial(manifest: Manifest, first_replicas: Mapping[str, int]) -> Manifest | None:
    """Return the manifest with replicas for a workload that an autoscaler will govern: without, it starts with 1."""
    if not _is_governed(manifest, first_replicas):
        return None
    return _with_replicas(manifest, first_replicas[manifest["metadata"]["name"]])


def _recreated(manifest: Manifest, live: Manifest, first_replicas: Mapping[str, int]) -> Manifest | None:
    """Return the manifest with what others have decided of the object: its additions, an autoscaler's replicas."""
    recreated = with_additions(live, manifest)
    if _is_governed(manifest, first_replicas):
        recreated = _with_replicas(recreated, live["spec"].get("replicas", 1))
    return None if recreated is manifest else recreated


def _is_governed(manifest: Manifest, first_replicas: Mapping[str, int]) -> bool:
    return manifest["kind"] in WORKLOADS and manifest["metadata"]["name"] in first_replicas


def _with_replicas(manifest: Manifest, replicas: int) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], "replicas": replicas}}


def not_adoptable_pods(cluster: Cluster, steps: Iterable[Step], observed: Observed) -> tuple[Finding, ...]:
    """Return a finding for each workload that is not recreated, since it would lose pods that run."""
    groups = {group.key: group for group in cluster.groups}
    recreated = [step for step in steps if step.operation == "recreate" and step.key.kind in WORKLOADS and step.group]
    found = (not_adoptable(step.group, step.manifest, observed.pods_of(groups[step.group or ""])) for step in recreated)
    return tuple(finding for finding in found if finding is not None)


def prune(cluster: Cluster, desired: Desired, observed: Observed) -> tuple[Step, ...]:
    """Return a step for each object that carries our labels, is ours, and is wanted no longer."""
    kept = {key_of(manifest) for _group, manifest in wanted(desired)}
    found = (live for kind in PRUNED_KINDS for live in observed.of_kind(kind) if key_of(live) not in kept)
    unwanted = (live for live in found if _is_prunable(live, cluster))
    return tuple(
        Step("delete", live, _group_of(live, cluster), live)
        for live in (*unwanted, *removal.not_adopted(cluster, observed))
    )


def may_have_left_replica_sets(cluster: Cluster, desired: Desired, observed: Observed) -> bool:
    """True when a group goes, or pods run whose Deployment is gone: a ReplicaSet may be left that nobody controls.

    Otherwise there is none, and no need to look.
    """
    is_pruned = any(step.removes_group for step in prune(cluster, desired, observed))
    return is_pruned or removal.runs_without_deployment(cluster, observed)


def _group_of(live: Manifest, cluster: Cluster) -> str | None:
    """Return the key of the group that the object belonged to, if that group still exists."""
    unique_name = (live["metadata"].get("labels") or {}).get(names.GROUP_LABEL, live["metadata"]["name"])
    return next((group.key for group in cluster.groups if group.unique_name == unique_name), None)


def _is_prunable(live: Manifest, cluster: Cluster) -> bool:
    labels = live["metadata"].get("labels") or {}
    carries_ours = names.cluster_labels(cluster.name).items() <= labels.items()
    return carries_ours and is_ours(live, cluster) and not is_going(live)
