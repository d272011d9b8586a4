# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The finalizer that deletes the claims with the resource: kept as the Go operator keeps it, and carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.belonging import is_claim_of, is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import WORKLOADS, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes import Manifest


def keep_finalizer(resource: Manifest) -> tuple[Step, ...]:
    """Return the step that adds or removes the finalizer, as disablePVCDeletionFinalizer wants it."""
    finalizers = resource["metadata"].get("finalizers") or []
    is_wanted = deletes_claims(resource["spec"])
    if is_wanted == (names.FINALIZER in finalizers):
        return ()
    return (_finalizer_step(resource, [*finalizers, names.FINALIZER] if is_wanted else _without(finalizers)),)


def carry_out(resource: Manifest, cluster: Cluster, observed: Observed) -> tuple[Step, ...]:
    """Return what is left to do for a resource that is being deleted: workloads, claims, then the finalizer itself."""
    finalizers = resource["metadata"].get("finalizers") or []
    if names.FINALIZER not in finalizers:
        return ()
    goes = tuple(removal(cluster, observed)) if deletes_claims(resource["spec"]) else ()
    return (*goes, _finalizer_step(resource, _without(finalizers)))


def deletes_claims(spec: Mapping[str, Any]) -> bool:
    """True when the claims go with the cluster: the documented default."""
    return not spec.get("disablePVCDeletionFinalizer", False)


def removal(cluster: Cluster, observed: Observed) -> tuple[Step, ...]:
    """Return the deletion of the workloads and of this cluster's claims; what is going already is left to go."""
    workloads = [live for live in observed.of_kind(*WORKLOADS) if is_ours(live, cluster)]
    claims = [live for live in observed.of_kind("PersistentVolumeClaim") if is_claim_of(live, cluster)]
    staying = (live for live in workloads + claims if not live["metadata"].get("deletionTimestamp"))
    return tuple(Step("delete", live, live=live) for live in staying)


def _without(finalizers: list[str]) -> list[str]:
    return [finalizer for finalizer in finalizers if finalizer != names.FINALIZER]


def _finalizer_step(resource: Manifest, finalizers: list[str]) -> Step:
    metadata = resource["metadata"]
    after = {**resource, "metadata": {**metadata, "finalizers": finalizers}}
    patch = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata.get("resourceVersion")},
        {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
    ]
    return Step("patch", resource, live=resource, after=after, patch=patch)
