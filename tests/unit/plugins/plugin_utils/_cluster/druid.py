# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small cluster for test cases."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.dynamic_config import ChangeConfig
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DYNAMIC_CONFIG, DruidChange

NODE = {
    "nodeType": "broker",
    "druid.port": 8082,
    "nodeConfigMountPath": "/opt/druid/conf/druid/cluster/query/broker",
    "runtime.properties": "druid.service=druid/broker",
    "replicas": 1,
}


def resource(node: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a Druid resource with one group of brokers."""
    complete = {"common.runtime.properties": "a=b", "image": "apache/druid:37.0.0", **spec}
    metadata = {"name": "c", "namespace": "ns", "uid": "u-1", "generation": 1}
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "Druid",
        "metadata": metadata,
        "spec": {"nodes": {"brokers": {**NODE, **(node or {})}}, **complete},
    }


def cluster(node: dict[str, Any] | None = None, **spec: Any) -> Cluster:
    """Return a cluster with one group of brokers."""
    return Cluster.from_resource(resource(node, **spec))


def rendered(kind: str, node: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return the only object of a kind in the cluster's group."""
    [found] = [manifest for manifest in render(cluster(node, **spec)).groups["brokers"] if manifest["kind"] == kind]
    return found


def in_druid(before: Any, after: Any) -> ChangeConfig:
    """Return a change of a dynamic configuration for tests of reports."""
    what = "dynamic configuration of the Coordinator"
    return ChangeConfig.of(DruidChange(DYNAMIC_CONFIG, "coordinator", what, after, before, after))


def at(manifest: Any, *path: str | int) -> Any:
    """Return the value at the path, or None if the path does not exist."""
    for part in path:
        if isinstance(manifest, dict):
            manifest = manifest.get(part)
        elif isinstance(manifest, list) and isinstance(part, int) and part < len(manifest):
            manifest = manifest[part]
        else:
            return None
    return manifest
