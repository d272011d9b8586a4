# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The PVCs that were created for pods of this cluster's StatefulSets, who uses them, and the deletion of orphaned ones.

A PVC that is not certainly one of these is never orphaned: stand-alone ones, those with another owner, and names
without an ordinal. Pods of all owners in the namespace count as users: the labels of a PVC do not name them. All of it
is read again immediately before each deletion, since the plan was made earlier: the deletion of many PVCs takes long,
and a user may stop it with each field of the resource.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claim_updates import Noticed, UpdateClaim
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    CLAIM,
    claim_names,
    place_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.outdated_resource import is_current
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import group_of, is_claim_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import replicas_before_stop
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.scaled_workloads import may_be_autoscaled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    first_ordinal,
    ordinal_of,
    replicas,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import is_managed_by_us
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Result


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


# The kinds that must be listed to know it.
KINDS = ("Pod", "StatefulSet", "Deployment", "HorizontalPodAutoscaler")
_NO_ORDINAL = 10**9


class Orphan(NamedTuple):
    """What a PVC belonged to: the name of a StatefulSet, and the pods that the spec requests; None: it is removed."""

    workload: str
    replicas: int | None


class Users(NamedTuple):
    """The objects of a namespace that decide whether a PVC is used."""

    pods: tuple[Manifest, ...] = ()
    stateful_sets: tuple[Manifest, ...] = ()
    deployments: tuple[Manifest, ...] = ()
    autoscalers: tuple[Manifest, ...] = ()

    def usage(self, name: str, orphan: Orphan) -> str | None:
        """Return why a PVC is used or may be used again, as a clause; None if it is orphaned.

        `orphan`: the StatefulSet that it belonged to. While that is specified, it must exist, to know what it needs.
        """
        found = (*self._mounts(name), *self._templates(name), *self._claims(name, orphan))
        own = [live for live in self.stateful_sets if live["metadata"]["name"] == orphan.workload]
        missing = orphan.replicas is not None and not own
        return next(iter(found), f"StatefulSet {orphan.workload} does not exist" if missing else None)

    def _mounts(self, name: str) -> Iterator[str]:
        for pod in self.pods:
            if name in claim_names(pod):
                yield f"pod {pod['metadata']['name']} mounts it"

    def _templates(self, name: str) -> Iterator[str]:
        for workload in (*self.stateful_sets, *self.deployments):
            if name in claim_names({**workload["spec"]["template"], "metadata": workload["metadata"]}):
                yield f"{workload['kind']} {workload['metadata']['name']} mounts it"

    def _claims(self, name: str, orphan: Orphan) -> Iterator[str]:
        """Yield each StatefulSet that finds the PVC by its name, and needs it."""
        for live in self.stateful_sets:
            own, place = live["metadata"]["name"], place_of(name)
            is_named = place is not None and place[0] in {f"{template}-{own}" for template in template_names(live)}
            if own == orphan.workload and orphan.replicas is not None:
                if not is_named:
                    yield f"StatefulSet {own} has no template for it"
                elif place is not None and place[1] < self._needed(live, orphan.replicas):
                    yield f"StatefulSet {own} needs it"
            elif is_named or own == orphan.workload:
                yield f"it may belong to StatefulSet {own}"

    def _needed(self, stateful_set: Manifest, specified: int) -> int:
        """Return the ordinal from which no pod can need a PVC again.

        There is none without replicas, and none while an autoscaler is deleted, maybe to be created again: KEDA deletes
        it during a pause.
        """
        maximum = self._maximum(stateful_set)
        needed = max(specified, replicas(stateful_set), replicas_before_stop(stateful_set), maximum)
        is_unbounded = not needed or (not maximum and may_be_autoscaled(stateful_set))
        return _NO_ORDINAL if is_unbounded else first_ordinal(stateful_set) + needed

    def _maximum(self, stateful_set: Manifest) -> int:
        key = (stateful_set["kind"], stateful_set["metadata"]["name"])
        specs: Iterator[Mapping[str, Any]] = (each["spec"] for each in self.autoscalers)
        targets = ((spec["scaleTargetRef"], int(spec["maxReplicas"])) for spec in specs)
        return max((maximum for target, maximum in targets if (target["kind"], target["name"]) == key), default=0)


class StillUsed(KubernetesError):
    """The PVC is used again, or may be."""


@dataclass(frozen=True, kw_only=True)
class MarkOrphan(UpdateClaim):
    """The mark of an orphaned PVC is added or removed."""

    is_of_orphan: ClassVar[bool] = True

    @property
    def is_destructive(self) -> bool:
        return self.notice.reason == reasons.ORPHANED_PVC_MARKED

    @property
    def verdicts(self) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class DeleteOrphan(Noticed, Delete):
    """The deletion of an orphaned PVC in the version that was read.

    `resource`: the resource whose spec does not need it; None for a cluster without one.
    """

    live: Manifest
    orphan: Orphan
    resource: Manifest | None = None

    is_of_orphan: ClassVar[bool] = True

    def carry_out(self, context: Context) -> Result[Step]:
        """Delete the PVC; StillUsed if it is used again, or may be."""
        usage = Users(*(tuple(context.api.list_objects(each, self.namespace)) for each in KINDS)).usage(
            self.key.name, self.orphan
        )
        if usage is not None:
            raise StillUsed(f"{self.key} is not deleted: {usage}.")
        self._require_current(context)
        metadata = self.live["metadata"]
        context.api.delete(*self.key_in_namespace, metadata["uid"], resource_version=metadata["resourceVersion"])
        return Result(self)

    def _require_current(self, context: Context) -> None:
        """StillUsed if the resource was changed, paused or deleted: the groups may need the PVC again."""
        if self.resource is None:
            return
        kind, name = self.resource["kind"], self.resource["metadata"]["name"]
        if not is_current(self.resource, context.api.get(kind, self.namespace, name)):
            raise StillUsed(f"{self.key} is not deleted: {kind} {name} was modified concurrently.")
