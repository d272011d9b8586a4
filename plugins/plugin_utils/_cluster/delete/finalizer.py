# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The finalizer that deletes the claims with the resource: kept as the Go operator keeps it, and carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import controller, is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest

# Kubernetes' own: dependents are to lose their owner instead of going with it.
ORPHAN = "orphan"
# Of these kinds each object has the resource as its owner.
OWNED = (*WORKLOADS, "ConfigMap", "Service")


def keep_finalizer(resource: Manifest, always: bool = False) -> tuple[Step, ...]:
    """Return the step that adds or removes the finalizer as disablePVCDeletionFinalizer wants, or adds it always."""
    finalizers = resource["metadata"].get("finalizers") or []
    is_wanted = always or deletes_claims(resource.get("spec"))
    if is_wanted == (names.FINALIZER in finalizers):
        return ()
    return (_finalizer_step(resource, [*finalizers, names.FINALIZER] if is_wanted else _without(finalizers)),)


def is_set(resource: Manifest) -> bool:
    """True for a resource that does not go before its claims have been dealt with."""
    return names.FINALIZER in (resource["metadata"].get("finalizers") or ())


def remove_finalizer(resource: Manifest) -> Step:
    """Return the step that removes the finalizer: the resource goes."""
    return _finalizer_step(resource, _without(resource["metadata"]["finalizers"]))


def deletes_claims(spec: Any) -> bool:
    """True when the claims go with the cluster: the documented default, also of a specification that is none."""
    return not (isinstance(spec, Mapping) and spec.get("disablePVCDeletionFinalizer", False))


def is_orphaning(resource: Manifest) -> bool:
    """True while Kubernetes takes the owner off everything that the resource has made, as --cascade=orphan wants it."""
    return ORPHAN in (resource["metadata"].get("finalizers") or ())


def objects_without_owner(cluster: Cluster, observed: Observed) -> tuple[str, ...]:
    """Return what of this cluster has lost its owner, though the resource is there.

    That is how a resource looks that is deleted with --cascade=orphan once Kubernetes has dealt with its own
    finalizer: all that it has made is to stay, its data first of all. Somebody may have done it by hand, too.
    """
    found = observed.of_kind(*OWNED)
    return tuple(str(key_of(live)) for live in found if controller(live) is None and is_ours(live, cluster))


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
