# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which a cluster is deleted: with its resource, or object by object if it has none.

Each function yields steps, and reads before the next ones what those that were executed in the meantime have changed.
PVCs are listed after the deletion of the workloads, and again when no pod runs any more, since a controller may create
new ones until then. A reconcile does not wait for that: the next one continues the deletion.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer, retain, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    controller,
    group_of,
    is_ours,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.deletion import DeletionReads

# How long a task waits until the pods of a deleted workload are terminating. Seconds are plenty.
QUIET_ATTEMPTS = 100
QUIET_PAUSE_SECONDS = 0.1


@dataclass
class Deletion:
    """The deletion of a cluster. After the last step, `warnings` name what is retained, and `running` has the pods that
    have to end before the next reconcile continues. `problems` has a read that failed: then no step follows.

    A plan does not wait between steps. Unless it `waits`, a reconcile returns without its last steps while pods run: it
    would occupy a worker of the operator. `owned` are the uids of the PVCs that Kubernetes deletes with StatefulSets
    of the cluster: users can remove the labels of a PVC, and retaining one of them removes the owner of others, too.
    """

    cluster: Cluster
    reads: DeletionReads
    is_plan: bool = False
    waits: bool = False
    warnings: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)
    owned: frozenset[str] = frozenset()

    def of_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield the remaining steps for a terminating resource; the finalizer is last."""
        yield from self._one_by_one(self._of_resource(resource, observed))

    def with_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield the deletion of a resource: pods without a workload, itself, its workloads, and its PVCs."""
        yield from self._one_by_one(self._with_resource(resource, observed))

    def of_variables(self, delete_claims: bool) -> Iterator[Step]:
        """Yield the deletion of a cluster without a resource: workloads first, then PVCs, then the rest."""
        yield from self._one_by_one(self._of_variables(delete_claims))

    def _one_by_one(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps. What was read before one that is carried out is read again after it.

        If that fails, the steps before it are still reported.
        """
        if self.is_plan:
            yield from steps
            return
        try:
            for step in steps:
                yield step
                self.reads.forget()
        except KubernetesError as error:
            self.problems.append(Finding(reasons.APPLY_FAILED, str(error)))

    def _of_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        self._note_owned_claims(observed)
        deletes = finalizer.deletes_claims(resource.get("spec"))
        is_orphaned = self._is_orphaned(resource, observed)
        if not is_orphaned:
            yield from targets.orphans(self.cluster, observed)
        if not finalizer.is_set(resource):
            if not deletes:
                yield from self._retain_claims(resource, observed, all_stay=True)
            return
        yield from self._retain_claims(resource, observed, all_stay=is_orphaned or not deletes)
        if deletes and not is_orphaned:
            yield from finalizer.record_deletion(resource)
            workloads = targets.workloads(self.cluster, observed)
            yield from workloads
            is_complete = yield from self._claims_to_the_last(are_running=bool(workloads))
            if not is_complete:
                return
            # Others may have begun to use one.
            yield from retain.released([resource], self._kept_claims(all_stay=False))
        elif not self.is_plan:
            # Others may have made the resource the owner of one.
            self.reads.forget()
            yield from retain.released([resource], self._kept_claims(all_stay=True))
        yield finalizer.remove_finalizer(resource)

    def _with_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        self._note_owned_claims(observed)
        is_orphaned = self._is_orphaned(resource, observed)
        deletes = finalizer.deletes_claims(resource.get("spec"))
        if not is_orphaned:
            yield from targets.orphans(self.cluster, observed)
        yield from self._retain_claims(resource, observed, all_stay=is_orphaned or not deletes)
        yield finalizer.DeleteResource(live=resource)
        workloads = targets.workloads(self.cluster, observed)
        yield from (step for step in workloads if not is_orphaned or _is_collected(resource, step.live))
        if not is_orphaned and deletes:
            yield from self._claims() if finalizer.is_set(resource) else self._claims_of_workloads(observed)

    def _of_variables(self, delete_claims: bool) -> Iterator[Step]:
        self.reads.forget()
        observed = self.reads.with_all_claims(self.reads.labelled())
        self._note_owned_claims(observed)
        yield from self._retain_claims(None, observed, all_stay=not delete_claims)
        workloads = targets.workloads(self.cluster, observed)
        yield from workloads
        yield from targets.orphans(self.cluster, observed)
        if delete_claims:
            yield from self._claims_to_the_last(are_running=bool(workloads))
        else:
            self._warn_kept("spec is not set, or sets disablePVCDeletionFinalizer")
        yield from (Delete(live=live) for live in self._others(observed) if not is_terminating(live))

    def _note_owned_claims(self, observed: Observed) -> None:
        self.owned |= targets.owned_claims(self.cluster, observed)

    def _is_orphaned(self, resource: Manifest, observed: Observed) -> bool:
        """True when the dependents of the resource must stay, or may have to: then with a warning."""
        if finalizer.is_orphaning(resource):
            return True
        would_delete = finalizer.is_set(resource) and finalizer.deletes_claims(resource.get("spec"))
        without_owner = finalizer.objects_without_owner(self.cluster, observed)
        if without_owner and would_delete:
            more = f" and {len(without_owner) - 1} more" if len(without_owner) > 1 else ""
            self._warn_kept(
                f"{without_owner[0]}{more} has no owner, as after a deletion with --cascade=orphan",
                " To delete their data, delete them manually, or reconcile before the deletion of the resource, which "
                "restores the owner.",
            )
        if without_owner or not would_delete or not finalizer.has_lost_its_objects(resource, observed):
            return bool(without_owner)
        self._warn_kept(
            "the resource owns no object any more, as when they are deleted after a deletion with --cascade=orphan",
            " To delete their data, delete them manually.",
        )
        return True

    def _others(self, observed: Observed) -> Iterable[Manifest]:
        kinds = (kind for kind in targets.PRUNED_KINDS if kind not in WORKLOADS)
        return (live for live in observed.of_kind(*kinds) if is_ours(live, self.cluster))

    def _claims_to_the_last(self, *, are_running: bool) -> Generator[Step, None, bool]:
        """Yield the deletion of the PVCs, and then of those that a controller created in the meantime.

        False if a controller may still create some. `are_running`: the pods ran a moment ago.
        """
        yield from self._claims()
        if self.is_plan:
            return True
        if are_running and not self.waits:
            return False
        is_quiet = self._is_quiet()
        if is_quiet:
            self.reads.forget()
            yield from self._claims()
        return is_quiet

    def _is_quiet(self) -> bool:
        """Return whether no pod runs any more."""
        for _attempt in range(QUIET_ATTEMPTS if self.waits else 1):
            self.reads.forget()
            pods = self.reads.pods()
            if not targets.running_pods(self.cluster, pods):
                return True
            users = self.reads.users()
            self.running[:] = targets.running_pods(self.cluster, users)
            if not self.running:
                return True
            if self.waits:
                self.reads.pause(QUIET_PAUSE_SECONDS)
        return False

    def _claims(self) -> Iterator[Step]:
        yield from self._deleted_claims()

    def _deleted_claims(self) -> tuple[Delete, ...]:
        users = self.reads.claims(self.owned)
        steps, kept = targets.claims(self.cluster, users, self.owned)
        self.warnings += [text for text in kept if text not in self.warnings]
        return steps

    def _kept_claims(self, all_stay: bool) -> list[Manifest]:
        """Return the retained PVCs: all, or those that others may need."""
        return targets.kept_claims(self.cluster, self.reads.claims(self.owned), all_stay, self.owned)

    def _retain_claims(self, resource: Manifest | None, observed: Observed, all_stay: bool) -> Iterator[Step]:
        """Yield the steps that prevent the deletion of retained PVCs with their StatefulSets, or with the resource."""
        sets = self._deleted_stateful_sets(resource, observed)
        owners = sets if resource is None or not all_stay else [*sets, resource]
        if not any(map(retain.deletes_pvcs, sets)) and not retain.owned_by(observed.of_kind(CLAIM), owners):
            return
        claims = [*self.reads.claims(self.owned).of_kind(CLAIM)] if all_stay else self._kept_claims(all_stay)
        affected = [live for live in owners if all_stay or _has_claims(live, claims)]
        yield from retain.released(affected, claims, reread=lambda: self._kept_claims(all_stay))

    def _deleted_stateful_sets(self, resource: Manifest | None, observed: Observed) -> list[Manifest]:
        """Return the StatefulSets that are deleted with the resource: those without an owner may stay.

        But all of them with disablePVCDeletionFinalizer, which keeps the PVCs also if a StatefulSet is deleted later.
        """
        found = (live for live in observed.of_kind("StatefulSet") if is_ours(live, self.cluster))
        if resource is None or not finalizer.deletes_claims(resource.get("spec")):
            return list(found)
        return [live for live in found if _is_collected(resource, live)]

    def _claims_of_workloads(self, observed: Observed) -> Iterable[Delete]:
        """Return the deletion of the PVCs that Kubernetes deletes with their StatefulSets."""
        sets = (live for live in observed.of_kind("StatefulSet") if is_ours(live, self.cluster))
        return targets.collected_claims(observed, [*sets])

    def _warn_kept(self, reason: str, remedy: str = "") -> None:
        steps = self._deleted_claims()
        kept = ", ".join(step.key.name for step in steps)
        if kept:
            self.warnings.append(f"These PVCs are retained, since {reason}: {kept}.{remedy}")


def _is_collected(resource: Manifest, live: Manifest) -> bool:
    """True for an object that Kubernetes deletes with the resource."""
    owner = controller(live)
    return owner is not None and not finalizer.is_orphaning(resource)


def _has_claims(stateful_set: Manifest, claims: Iterable[Manifest]) -> bool:
    return any(group_of(live) == stateful_set["metadata"]["name"] for live in claims) or bool(
        retain.owned_by(claims, [stateful_set])
    )
