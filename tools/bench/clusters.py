# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The measured clusters, created in-process, and their objects for tasks of kubernetes.core.k8s."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import run
from testbed.control_plane import ControlPlane
from testbed.objects import node

NAMESPACE = "bench"
OTHER_NAMESPACE = "bench-other"
ENOUGH_NODES = 12
_TYPES = ("historical", "broker", "router", "middleManager", "coordinator")
# As in config/samples: groups without data are Deployments.
_DEPLOYMENTS = ("broker", "router")
_APPLY_ORDER = ("ConfigMap", "Service", "PodDisruptionBudget", "StatefulSet", "Deployment")


def resource(name: str, groups: int, common: int = 0, namespace: str = NAMESPACE) -> dict[str, Any]:
    """Return a Druid resource with this number of groups: each a ConfigMap, a Service, a workload and a budget.

    `common` is the size of a file in the common configuration, in bytes, such as metricDimensions.json.
    """
    dimensions = (
        {"metricDimensions.json": json.dumps({"query/time": "<dataSource> " * (common // 13)})} if common else {}
    )
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "Druid",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "image": "apache/druid:33.0.0",
            "common.runtime.properties": "druid.zk.service.host=zookeeper.example.com\n",
            "jvm.options": "-server\n-Xmx1g\n",
            **dimensions,
            "services": [{"spec": {"type": "ClusterIP"}}],
            "nodes": {f"group{number}": _group(number) for number in range(groups)},
        },
    }


def _group(number: int) -> dict[str, Any]:
    node_type = _TYPES[number % len(_TYPES)]
    return {
        "nodeType": node_type,
        "kind": "Deployment" if node_type in _DEPLOYMENTS else "StatefulSet",
        "druid.port": 8080 + number,
        "nodeConfigMountPath": f"/opt/druid/conf/druid/cluster/{node_type}",
        "runtime.properties": f"druid.service=druid/{node_type}\n",
        "replicas": 1,
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        "podDisruptionBudgetSpec": {"maxUnavailable": 1},
    }


def make_room(plane: ControlPlane) -> None:
    """Add namespaces, and nodes for all pods."""
    for namespace in (NAMESPACE, OTHER_NAMESPACE):
        plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    for number in range(ENOUGH_NODES):
        plane.request("POST", "/api/v1/nodes", node(f"bench-{number}", "zone-a"))


def create(plane: ControlPlane, name: str, groups: int, wait: bool = True, common: int = 0) -> None:
    """Create a cluster; with `wait`, wait until it is ready."""
    request = Request(
        name, NAMESPACE, Options(), resource(name, groups, common), wait=wait, wait_timeout=300, wait_sleep=1
    )
    outcome = run(DRUID, connect({"kubeconfig": str(plane.kubeconfig("person"))}), request, lambda _text: None, Clock())
    if outcome.timed_out or (outcome.report and outcome.report.problems):
        raise RuntimeError(f"{name} was not created: {outcome.report}")


def stock_playbook(name: str, groups: int) -> str:
    """Return a playbook that applies the same objects with tasks of kubernetes.core.k8s, one per kind."""
    desired = render(Cluster.from_resource(resource(name, groups)))
    objects = [*desired.common, *(manifest for group in desired.groups.values() for manifest in group)]
    objects.sort(key=lambda manifest: _APPLY_ORDER.index(manifest["kind"]))
    tasks = [_task(kind, list(found)) for kind, found in groupby(objects, key=lambda manifest: str(manifest["kind"]))]
    return json.dumps([{"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}])


def _task(kind: str, objects: list[dict[str, Any]]) -> Mapping[str, Any]:
    placed = [{**each, "metadata": {**each["metadata"], "namespace": OTHER_NAMESPACE}} for each in objects]
    return {"name": f"Apply each {kind}", "kubernetes.core.k8s": {"apply": True, "definition": placed}}
