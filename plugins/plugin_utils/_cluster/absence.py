# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a cluster away: by deleting its resource, or, made of variables, object by object."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.belonging import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import finalizer
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.candidates import PRUNED_KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed, observe
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import KubernetesApi, Manifest


def resource_removal(api: KubernetesApi, resource: Manifest) -> Plan:
    """Return what goes with the resource: itself, its workloads, and the claims that its finalizer deletes."""
    cluster = Cluster.from_resource(resource)
    going = finalizer.removal(cluster, observe(api, cluster, ()))
    with_claims = finalizer.deletes_claims(resource["spec"])
    return Plan(
        (Step("delete", resource, live=resource), *(step for step in going if with_claims or not _is_claim(step)))
    )


def variable_removal(api: KubernetesApi, resource: Manifest, delete_claims: bool) -> Plan:
    """Return the deletion of all that was made of variables; claims only when their deletion was stated."""
    cluster = Cluster.from_resource(resource)
    return everything(cluster, observe(api, cluster, ()), delete_claims)


def everything(cluster: Cluster, observed: Observed, delete_claims: bool) -> Plan:
    """Return the deletion of all that is ours: workloads first, then claims, then the rest."""
    removal = finalizer.removal(cluster, observed)
    claims = tuple(step for step in removal if _is_claim(step))
    others = (live for kind in PRUNED_KINDS for live in observed.of_kind(kind) if is_ours(live, cluster))
    first = {step.key for step in removal}
    rest = tuple(step for step in (Step("delete", live, live=live) for live in others) if step.key not in first)
    plan = Plan((*(step for step in removal if delete_claims or not _is_claim(step)), *rest))
    if delete_claims or not claims:
        return plan
    kept = ", ".join(step.key.name for step in claims)
    return replace(plan, warnings=(f"These claims are kept, since no spec says what becomes of them: {kept}.",))


def _is_claim(step: Step) -> bool:
    return step.key.kind == "PersistentVolumeClaim"
