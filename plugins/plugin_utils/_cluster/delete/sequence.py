# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a cluster away: by deleting its resource, or, made of variables, object by object.

Steps are yielded: the next is asked for when the one before has been carried out. Claims are looked at when the
workloads are gone, and again when no pod runs any more, since until then a controller may make new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.prune import PRUNED_KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import controller, is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed, observe, replica_sets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)

# How long pods may take to be told that they go, after their workload has gone: seconds are much.
QUIET_ATTEMPTS = 100
QUIET_PAUSE_SECONDS = 0.1


@dataclass
class DeletionSequence:
    """The way in which a cluster goes. `warnings` say what is kept, and are complete when the steps are used up.

    Steps that are only planned are not waited for.
    """

    api: KubernetesApi
    cluster: Cluster
    is_plan: bool = False
    warnings: list[str] = field(default_factory=list)

    def of_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield what is left to do for a resource that is being deleted; its finalizer is last."""
        deletes = finalizer.deletes_claims(resource.get("spec"))
        is_orphaned = self._is_orphaned(resource, observed)
        if not is_orphaned:
            yield from targets.orphans(self.cluster, observed)
        if not finalizer.is_set(resource):
            yield from () if deletes else self._disown_claims(resource, all_stay=True)
            return
        if deletes and not is_orphaned:
            yield from targets.workloads(self.cluster, observed)
            yield from self._claims_to_the_last()
        yield from self._disown_claims(resource, all_stay=is_orphaned or not deletes)
        yield finalizer.remove_finalizer(resource)

    def with_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield what goes with a resource: pods without a workload, itself, its workloads, and its claims."""
        is_orphaned = self._is_orphaned(resource, observed)
        deletes = finalizer.deletes_claims(resource.get("spec"))
        if not is_orphaned:
            yield from targets.orphans(self.cluster, observed)
        if is_orphaned or not deletes:
            yield from self._disown_claims(resource, all_stay=True)
        yield Step("delete", resource, live=resource)
        workloads = targets.workloads(self.cluster, observed)
        yield from (step for step in workloads if not is_orphaned or _is_collected(resource, step))
        if not is_orphaned and finalizer.is_set(resource) and deletes:
            yield from self._claims()

    def of_variables(self, delete_claims: bool) -> Iterator[Step]:
        """Yield the deletion of all that was made of variables: workloads first, then claims, then the rest."""
        observed = _observe(self.api, self.cluster)
        yield from targets.workloads(self.cluster, observed)
        yield from targets.orphans(self.cluster, observed)
        if delete_claims:
            yield from self._claims_to_the_last()
        else:
            self._warn_kept("no spec says what becomes of them")
        yield from (Step("delete", live, live=live) for live in self._others(observed) if not is_terminating(live))

    def remains(self, delete_claims: bool) -> Iterator[Manifest]:
        """Yield what of a cluster made of variables is there yet, be it that it is going."""
        observed = observe(self.api, self.cluster, ())
        yield from (live for live in observed.of_kind(*PRUNED_KINDS) if is_ours(live, self.cluster))
        if delete_claims:
            yield from targets.remaining_claims(self.cluster, self._claims_and_users())

    def _is_orphaned(self, resource: Manifest, observed: Observed) -> bool:
        """True when what the resource has made is to stay; or may be, which is said."""
        if finalizer.is_orphaning(resource):
            return True
        ownerless = finalizer.objects_without_owner(self.cluster, observed)
        if ownerless and finalizer.is_set(resource) and finalizer.deletes_claims(resource.get("spec")):
            more = f" and {len(ownerless) - 1} more" if len(ownerless) > 1 else ""
            self._warn_kept(
                f"{ownerless[0]}{more} has lost its owner, as after a deletion with --cascade=orphan",
                " If their data are to go, delete them by hand, or reconcile before the resource is deleted: "
                "that puts the owner back.",
            )
        return bool(ownerless)

    def _others(self, observed: Observed) -> Iterable[Manifest]:
        kinds = (kind for kind in PRUNED_KINDS if kind not in WORKLOADS)
        return (live for live in observed.of_kind(*kinds) if is_ours(live, self.cluster))

    def _claims_to_the_last(self) -> Iterator[Step]:
        """Yield the deletion of the claims, and then of those that were made until their controller had noticed."""
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
        """Return the release of claims that stay: of all, or of those that others may need."""
        return targets.disown_claims(self.cluster, self._claims_and_users(), resource, all_stay)

    def _claims_and_users(self) -> Observed:
        """Look at the claims as they are now, and if there are any at whoever might need them."""
        selector = f"{names.CLUSTER_LABEL}={self.cluster.name}"
        claims = self.api.list_objects(targets.CLAIM, self.cluster.namespace, selector)
        users = self._list("Pod", *WORKLOADS) if claims else Observed()
        return users.with_objects(claims)

    def _warn_kept(self, reason: str, remedy: str = "") -> None:
        kept = ", ".join(step.key.name for step in self._claims())
        if kept:
            self.warnings.append(f"These claims are kept, since {reason}: {kept}.{remedy}")

    def _list(self, *kinds: str) -> Observed:
        """Look at all objects of these kinds in the namespace: what others have made may carry no label of ours."""
        found = (live for kind in kinds for live in self.api.list_objects(kind, self.cluster.namespace))
        return Observed().with_objects(found)


