# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orphaned PVCs (deleteOrphanPvc): marked first, deleted after a grace period, and listed in the status.

A PVC is orphaned if the group is removed, or if its ordinal is higher than any number of pods that the group has or may
have. What is in doubt stays: while a group is stopped or not ready, nothing is marked or deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claim_updates import Changes, Notice, patch_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    CLAIM,
    Mark,
    deletion_time,
    exists_since,
    is_older,
    mark_of,
    marking,
    mounted_claims,
    unmarking,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import changed_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.verdicts import stored_replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.pod_claims import (
    KINDS,
    DeleteOrphan,
    MarkOrphan,
    PodClaim,
    Users,
    pod_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import (
    RETAIN,
    retains_scaled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import RECREATE, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import pause_finding, timestamp

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
    if step.key.kind not in WORKLOADS or step.live is None or step.operation is RECREATE:
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
