# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of objects, and what the metadata of any object has: deletion, finalizers, labels. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import below

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


# The field manager of ansible-operator.
ANSIBLE_OPERATOR = "ansible-operator"


def has_finalizer(resource: Manifest, finalizer: str) -> bool:
    """True for a resource with the finalizer."""
    return finalizer in (resource["metadata"].get("finalizers") or ())


def is_finalizer_of_operator(resource: Manifest, finalizer: str) -> bool:
    """True when ansible-operator has set the finalizer: its binary has written that field."""
    field = ("f:metadata", "f:finalizers", f'v:"{finalizer}"')
    entries = resource["metadata"].get("managedFields") or ()
    return has_finalizer(resource, finalizer) and any(
        below(each.get("fieldsV1") or {}, *field) for each in entries if each.get("manager") == ANSIBLE_OPERATOR
    )


def changed_finalizers(resource: Manifest, finalizer: str, *, is_desired: bool) -> list[str]:
    """Return the finalizers of the resource with this one, or without it."""
    others = [each for each in resource["metadata"].get("finalizers") or () if each != finalizer]
    return [*others, finalizer] if is_desired else others


def finalizer_patch(
    resource: Manifest, finalizer: str, *, is_desired: bool, unchanged: Iterable[str] = ("resourceVersion",)
) -> list[dict[str, Any]]:
    """Return the JSON patch that sets or removes the finalizer if these fields of the metadata are unchanged."""
    metadata = resource["metadata"]
    finalizers = changed_finalizers(resource, finalizer, is_desired=is_desired)
    return [
        *({"op": "test", "path": f"/metadata/{field}", "value": metadata.get(field)} for field in unchanged),
        {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
    ]


def selector_matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """True if the selector matches: an empty one matches all labels, none at all matches nothing."""
    if selector is None:
        return False
    return (selector.get("matchLabels") or {}).items() <= labels.items() and all(
        _satisfies(labels, **each) for each in selector.get("matchExpressions") or ()
    )


def _satisfies(labels: Mapping[str, str], key: str, operator: str, values: list[str] | None = None) -> bool:
    """True if the labels satisfy a requirement; a label that does not exist satisfies NotIn."""
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    return (labels.get(key) in (values or ())) == (operator == "In")