def finalize(
    api: KubernetesApi, resource: Manifest, cluster: Cluster, is_plan: bool
) -> tuple[Iterator[Step], Observed, list[str]]:
    """Return what is left to do for a resource that is being deleted, what there is, and warnings.

    The warnings are complete when the steps are used up.
    """
    absence = DeletionSequence(api, cluster, is_plan)
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        return iter((finalizer.remove_finalizer(resource),) if finalizer.is_set(resource) else ()), Observed(), []
    observed = _observe(api, cluster)
    return absence.of_resource(resource, observed), observed, absence.warnings


def resource_removal(api: KubernetesApi, resource: Manifest) -> Plan:
    """Return what goes with the resource: itself, its workloads, and the claims that its finalizer deletes."""
    absence = DeletionSequence(api, Cluster.from_resource({**resource, "spec": {}}), is_plan=True)
    if len(absence.cluster.name) > names.MAX_LABEL_CHARACTERS:
        return Plan((Step("delete", resource, live=resource),))
    steps = tuple(absence.with_resource(resource, _observe(api, absence.cluster)))
    return Plan(steps, warnings=tuple(absence.warnings))


def variable_removal(api: KubernetesApi, cluster: Cluster, delete_claims: bool) -> Plan:
    """Return the deletion of all that was made of variables; claims only when their deletion was stated."""
    absence = DeletionSequence(api, cluster, is_plan=True)
    steps = tuple(absence.of_variables(delete_claims))
    return Plan(steps, warnings=tuple(absence.warnings))


def workloads_without_resource(api: KubernetesApi, cluster: Cluster) -> list[Manifest]:
    """Return the live workloads of the cluster that no resource owns; none where they cannot be listed."""
    selector = f"{names.CLUSTER_LABEL}={cluster.name}"
    try:
        found = [live for kind in WORKLOADS for live in api.list_objects(kind, cluster.namespace, selector)]
    except ApiError:
        # Whoever may delete no more than a resource, or names what can be no label, is not refused for a hint.
        return []
    return [live for live in found if is_ours(live, cluster) and not is_terminating(live)]


def _observe(api: KubernetesApi, cluster: Cluster) -> Observed:
    return observe(api, cluster, ()).with_objects(replica_sets(api, cluster))


def _is_collected(resource: Manifest, step: Step) -> bool:
    """True for what Kubernetes deletes with the resource, as its owner."""
    owner = controller(step.manifest)
    return owner is not None and not finalizer.is_orphaning(resource)
