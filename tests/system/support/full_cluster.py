# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster with an object of every kind: historicals as a StatefulSet, brokers as a Deployment."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient

NAME = "full"
STATEFUL = f"druid-{NAME}-historicals"
STATELESS = f"druid-{NAME}-brokers"
IMAGE = "apache/druid:34.0.0"


def claim_template(name: str = "data", storage: str = "1Gi") -> dict[str, Any]:
    """Return a claim template."""
    requests = {"requests": {"storage": storage}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": requests}}


def historicals(**more: Any) -> dict[str, Any]:
    """Return the StatefulSet's group."""
    return {
        **_node("historical", 8083),
        "volumeClaimTemplates": [claim_template()],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "services": [{"spec": {"type": "ClusterIP", "clusterIP": "None"}}, {"metadata": {"name": "%s-api"}}],
        **more,
    }


def brokers(**more: Any) -> dict[str, Any]:
    """Return the Deployment's group."""
    rule = {
        "host": "druid.example.com",
        "http": {
            "paths": [
                {
                    "path": "/",
                    "pathType": "Prefix",
                    "backend": {"service": {"name": STATELESS, "port": {"number": 8082}}},
                }
            ]
        },
    }
    return {
        **_node("broker", 8082),
        "kind": "Deployment",
        "ingress": {"rules": [rule]},
        "hpAutoscaler": autoscaler("Deployment", STATELESS),
        "services": [{"spec": {"type": "ClusterIP"}}],
        **more,
    }


def autoscaler(kind: str, name: str, smallest: int = 1, largest: int = 9) -> dict[str, Any]:
    """Return an autoscaler without metrics, so that it never scales."""
    target = {"type": "Utilization", "averageUtilization": 60}
    return {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": name},
        "minReplicas": smallest,
        "maxReplicas": largest,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }


def _node(node_type: str, port: int) -> dict[str, Any]:
    return {
        "nodeType": node_type,
        "druid.port": port,
        "nodeConfigMountPath": f"/opt/druid/conf/druid/cluster/{node_type}",
        "runtime.properties": f"druid.service=druid/{node_type}",
        "replicas": 0,
        "podDisruptionBudgetSpec": {"maxUnavailable": 1},
    }


def spec(**nodes: Any) -> dict[str, Any]:
    """Return the specification, with other groups if they are provided."""
    return {
        "image": IMAGE,
        "common.runtime.properties": "druid.zk.service.enabled=false",
        "metricDimensions.json": "{}",
        "startScript": "/druid.sh",
        "rollingDeploy": False,
        # A scale-down, or a removed group, has no consequences after its own reconcile.
        "deleteOrphanPvc": False,
        "env": [{"name": "TZ", "value": "UTC"}],
        "workloadAnnotations": {"team": "data"},
        "nodes": nodes or {"historicals": historicals(), "brokers": brokers()},
    }


def create(live: NamespaceClient, name: str = NAME, /, **nodes: Any) -> Manifest:
    """Create the resource and return it."""
    metadata = {"name": name}
    body = {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", "metadata": metadata, "spec": spec(**nodes)}
    return live.create(body)


def essence(live: Manifest) -> Manifest:
    """Return all fields of an object that a client specifies: no identity, no status, no managed fields."""
    bookkeeping = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
    metadata = {name: value for name, value in live["metadata"].items() if name not in bookkeeping}
    revision = "deployment.kubernetes.io/revision"
    if annotations := {key: text for key, text in metadata.pop("annotations", {}).items() if key != revision}:
        metadata["annotations"] = annotations
    return {**{name: value for name, value in live.items() if name != "status"}, "metadata": metadata}
