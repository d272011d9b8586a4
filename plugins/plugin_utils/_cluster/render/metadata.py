# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Common metadata of all objects: identity, labels, owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

# Kubernetes deletes an object with its owner, regardless of disablePVCDeletionFinalizer.
_WITHOUT_OWNER = ("PersistentVolumeClaim",)


def cluster_manifest(
    cluster: Cluster, api_version: str, kind: str, metadata: Mapping[str, Any], **content: Any
) -> dict[str, Any]:
    """Return an object of the cluster; `metadata` names it and has the labels of its kind."""
    return _manifest(cluster, None, api_version, kind, metadata, content)


def group_manifest(
    group: Group, api_version: str, kind: str, metadata: Mapping[str, Any], **content: Any
) -> dict[str, Any]:
    """Return an object of one group; `metadata` names it and has the labels of its kind."""
    return _manifest(group.cluster, group.node_type, api_version, kind, metadata, content)


def without_none(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deep copy without fields that are None."""
    return {key: _without_none(value) for key, value in mapping.items() if value is not None}


def _manifest(
    cluster: Cluster,
    component: str | None,
    api_version: str,
    kind: str,
    metadata: Mapping[str, Any],
    content: Mapping[str, Any],
) -> dict[str, Any]:
    owners = None if kind in _WITHOUT_OWNER else _owner_references(cluster)
    recommended = names.recommended_labels(cluster.name, component)
    labels = recommended if owners else names.without_instance(recommended)
    completed = {
        **metadata,
        "namespace": cluster.namespace,
        "labels": {**labels, **metadata["labels"]},
        "annotations": metadata.get("annotations") or None,
        "ownerReferences": owners,
    }
    return without_none({"apiVersion": api_version, "kind": kind, "metadata": completed, **content})


def _owner_references(cluster: Cluster) -> list[dict[str, Any]] | None:
    # No blockOwnerDeletion: it needs a permission on finalizers, and the Go operator does not set it.
    if cluster.uid is None:
        return None
    owner = {"apiVersion": names.API_VERSION, "kind": names.KIND, "name": cluster.name, "uid": cluster.uid}
    return [{**owner, "controller": True}]


def _without_none(value: Any) -> Any:
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_without_none(item) for item in value]
    # A dict first: it takes longer to recognize it as a Mapping.
    return without_none(value) if isinstance(value, (dict, Mapping)) else value
