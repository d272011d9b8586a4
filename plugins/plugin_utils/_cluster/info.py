# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of `cluster_info`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import spec_errors

CLUSTER_INFO: Mapping[str, Any] = {"name": {"type": "str"}, "namespace": {"type": "str", "default": "default"}}


def clusters(api: KubernetesApi, namespace: str, name: str | None) -> list[dict[str, Any]]:
    """Return the description of one resource, or of all in the namespace; empty if there is none."""
    if name is None:
        return [describe(resource) for resource in api.list_objects(names.KIND, namespace)]
    resource = api.get(names.KIND, namespace, name)
    return [describe(resource)] if resource else []


def describe(resource: Manifest) -> dict[str, Any]:
    """Return names and conditions of a resource, without its spec."""
    status = resource.get("status") or {}
    conditions = status.get("conditions") or []
    is_current = status.get("observedGeneration") == resource["metadata"]["generation"]
    return {
        "name": resource["metadata"]["name"],
        "namespace": resource["metadata"]["namespace"],
        "ready": is_ready(conditions) and is_current,
        "nodes": status.get("nodes", ""),
        "version": status.get("version", ""),
        "conditions": conditions,
        "groups": _groups(resource),
    }


def _groups(resource: Manifest) -> list[str]:
    """Return the groups in rollout order; empty if the spec is invalid."""
    return [] if spec_errors(names.KIND, resource) else [group.key for group in Cluster.from_resource(resource).groups]
