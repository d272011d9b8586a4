# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read everything that a decision is based on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.desired_state import desired_state
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    Cluster,
    ReferenceKey,
    cluster_references,
    not_permitted_keys,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import spec_errors
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads

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


def observe(api: KubernetesApi, resource: Manifest, options: Options, now: datetime) -> Inputs:
    """Read the cluster, the objects that the resource refers to, and what else may change what is specified."""
    errors, reads = spec_errors(names.KIND, resource), ClusterReads(api, resource["metadata"]["namespace"], options)
    readable = {**resource, "spec": {}} if errors else resource
    not_permitted = not_permitted_keys(readable, options.allowed_reference_namespaces)
    followed = (key for key in cluster_references(readable) if key not in not_permitted)
    observed = _read(reads, Cluster.from_resource(readable), followed)
    cluster = Cluster.from_resource(readable, observed.references)
    for feature in FEATURES:
        cluster = feature.specified(cluster, observed, reads)
    desired = desired_state(cluster, observed)
    return Inputs(
        resource,
        cluster,
        observed,
        desired,
        reads,
        errors,
        options.allowed_reference_namespaces,
        options.keep_finalizer,
        options.check_mode,
        now,
    )


def _read(reads: Reads, cluster: Cluster, references: Iterable[ReferenceKey]) -> Observed:
    # A name that is not a valid label value cannot be selected by; the validation reports it.
    is_label = len(cluster.name) <= names.MAX_LABEL_CHARACTERS
    return read_cluster(reads, cluster, references) if is_label else Observed()


def read_cluster(reads: Reads, cluster: Cluster, references: Iterable[ReferenceKey] = ()) -> Observed:
    """Read the objects of the cluster by one LIST per kind, and the references by one GET per object."""
    selector = f"{names.CLUSTER_LABEL}={cluster.name}"
    listed = (live for kind in LISTED_KINDS for live in reads.list_objects(kind, selector))
    found = {key: reads.get(key.kind, key.name, key.namespace) for key in dict.fromkeys(references)}
    return Observed({key_of(live): live for live in listed}, found)


def replica_sets(reads: Reads, cluster: Cluster) -> tuple[Manifest, ...]:
    """Return the ReplicaSets with the cluster's label. Only removed groups can have orphaned ones."""
    return reads.list_objects("ReplicaSet", f"{names.CLUSTER_LABEL}={cluster.name}")
