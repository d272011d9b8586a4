# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that delete a cluster: with its resource, or object by object if it has none.

Steps are generated: the next one is requested after the execution of the one before. PVCs are listed after the deletion
of the workloads, and again when no pod runs any more, since a controller may create new ones until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.prune import PRUNED_KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer, retain, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    controller,
    group_of,
    is_ours,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import read_cluster, replica_sets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)

# How long to wait until the pods of a deleted workload are terminating. Seconds are plenty.
QUIET_ATTEMPTS = 100
QUIET_PAUSE_SECONDS = 0.1


@dataclass
class DeletionSequence:
    """The deletion of a cluster. `warnings` name what is retained; they are complete after the last step.

    A plan does not wait between steps.
    """

    api: KubernetesApi
    cluster: Cluster
    is_plan: bool = False
    warnings: list[str] = field(default_factory=list)

    def of_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield the remaining steps for a terminating resource; the finalizer is last."""
        deletes = finalizer.deletes_claims(resource.get("spec"))
        is_orphaned = self._is_orphaned(resource, observed)
        if not is_orphaned:
            yield from targets.orphans(self.cluster, observed)
        if not finalizer.is_set(resource):
            if not deletes:
                yield from self._retain_claims(resource, observed, all_stay=True)
                yield from self._disown_claims(resource, all_stay=True)
            return
        yield from self._retain_claims(resource, observed, all_stay=is_orphaned or not deletes)
        if deletes and not is_orphaned:
            yield from targets.workloads(self.cluster, observed)
            yield from self._claims_to_the_last()
        yield from self._disown_claims(resource, all_stay=is_orphaned or not deletes)
        yield finalizer.remove_finalizer(resource)

    def with_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield the deletion of a resource: pods without a workload, itself, its workloads, and its PVCs."""
        is_orphaned = self._is_orphaned(resource, observed)
        deletes = finalizer.deletes_claims(resource.get("spec"))
        if not is_orphaned:
            yield from targets.orphans(self.cluster, observed)
        yield from self._retain_claims(resource, observed, all_stay=is_orphaned or not deletes)
        if is_orphaned or not deletes:
            yield from self._disown_claims(resource, all_stay=True)
        yield Step("delete", resource, live=resource)
        workloads = targets.workloads(self.cluster, observed)
        yield from (step for step in workloads if not is_orphaned or _is_collected(resource, step.manifest))
        if not is_orphaned and deletes:
            yield from self._claims() if finalizer.is_set(resource) else self._claims_of_workloads(observed)

    def of_variables(self, delete_claims: bool) -> Iterator[Step]:
        """Yield the deletion of a cluster without a resource: workloads first, then PVCs, then the rest."""
        observed = _observe(self.api, self.cluster)
        yield from self._retain_claims(None, observed, all_stay=not delete_claims)
        yield from targets.workloads(self.cluster, observed)
        yield from targets.orphans(self.cluster, observed)
        if delete_claims:
            yield from self._claims_to_the_last()
        else:
            self._warn_kept("no spec says whether to delete them")
        yield from (Step("delete", live, live=live) for live in self._others(observed) if not is_terminating(live))

    def remains(self, delete_claims: bool) -> Iterator[Manifest]:
        """Yield the remaining objects of a cluster without a resource, including terminating ones."""
        observed = read_cluster(self.api, self.cluster)
        yield from (live for live in observed.of_kind(*PRUNED_KINDS) if is_ours(live, self.cluster))
        if delete_claims:
            yield from targets.remaining_claims(self.cluster, self._claims_and_users())

    def _is_orphaned(self, resource: Manifest, observed: Observed) -> bool:
        """True when the dependents of the resource must stay, or may have to: then with a warning."""
        if finalizer.is_orphaning(resource):
            return True
        ownerless = finalizer.objects_without_owner(self.cluster, observed)
        if ownerless and finalizer.is_set(resource) and finalizer.deletes_claims(resource.get("spec")):
            more = f" and {len(ownerless) - 1} more" if len(ownerless) > 1 else ""
            self._warn_kept(
                f"{ownerless[0]}{more} has no owner, as after a deletion with --cascade=orphan",
                " To delete their data, delete them by hand, or reconcile before the deletion of the resource, which "
                "restores the owner.",
            )
        return bool(ownerless)

    def _others(self, observed: Observed) -> Iterable[Manifest]:
        kinds = (kind for kind in PRUNED_KINDS if kind not in WORKLOADS)
        return (live for live in observed.of_kind(*kinds) if is_ours(live, self.cluster))

    def _claims_to_the_last(self) -> Iterator[Step]:
        """Yield the deletion of the PVCs, and then of those that a controller created in the meantime."""
        yield from self._claims()
        if not self.is_plan:
            self._wait_until_quiet()
            yield from self._claims()

    def _wait_until_quiet(self) -> None:
        for _attempt in range(QUIET_ATTEMPTS):
            if not targets.has_running_pods(self.cluster, self._list("Pod", *WORKLOADS)):
                return
            self.api.sleep(QUIET_PAUSE_SECONDS)

    def _claims(self) -> Iterator[Step]:
        steps, kept = targets.claims(self.cluster, self._claims_and_users())
        self.warnings += [text for text in kept if text not in self.warnings]
        yield from steps

    def _disown_claims(self, resource: Manifest, all_stay: bool) -> Iterable[Step]:
        """Return the steps that remove the owner of retained PVCs: of all, or of those that others may need."""
        return targets.disown_claims(self.cluster, self._claims_and_users(), [resource], all_stay)

    def _retain_claims(self, resource: Manifest | None, observed: Observed, all_stay: bool) -> Iterator[Step]:
        """Yield the steps that prevent the deletion of retained PVCs with their StatefulSets.

        The PVCs are read again when the StatefulSet controller no longer adds owner references to them.
        """
        sets = self._deleted_stateful_sets(resource, observed)
        if not any(map(retain.deletes_pvcs, sets)) and not retain.owned_by(observed.of_kind(retain.CLAIM), sets):
            return
        users = self._claims_and_users()
        staying = users.of_kind(retain.CLAIM) if all_stay else targets.kept_claims(self.cluster, users)
        claims = list(staying)
        affected = [live for live in sets if all_stay or _has_claims(live, claims)]
        yield from retain.retain(affected, claims)
        yield from targets.disown_claims(self.cluster, self._claims_and_users(), affected, all_stay)

    def _deleted_stateful_sets(self, resource: Manifest | None, observed: Observed) -> list[Manifest]:
        """Return the StatefulSets that are deleted with the resource: those without an owner may stay."""
        found = (live for live in observed.of_kind("StatefulSet") if is_ours(live, self.cluster))
        if resource is None:
            return list(found)
        return [live for live in found if _is_collected(resource, live)]

    def _claims_of_workloads(self, observed: Observed) -> Iterable[Step]:
        """Return the deletion of the PVCs that Kubernetes deletes with their StatefulSets."""
        sets = (live for live in observed.of_kind("StatefulSet") if is_ours(live, self.cluster))
        return targets.collected_claims(observed, [live for live in sets if retain.deletes_pvcs(live)])

    def _claims_and_users(self) -> Observed:
        """Read the live PVCs, and if there are any, the pods and workloads that may use them."""
        selector = f"{names.CLUSTER_LABEL}={self.cluster.name}"
        claims = self.api.list_objects(retain.CLAIM, self.cluster.namespace, selector)
        users = self._list("Pod", *WORKLOADS) if claims else Observed()
        return users.with_objects(claims)

    def _warn_kept(self, reason: str, remedy: str = "") -> None:
        kept = ", ".join(step.key.name for step in self._claims())
        if kept:
            self.warnings.append(f"These PVCs are retained, since {reason}: {kept}.{remedy}")

    def _list(self, *kinds: str) -> Observed:
        """Read all objects of these kinds in the namespace: objects of other owners may not have our labels."""
        found = (live for kind in kinds for live in self.api.list_objects(kind, self.cluster.namespace))
        return Observed().with_objects(found)


