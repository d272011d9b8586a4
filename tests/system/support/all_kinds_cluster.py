# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small cluster that has an object of each kind."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest

NAME = "wiki"
MOUNT = "/opt/druid/conf/druid/cluster"
BACKEND = {"service": {"name": "druid-wiki-brokers", "port": {"number": 8082}}}
# All objects that are created for the resource below.
OBJECTS = {
    ("ConfigMap", "wiki-druid-common-config"),
    ("ConfigMap", "druid-wiki-brokers-config"),
    ("Deployment", "druid-wiki-brokers"),
    ("Service", "druid-wiki-brokers"),
    ("Ingress", "druid-wiki-brokers"),
    ("ConfigMap", "druid-wiki-data-config"),
    ("StatefulSet", "druid-wiki-data"),
    ("Service", "druid-wiki-data"),
    ("PodDisruptionBudget", "druid-wiki-data"),
    ("PersistentVolumeClaim", "segments-druid-wiki-data-0"),
    ("ConfigMap", "druid-wiki-routers-config"),
    ("StatefulSet", "druid-wiki-routers"),
    ("Service", "druid-wiki-routers"),
    ("HorizontalPodAutoscaler", "druid-wiki-routers"),
    ("PersistentVolumeClaim", "druid-wiki-routers"),
}


def resource(name: str = NAME, **changes: Any) -> Manifest:
    """Return the Druid resource; its specification with these changes."""
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "Druid",
        "metadata": {"name": name},
        "spec": {**spec(), **changes},
    }


def spec() -> Manifest:
    """Return the specification."""
    return {
        "image": "apache/druid:33.0.0",
        "common.runtime.properties": "druid.zk.service.enabled=false\n",
        "services": [{"spec": {"type": "ClusterIP"}}],
        "nodes": {
            "brokers": group("broker", 8082, kind="Deployment", ingress={"defaultBackend": BACKEND}),
            "data": group(
                "historical",
                8083,
                podDisruptionBudgetSpec={"maxUnavailable": 1},
                volumeClaimTemplates=[{"metadata": {"name": "segments"}, "spec": claim()}],
                volumeMounts=[{"name": "segments", "mountPath": "/druid/segments"}],
            ),
            "routers": group(
                "router",
                8888,
                hpAutoscaler={"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": target("druid-wiki-routers")},
                persistentVolumeClaim=[{"metadata": {"name": "druid-wiki-routers"}, "spec": claim()}],
            ),
        },
    }


def group(node_type: str, port: int, **more: Any) -> Manifest:
    """Return a group with one pod."""
    return {
        "nodeType": node_type,
        "druid.port": port,
        "replicas": 1,
        "nodeConfigMountPath": f"{MOUNT}/{node_type}",
        "runtime.properties": f"druid.service=druid/{node_type}\n",
        **more,
    }


def claim() -> Manifest:
    """Return the specification of a PVC."""
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def target(name: str) -> Manifest:
    """Return what an autoscaler scales."""
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": name}


def changed(group: str, **changes: Any) -> Manifest:
    """Return a merge patch of the resource that changes fields of a group; None removes a field."""
    return {"spec": {"nodes": {group: changes}}}
