# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that delete a cluster: the next one is requested after the execution of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.prune import PRUNED_KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer, retain, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.order import (
    MAX_NEEDS_BETWEEN_STEPS,
    Deletion,
    Pause,
    ReadClaims,
    ReadPods,
    Steps,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import read_cluster, replica_sets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.gather import Need, decide_and_gather


@dataclass
class DeletionSequence:
    """The deletion of a cluster, which reads between the steps. `warnings` and `running` are those of `Deletion`."""

    api: KubernetesApi
    cluster: Cluster
    is_plan: bool = False
    waits: bool = False
    warnings: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)

    def of_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield the remaining steps for a terminating resource; the finalizer is last."""
        return self._steps(self._deletion.of_resource(resource, observed))

    def with_resource(self, resource: Manifest, observed: Observed) -> Iterator[Step]:
        """Yield the deletion of a resource: pods without a workload, itself, its workloads, and its PVCs."""
        return self._steps(self._deletion.with_resource(resource, observed))

    def of_variables(self, delete_claims: bool) -> Iterator[Step]:
        """Yield the deletion of a cluster without a resource: workloads first, then PVCs, then the rest."""
        yield from self._steps(self._deletion.of_variables(_observe(self.api, self.cluster), delete_claims))

    def remains(self, delete_claims: bool) -> Iterator[Manifest]:
        """Yield the remaining objects of a cluster without a resource, including terminating ones."""
        observed = read_cluster(self.api, self.cluster)
        yield from (live for live in observed.of_kind(*PRUNED_KINDS) if is_ours(live, self.cluster))
        if delete_claims:
            yield from targets.remaining_claims(self.cluster, self._claims_and_users(), self._deletion.owned)

    @cached_property
    def _deletion(self) -> Deletion:
        return Deletion(self.cluster, self.is_plan, self.waits, self.warnings, self.running)

    def _steps(self, deletion: Steps) -> Iterator[Step]:
        """Yield the steps, and meet each need in between."""
        # Nothing is sent after a step, only what a need has found.
        nothing: Any = None
        with suppress(StopIteration):
            while True:
                yield decide_and_gather(deletion.send, self._gather, nothing, MAX_NEEDS_BETWEEN_STEPS)[0]

    def _gather(self, _found: Observed, need: Need) -> Observed:
        if isinstance(need, Pause):
            self.api.sleep(need.seconds)
            return Observed()
        if isinstance(need, ReadPods):
            return self._list("Pod", selector=f"{names.CLUSTER_LABEL}={self.cluster.name}")
        return self._claims_and_users() if isinstance(need, ReadClaims) else self._list("Pod", *WORKLOADS)

    def _claims_and_users(self) -> Observed:
        claims = self._list(retain.CLAIM)
        has_claims = bool(targets.remaining_claims(self.cluster, claims, self._deletion.owned))
        return claims.with_objects(self._list("Pod", *WORKLOADS).objects.values()) if has_claims else claims

    def _list(self, *kinds: str, selector: str = "") -> Observed:
        found = (live for kind in kinds for live in self.api.list_objects(kind, self.cluster.namespace, selector))
        return Observed().with_objects(found)


def finalize(sequence: DeletionSequence, resource: Manifest) -> tuple[Iterator[Step], Observed]:
    """Return the remaining steps for a terminating resource, and the live objects."""
    api, cluster = sequence.api, sequence.cluster
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        return iter((finalizer.remove_finalizer(resource),) if finalizer.is_set(resource) else ()), Observed()
    observed = _read(api, cluster)
    return sequence.of_resource(resource, _with_all_claims(api, cluster, observed)), observed


def planned_finalization(api: KubernetesApi, cluster: Cluster, resource: Manifest) -> tuple[Step, ...]:
    """Return the steps for a terminating resource, as far as they are known before the first one is carried out."""
    steps, _observed = finalize(DeletionSequence(api, cluster, is_plan=True), resource)
    return tuple(steps)


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
        return Plan((Delete(live=resource),))
    steps = tuple(sequence.with_resource(resource, _observe(api, sequence.cluster)))
    return Plan(steps, warnings=tuple(sequence.warnings))


def variable_removal(api: KubernetesApi, cluster: Cluster, delete_claims: bool) -> Plan:
    """Return the deletion of a cluster without a resource; PVCs only if the spec is set, and does not retain them."""
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
    return _with_all_claims(api, cluster, _read(api, cluster))


def _read(api: KubernetesApi, cluster: Cluster) -> Observed:
    return read_cluster(api, cluster).with_objects(replica_sets(api, cluster))


def _with_all_claims(api: KubernetesApi, cluster: Cluster, observed: Observed) -> Observed:
    """Return the same with all PVCs of the namespace: a StatefulSet may own some that do not have our labels."""
    return observed.with_objects(api.list_objects(retain.CLAIM, cluster.namespace))