def finalize(
    api: KubernetesApi, resource: Manifest, cluster: Cluster, is_plan: bool
) -> tuple[Iterator[Step], Observed, list[str]]:
    """Return the remaining steps for a terminating resource, the live objects, and warnings.

    The warnings are complete after the last step.
    """
    sequence = DeletionSequence(api, cluster, is_plan)
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        return iter((finalizer.remove_finalizer(resource),) if finalizer.is_set(resource) else ()), Observed(), []
    observed = _observe(api, cluster)
    return sequence.of_resource(resource, observed), observed, sequence.warnings


def release_before_removal(api: KubernetesApi, resource: Manifest) -> Iterator[Step]:
    """Yield the steps before the deletion of the resource, which may be deleted at once; reads the live objects."""
    sequence = DeletionSequence(api, Cluster.from_resource({**resource, "spec": {}}))
    if len(sequence.cluster.name) > names.MAX_LABEL_CHARACTERS:
        return
    steps = sequence.with_resource(resource, _observe(api, sequence.cluster))
    yield from takewhile(lambda step: step.key.kind != names.KIND, steps)


def resource_removal(api: KubernetesApi, resource: Manifest) -> Plan:
    """Return the deletion of a resource: itself, its workloads, and the PVCs that its finalizer deletes."""
    sequence = DeletionSequence(api, Cluster.from_resource({**resource, "spec": {}}), is_plan=True)
    if len(sequence.cluster.name) > names.MAX_LABEL_CHARACTERS:
        return Plan((Step("delete", resource, live=resource),))
    steps = tuple(sequence.with_resource(resource, _observe(api, sequence.cluster)))
    return Plan(steps, warnings=tuple(sequence.warnings))


def variable_removal(api: KubernetesApi, cluster: Cluster, delete_claims: bool) -> Plan:
    """Return the deletion of a cluster without a resource; PVCs only if the spec says so."""
    sequence = DeletionSequence(api, cluster, is_plan=True)
    steps = tuple(sequence.of_variables(delete_claims))
    return Plan(steps, warnings=tuple(sequence.warnings))


def workloads_without_resource(api: KubernetesApi, cluster: Cluster) -> list[Manifest]:
    """Return the live workloads of the cluster that no resource owns; none where they cannot be listed."""
    selector = f"{names.CLUSTER_LABEL}={cluster.name}"
    try:
        found = [live for kind in WORKLOADS for live in api.list_objects(kind, cluster.namespace, selector)]
    except ApiError:
        # This is only a hint: a missing permission or an invalid label value must not fail the deletion.
        return []
    return [live for live in found if is_ours(live, cluster) and not is_terminating(live)]


def _observe(api: KubernetesApi, cluster: Cluster) -> Observed:
    return read_cluster(api, cluster).with_objects(replica_sets(api, cluster))


def _is_collected(resource: Manifest, live: Manifest) -> bool:
    """True for an object that Kubernetes deletes with the resource."""
    owner = controller(live)
    return owner is not None and not finalizer.is_orphaning(resource)


def _has_claims(stateful_set: Manifest, claims: Iterable[Manifest]) -> bool:
    return any(group_of(live) == stateful_set["metadata"]["name"] for live in claims) or bool(
        retain.owned_by(claims, [stateful_set])
    )
