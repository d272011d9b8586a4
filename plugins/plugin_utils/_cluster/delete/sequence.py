# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that delete a cluster: the next one is requested after the execution of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import finalizer, targets
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.order import Deletion
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.reads import DeletionReads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import read_cluster
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


def deletion_of(api: KubernetesApi, cluster: Cluster, *, is_plan: bool = False, waits: bool = False) -> Deletion:
    """Return the deletion of a cluster, which reads between the steps."""
    return Deletion(cluster, DeletionReads(api, cluster), is_plan, waits)


def finalize(deletion: Deletion, resource: Manifest) -> tuple[Iterator[Step], Observed]:
    """Return the remaining steps for a terminating resource, and the live objects."""
    cluster, reads = deletion.cluster, deletion.reads
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        return iter((finalizer.remove_finalizer(resource),) if finalizer.is_set(resource) else ()), Observed()
    observed = reads.labelled()
    return deletion.of_resource(resource, reads.with_all_claims(observed)), observed


def planned_finalization(api: KubernetesApi, cluster: Cluster, resource: Manifest) -> tuple[Step, ...]:
    """Return the steps for a terminating resource, as far as they are known before the first one is carried out."""
    steps, _observed = finalize(deletion_of(api, cluster, is_plan=True), resource)
    return tuple(steps)


def release_before_removal(api: KubernetesApi, resource: Manifest) -> Iterator[Step]:
    """Yield the steps before the deletion of the resource, which may be deleted at once; reads the live objects."""
    deletion = deletion_of(api, Cluster.from_resource({**resource, "spec": {}}))
    if len(deletion.cluster.name) > names.MAX_LABEL_CHARACTERS:
        return
    steps = deletion.with_resource(resource, _everything(deletion.reads))
    yield from takewhile(lambda step: step.key.kind != names.KIND, steps)


def resource_removal(api: KubernetesApi, resource: Manifest) -> Plan:
    """Return the deletion of a resource: itself, its workloads, and the PVCs that its finalizer deletes."""
    deletion = deletion_of(api, Cluster.from_resource({**resource, "spec": {}}), is_plan=True)
    if len(deletion.cluster.name) > names.MAX_LABEL_CHARACTERS:
        return Plan((Delete(live=resource),))
    steps = tuple(deletion.with_resource(resource, _everything(deletion.reads)))
    return Plan(steps, warnings=tuple(deletion.warnings))


def variable_removal(api: KubernetesApi, cluster: Cluster, delete_claims: bool) -> Plan:
    """Return the deletion of a cluster without a resource; PVCs only if the spec is set, and does not retain them."""
    deletion = deletion_of(api, cluster, is_plan=True)
    steps = tuple(deletion.of_variables(delete_claims))
    return Plan(steps, warnings=tuple(deletion.warnings))


def workloads_without_resource(api: KubernetesApi, cluster: Cluster) -> list[Manifest]:
    """Return the live workloads of the cluster that no resource owns; none where they cannot be listed."""
    selector = f"{names.CLUSTER_LABEL}={cluster.name}"
    try:
        found = [live for kind in WORKLOADS for live in api.list_objects(kind, cluster.namespace, selector)]
    except ApiError:
        # This is only a hint: a missing permission or an invalid label value must not fail the deletion.
        return []
    return [live for live in found if is_ours(live, cluster) and not is_terminating(live)]


def remaining(deletion: Deletion, delete_claims: bool) -> Iterator[Manifest]:
    """Yield the remaining objects of a cluster without a resource, including terminating ones."""
    cluster = deletion.cluster
    deletion.reads.forget()
    observed = read_cluster(deletion.reads, cluster)
    yield from (live for live in observed.of_kind(*targets.PRUNED_KINDS) if is_ours(live, cluster))
    if delete_claims:
        yield from targets.remaining_claims(cluster, deletion.reads.claims(deletion.owned), deletion.owned)


def _everything(reads: DeletionReads) -> Observed:
    return reads.with_all_claims(reads.labelled())
