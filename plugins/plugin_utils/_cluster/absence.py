# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a cluster away: by deleting its resource, or, made of variables, object by object.

Steps are yielded: the next is asked for when the one before has been carried out. Claims are looked at when the
workloads are gone, since until then a controller may make new ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.belonging import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.candidates import PRUNED_KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.finalizer import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed, key_of, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import WORKLOADS, Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest


def finalize(api: KubernetesApi, resource: Manifest, cluster: Cluster) -> tuple[Iterator[Step], Observed]:
    """Return what is left to do for a resource that is being deleted, and what there is of its cluster."""
    if len(cluster.name) > names.MAX_LABEL_CHARACTERS:
        return iter((finalizer.let_go(resource),) if finalizer.is_set(resource) else ()), Observed()
    observed = observe(api, cluster, ())
    return _last_steps(api, resource, cluster, observed), observed


def _last_steps(api: KubernetesApi, resource: Manifest, cluster: Cluster, observed: Observed) -> Iterator[Step]:
    if not finalizer.is_set(resource):
        return
    if finalizer.deletes_claims(resource.get("spec")) and not finalizer.is_orphaned(resource, cluster, observed):
        yield from finalizer.workloads(cluster, observed)
        yield from _claims(api, cluster)[0]
    yield finalizer.let_go(resource)


def resource_removal(api: KubernetesApi, resource: Manifest) -> Plan:
    """Return what goes with the resource: itself, its workloads, and the claims that its finalizer deletes."""
    cluster = Cluster.from_resource(resource)
    itself = Step("delete", resource, live=resource)
    going = finalizer.workloads(cluster, observe(api, cluster, ()))
    if not (finalizer.is_set(resource) and finalizer.deletes_claims(resource.get("spec"))):
        return Plan((itself, *going))
    claims, warnings = _claims(api, cluster)
    return Plan((itself, *going, *claims), warnings=warnings)


def variable_removal(api: KubernetesApi, cluster: Cluster, delete_claims: bool) -> Plan:
    """Return the deletion of all that was made of variables; claims only when their deletion was stated."""
    steps = tuple(take_away(api, cluster, delete_claims))
    claims, warnings = _claims(api, cluster)
    if delete_claims or not claims:
        return Plan(steps, warnings=warnings)
    kept = ", ".join(step.key.name for step in claims)
    return Plan(steps, warnings=(f"These claims are kept, since no spec says what becomes of them: {kept}.",))


def take_away(api: KubernetesApi, cluster: Cluster, delete_claims: bool) -> Iterator[Step]:
    """Yield the deletion of all that was made of variables: workloads first, then claims, then the rest."""
    observed = observe(api, cluster, ())
    yield from finalizer.workloads(cluster, observed)
    if delete_claims:
        yield from _claims(api, cluster)[0]
    for live in observed.of_kind(*(kind for kind in PRUNED_KINDS if kind not in WORKLOADS)):
        if is_ours(live, cluster) and not live["metadata"].get("deletionTimestamp"):
            yield Step("delete", live, live=live)


def _claims(api: KubernetesApi, cluster: Cluster) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return the deletion of this cluster's claims as they are now, and a warning for each that others use."""
    found = api.list_objects(CLAIM, cluster.namespace, f"{names.CLUSTER_LABEL}={cluster.name}")
    steps = finalizer.claims(cluster, Observed({key_of(claim): claim for claim in found}))
    users = _users(api, cluster) if steps else {}
    kept = tuple(
        f"The claim {step.key.name} is kept: the pod {users[step.key.name]} mounts it and is not this cluster's."
        for step in steps
        if step.key.name in users
    )
    return tuple(step for step in steps if step.key.name not in users), kept


def _users(api: KubernetesApi, cluster: Cluster) -> dict[str, str]:
    """Return by claim the name of a pod that mounts it and is not this cluster's."""
    pods = api.list_objects("Pod", cluster.namespace)
    foreign = (pod for pod in pods if (pod["metadata"].get("labels") or {}).get(names.CLUSTER_LABEL) != cluster.name)
    return {
        volume["persistentVolumeClaim"]["claimName"]: pod["metadata"]["name"]
        for pod in foreign
        for volume in pod["spec"].get("volumes") or ()
        if "persistentVolumeClaim" in volume
    }
