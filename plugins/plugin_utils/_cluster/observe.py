# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the live state: everything that a reconcile depends on, once."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

LISTED_KINDS = (
    "ConfigMap",
    "Service",
    "PersistentVolumeClaim",
    "StatefulSet",
    "Deployment",
    "Ingress",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "Pod",
)


def observe(api: KubernetesApi, cluster: Cluster, references: Iterable[ReferenceKey]) -> Observed:
    """Read the cluster: one LIST per kind, one GET per object that the resource refers to."""
    selector = f"{names.CLUSTER_LABEL}={cluster.name}"
    listed = (live for kind in LISTED_KINDS for live in api.list_objects(kind, cluster.namespace, selector))
    found = {key: api.get(key.kind, key.namespace, key.name) for key in dict.fromkeys(references)}
    return Observed({key_of(live): live for live in listed}, found)


def replica_sets(api: KubernetesApi, cluster: Cluster) -> list[Manifest]:
    """Return the ReplicaSets with the cluster's label. Only removed groups can have orphaned ones."""
    return api.list_objects("ReplicaSet", cluster.namespace, f"{names.CLUSTER_LABEL}={cluster.name}")


def get_existing(api: KubernetesApi, namespace: str, keys: Iterable[ObjectKey]) -> list[Manifest]:
    """Return the existing objects of these names, which may lack the label or have another owner."""
    found = (api.get(key.kind, namespace, key.name) for key in keys)
    return [live for live in found if live is not None]
