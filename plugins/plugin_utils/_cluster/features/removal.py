# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects of the cluster that are no longer desired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import (
    CLAIM,
    KEEPING,
    mark_of,
    place_of,
    unmarking,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import retain, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import group_of, is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.pod_references import subdomains
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import retains_explicitly
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import role_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import (
    Notice,
    UpdateClaim,
    updated_claim,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan

REPLICA_SET, SET = "ReplicaSet", "StatefulSet"


class Removal(Feature):
    """Deletes what is not desired any more, but not all groups at once, and warns if others need what is deleted."""

    def prepared(self, inputs: Inputs) -> Inputs:
        """Return the inputs with the ReplicaSets that a removed group leaves without an owner."""
        return inputs.with_objects(replica_sets(inputs))

    def needs_all_claims(self, inputs: Inputs) -> bool:
        """Return whether a StatefulSet is removed, whose PVCs are retained or deleted."""
        removed = removed_objects(inputs.cluster, inputs.desired, inputs.observed)
        return any(step.deletes and step.key.kind == SET for step in removed)

    def judge(self, draft: DraftPlan) -> tuple[Finding, ...]:
        """Return a finding if the spec has no groups, and objects of groups would be deleted, or their PVCs marked.

        A templating error empties `nodes` without any sign in the resource itself.
        """
        cluster = draft.inputs.cluster
        removed = [str(step.key) for step in draft.steps if step.is_removal]
        annotation = names.REMOVE_ALL_GROUPS_ANNOTATION
        if cluster.groups or not removed or cluster.annotations.get(annotation) == "true":
            return ()
        remedy = "Specify the groups again. To delete everything, use state: absent."
        if cluster.uid is not None:
            remedy = (
                "Specify the groups again. To stop all pods, also set spec.stopped: true; to remove Druid, delete the "
                f'resource; to delete all groups, but not the resource, set its annotation {annotation} to "true".'
            )
        message = f"spec.nodes: there is no group, so that these objects would be deleted: {join_limited(removed)}. "
        return (Finding(reasons.ALL_GROUPS_REMOVED, f"{message}Nothing is changed. {remedy}"),)

    def removals(self, inputs: Inputs) -> tuple[Step, ...]:
        """Return the deletions, and what they need."""
        return removed_objects(inputs.cluster, inputs.desired, inputs.with_all_claims)

    def after_gate(self, plan: Plan, inputs: Inputs) -> Plan:
        """Return the plan with a warning for each role that it removes."""
        return plan.with_warnings(role_warnings(inputs.cluster, (*plan.steps, *plan.later)))


def removed_objects(cluster: Cluster, desired: Desired, observed: Observed) -> tuple[Step, ...]:
    """Return a step for each of our objects, with our labels, that is not desired any more.

    A Service stays while pods of a group that stays have their names in DNS from it.
    """
    kept = {key_of(manifest) for _group, manifest in desired_objects(desired)}
    found = (live for kind in targets.PRUNED_KINDS for live in observed.of_kind(kind) if key_of(live) not in kept)
    used = subdomains(cluster, observed)
    unused = (live for live in found if live["kind"] != "Service" or live["metadata"]["name"] not in used)
    obsolete = (live for live in unused if _is_prunable(live, cluster))
    return tuple(
        step
        for live in (*obsolete, *targets.unadopted_orphans(cluster, observed))
        for step in _removal(live, cluster, observed)
    )


def _removal(live: Manifest, cluster: Cluster, observed: Observed) -> Iterator[Step]:
    """Yield the deletion of an object; for a StatefulSet, its PVCs are retained before or deleted after it.

    They are deleted only with a group that was removed: one that becomes a Deployment was not.
    """
    group, claims = _group_of(live, cluster), list(observed.of_kind(CLAIM))
    is_set = live["kind"] == "StatefulSet"
    deletes = is_set and group is None and retain.deletes_pvcs(live) and not cluster.keeps_pvcs
    if is_set and not deletes:
        yield from retain.released([live], claims, group)
        yield from retain_claims(live, group, claims)
    yield Delete(group=group, live=live)
    if deletes:
        yield from targets.collected_claims(observed, [live])


def replica_sets(inputs: Inputs) -> tuple[Manifest, ...]:
    """Return the ReplicaSets of the cluster, if there may be some without owner.

    That is when a group is removed, or pods run without their Deployment.
    """
    cluster, live = inputs.cluster, inputs.observed
    is_pruned = any(step.removes_group for step in removed_objects(cluster, inputs.desired, live))
    may_exist = is_pruned or targets.runs_without_deployment(cluster, live)
    return inputs.reads.list_objects(REPLICA_SET, f"{names.CLUSTER_LABEL}={cluster.name}") if may_exist else ()


def _group_of(live: Manifest, cluster: Cluster) -> str | None:
    """Return the key of the group that the object belonged to, if that group still exists."""
    unique_name = (live["metadata"].get("labels") or {}).get(names.GROUP_LABEL, live["metadata"]["name"])
    return next((group.key for group in cluster.groups if group.unique_name == unique_name), None)


def _is_prunable(live: Manifest, cluster: Cluster) -> bool:
    labels = live["metadata"].get("labels") or {}
    carries_ours = names.cluster_labels(cluster.name).items() <= labels.items()
    return carries_ours and is_ours(live, cluster) and not is_terminating(live)


def retain_claims(stateful_set: Manifest, group: str | None, claims: Iterable[Manifest]) -> Iterator[UpdateClaim]:
    """Yield the step that keeps a PVC, for each PVC of a StatefulSet that is deleted, if its policy was Retain.

    The policy is deleted with the StatefulSet, so the PVCs have to say it: also while deleteOrphanPvc is false, which
    may change later, and if the group becomes a Deployment, because it may be removed later. `group` is None if the
    group was removed from the spec. A PVC that was orphaned before stays so; a mark that is not trusted, such as that
    of the Go operator, does not show that.
    """
    if not retains_explicitly(stateful_set):
        return
    workload = stateful_set["metadata"]["name"]
    for live in claims:
        mark = mark_of(live)
        is_orphaned = mark.since is not None
        if _is_of(live, workload) and not (is_terminating(live) or is_orphaned or mark.is_kept):
            text = "is not orphaned: persistentVolumeClaimRetentionPolicy of its group is Retain"
            yield updated_claim(live, {**unmarking(live), **KEEPING}, Notice(reasons.PVC_UPDATED, text), group)


def _is_of(claim: Manifest, workload: str) -> bool:
    """True for a PVC that may be orphaned with this workload: by its label and its name."""
    place = place_of(claim["metadata"]["name"])
    return group_of(claim) == workload and place is not None and place[0].endswith(f"-{workload}")
