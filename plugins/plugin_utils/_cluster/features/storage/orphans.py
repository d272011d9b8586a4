# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orphaned PVCs (deleteOrphanPvc): who uses them, their marks, their deletion after a grace period, and the status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    CLAIM,
    Mark,
    claim_names,
    deletion_time,
    exists_since,
    is_older,
    mark_of,
    marking,
    mounted_claims,
    place_of,
    unmarking,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import is_current
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    changed_objects,
    desired_objects,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import stored_replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    group_of,
    is_claim_of,
    may_be_autoscaled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import replicas_before_stop
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import RETAIN, retains_scaled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import (
    Changes,
    Notice,
    Noticed,
    UpdateClaim,
    patch_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    first_ordinal,
    ordinal_of,
    replicas,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import is_managed_by_us
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import pause_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult


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
        uses = (*self._mounts(name), *self._templates(name), *self._claims(name, orphan))
        own = [live for live in self.stateful_sets if live["metadata"]["name"] == orphan.workload]
        missing = orphan.replicas is not None and not own
        return next(iter(uses), f"StatefulSet {orphan.workload} does not exist" if missing else None)

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
        specs: Iterator[Mapping[str, Any]] = (autoscaler["spec"] for autoscaler in self.autoscalers)
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

    def carry_out(self, context: Context) -> StepResult[Step]:
        """Delete the PVC; StillUsed if it is used again, or may be."""
        usage = Users(*(tuple(context.api.list_objects(each, self.namespace)) for each in KINDS)).usage(
            self.key.name, self.orphan
        )
        if usage is not None:
            raise StillUsed(f"{self.key} is not deleted: {usage}.")
        self._require_current(context)
        metadata = self.live["metadata"]
        context.api.delete(*self.key_in_namespace, metadata["uid"], resource_version=metadata["resourceVersion"])
        return StepResult(self)

    def _require_current(self, context: Context) -> None:
        """StillUsed if the resource was changed, paused or deleted: the groups may need the PVC again."""
        if self.resource is None:
            return
        kind, name = self.resource["kind"], self.resource["metadata"]["name"]
        if not is_current(self.resource, context.api.get(kind, self.namespace, name)):
            raise StillUsed(f"{self.key} is not deleted: {kind} {name} was modified concurrently.")


OrphanStep = MarkOrphan | DeleteOrphan
_LOSING = (reasons.ORPHANED_PVC_MARKED, reasons.ORPHANED_PVC_DELETED)


def orphaned_claims(inputs: Inputs) -> tuple[OrphanStep, ...]:
    """Return a step for each PVC that is marked, unmarked or deleted.

    As long as one would be marked or deleted, everything in the namespace that may use it is read, kind by kind.
    """
    listed: dict[str, tuple[Manifest, ...]] = {}
    steps = tuple(_steps(inputs, listed))
    for kind in KINDS:
        if not any(step.notice.reason in _LOSING for step in steps):
            break
        listed[kind] = inputs.reads.list_objects(kind)
        steps = tuple(_steps(inputs, listed))
    return steps


def _steps(inputs: Inputs, listed: Mapping[str, tuple[Manifest, ...]]) -> Iterator[OrphanStep]:
    cluster = inputs.cluster
    if pause_finding(cluster.annotations, cluster.spec) is not None:
        return
    users, since = _users(inputs, listed), exists_since(inputs)
    # Most clusters have no orphan.
    is_settled = cache(lambda: _is_settled(inputs))
    for claim in pod_claims(inputs):
        usage = _usage(claim, users, since, inputs)
        if usage is not None:
            yield from _unmarked(claim, usage, inputs)
        elif is_settled():
            yield from _next_step(claim, inputs)


def _is_settled(inputs: Inputs) -> bool:
    """Return whether each group has all its pods: as many as specified, or as admission stores instead."""
    changed = changed_objects(inputs.cluster, inputs.desired, inputs.observed, inputs.admitted)
    updates = [step for step in changed if _sets_replicas(step)]
    present = {step.group or "": (step.live or {})["spec"].get("replicas") for step in updates}
    states = group_states(inputs.cluster, inputs.observed, stored=present)
    if not all(state.is_complete for state in states):
        return False
    verdicts = [inputs.reads.dry_run(step) for step in updates]
    specified = {step.group or "": step.manifest["spec"]["replicas"] for step in updates}
    return present == {**specified, **stored_replicas(verdicts)}


def _sets_replicas(step: Step) -> bool:
    """True for an update of a workload whose number of replicas is specified."""
    if step.key.kind not in WORKLOADS or step.live is None or step.recreates:
        return False
    return step.manifest["spec"].get("replicas") is not None


def _users(inputs: Inputs, listed: Mapping[str, tuple[Manifest, ...]]) -> Users:
    """Return what may use a PVC: of the whole namespace, if it has been listed."""
    return Users(*(tuple(listed.get(kind) or inputs.observed.of_kind(kind)) for kind in KINDS))


def _usage(claim: PodClaim, users: Users, since: str | None, inputs: Inputs) -> str | None:
    """Return why a PVC is not orphaned, or is not deleted; None if it is orphaned.

    `since`: when the cluster was created.
    """
    if not inputs.cluster.deletes_orphans:
        return "deleteOrphanPvc is false"
    if inputs.cluster.stopped:
        return "the cluster is stopped"
    if is_older(claim.live, since):
        return f"it is older than {inputs.resource['kind']} {inputs.cluster.name}"
    group = claim.group
    return (_group_usage(group) if group is not None else None) or users.usage(claim.name, claim.orphan)


def _group_usage(group: Group) -> str | None:
    if group.stopped:
        return f"group {group.key} is stopped"
    if group.is_deployment:
        return f"group {group.key} is a Deployment"
    return f"whenScaled of group {group.key} is {RETAIN}" if retains_scaled(group) else None


def _unmarked(claim: PodClaim, usage: str, inputs: Inputs) -> Iterator[OrphanStep]:
    """Yield the step that removes the mark from a PVC that is not orphaned; if that is switched off, only our mark."""
    mark = mark_of(claim.live)
    if mark.is_marked and (mark.since is not None or inputs.cluster.deletes_orphans):
        yield _mark(claim, unmarking(claim.live), reasons.ORPHANED_PVC_UNMARKED, f"remove the mark: {usage}")


def _next_step(claim: PodClaim, inputs: Inputs) -> Iterator[OrphanStep]:
    """Yield the mark or the deletion of an orphaned PVC, if it is time."""
    mark, seconds = mark_of(claim.live), inputs.cluster.orphan_grace_seconds
    if mark.is_kept:
        return
    if mark.since is None:
        text = f"mark as orphaned: {_cause(claim)}; deleted after {seconds} s"
        yield _mark(claim, marking(inputs.now), reasons.ORPHANED_PVC_MARKED, text)
    elif deletion_time(mark.since, seconds) <= inputs.now:
        text = f"orphaned: {_cause(claim)}; marked since {timestamp(mark.since)}"
        notice = Notice(reasons.ORPHANED_PVC_DELETED, text)
        resource = inputs.resource if inputs.cluster.uid is not None else None
        yield DeleteOrphan(group=claim.key, live=claim.live, notice=notice, orphan=claim.orphan, resource=resource)


def _cause(claim: PodClaim) -> str:
    if claim.group is None:
        return f"the group of StatefulSet {claim.workload} was removed"
    return f"group {claim.group.key} has fewer pods"


def _mark(claim: PodClaim, changes: Changes, reason: str, text: str) -> MarkOrphan:
    patch, after = patch_of(claim.live, changes)
    return MarkOrphan(group=claim.key, live=claim.live, after=after, patch=patch, notice=Notice(reason, text))


def orphaned_pvcs(cluster: Cluster, observed: Observed, is_paused: bool) -> list[dict[str, Any]]:
    """Return the PVCs with a mark, or with the trace of one, that no pod of the cluster mounts, by name."""
    mounted = mounted_claims(observed)
    unused = (live for live in observed.of_kind(CLAIM) if live["metadata"]["name"] not in mounted)
    marks = {live["metadata"]["name"]: mark_of(live) for live in unused if not is_terminating(live)}
    is_active = cluster.deletes_orphans and not cluster.stopped and not is_paused
    return [dict(_entry(name, mark, cluster, is_active)) for name, mark in sorted(marks.items()) if any(mark)]


def _entry(name: str, mark: Mark, cluster: Cluster, is_active: bool) -> Iterator[tuple[str, Any]]:
    yield "name", name
    if mark.is_kept:
        yield "message", f"It stays: the label {names.TO_BE_DELETED_LABEL}=yes was removed, or it is never orphaned."
    elif not is_active:
        yield "message", "It is not deleted while deleteOrphanPvc is false, or the cluster is stopped or paused."
    elif mark.since is not None:
        yield "deletedAfter", timestamp(deletion_time(mark.since, cluster.orphan_grace_seconds))


def next_deletion(document: Mapping[str, Any], now: datetime) -> float | None:
    """Return the seconds until the next PVC in a status may be deleted; None if none of them is waiting."""
    times = (each["deletedAfter"] for each in document.get("orphanedPvcs") or () if each.get("deletedAfter"))
    seconds = ((datetime.fromisoformat(text) - now).total_seconds() for text in times)
    return min((each for each in seconds if each > 0), default=None)
