# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of objects, and functions for objects of any kind. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Manifest = dict[str, Any]

FIELD_MANAGER = "druidops"


class Kind(NamedTuple):
    """The API path of a kind."""

    api_version: str
    plural: str
    namespaced: bool = True

    @property
    def resource(self) -> str:
        """The resource as RBAC names it, such as ``statefulsets.apps``."""
        group = self.api_version.rpartition("/")[0]
        return f"{self.plural}.{group}" if group else self.plural


# Kinds with a pod template.
WORKLOADS = ("StatefulSet", "Deployment")

KINDS: Mapping[str, Kind] = {
    "Namespace": Kind("v1", "namespaces", namespaced=False),
    "ConfigMap": Kind("v1", "configmaps"),
    "Secret": Kind("v1", "secrets"),
    "Service": Kind("v1", "services"),
    "Pod": Kind("v1", "pods"),
    "PersistentVolumeClaim": Kind("v1", "persistentvolumeclaims"),
    "Event": Kind("v1", "events"),
    "ServiceAccount": Kind("v1", "serviceaccounts"),
    "Role": Kind("rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": Kind("rbac.authorization.k8s.io/v1", "rolebindings"),
    "ResourceQuota": Kind("v1", "resourcequotas"),
    "StatefulSet": Kind("apps/v1", "statefulsets"),
    "Deployment": Kind("apps/v1", "deployments"),
    "ReplicaSet": Kind("apps/v1", "replicasets"),
    "Ingress": Kind("networking.k8s.io/v1", "ingresses"),
    "PodDisruptionBudget": Kind("policy/v1", "poddisruptionbudgets"),
    "HorizontalPodAutoscaler": Kind("autoscaling/v2", "horizontalpodautoscalers"),
    "EndpointSlice": Kind("discovery.k8s.io/v1", "endpointslices"),
    "StorageClass": Kind("storage.k8s.io/v1", "storageclasses", namespaced=False),
    "Druid": Kind("druid.apache.org/v1alpha1", "druids"),
    "DruidIngestion": Kind("druid.apache.org/v1alpha1", "druidingestions"),
    "Collector": Kind("druid.apache.org/v1alpha1", "collectors"),
}


def is_terminating(live: Manifest) -> bool:
    """True when the API server has set ``metadata.deletionTimestamp``, which is permanent."""
    return bool(live["metadata"].get("deletionTimestamp"))
