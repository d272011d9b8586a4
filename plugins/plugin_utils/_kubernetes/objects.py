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


class ApiResource(NamedTuple):
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

# Our kinds that describe one object in a Druid: "Druid" and the name of the object, from which the names of their files
# and metrics follow.
DRUID_OBJECTS = ("DruidLookup", "DruidRole", "DruidUser")

KINDS: Mapping[str, ApiResource] = {
    "Namespace": ApiResource("v1", "namespaces", namespaced=False),
    "ConfigMap": ApiResource("v1", "configmaps"),
    "Secret": ApiResource("v1", "secrets"),
    "Service": ApiResource("v1", "services"),
    "Pod": ApiResource("v1", "pods"),
    "PersistentVolumeClaim": ApiResource("v1", "persistentvolumeclaims"),
    "Event": ApiResource("v1", "events"),
    "ServiceAccount": ApiResource("v1", "serviceaccounts"),
    "Role": ApiResource("rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ApiResource("rbac.authorization.k8s.io/v1", "rolebindings"),
    "ResourceQuota": ApiResource("v1", "resourcequotas"),
    "StatefulSet": ApiResource("apps/v1", "statefulsets"),
    "Deployment": ApiResource("apps/v1", "deployments"),
    "ReplicaSet": ApiResource("apps/v1", "replicasets"),
    "Ingress": ApiResource("networking.k8s.io/v1", "ingresses"),
    "PodDisruptionBudget": ApiResource("policy/v1", "poddisruptionbudgets"),
    "HorizontalPodAutoscaler": ApiResource("autoscaling/v2", "horizontalpodautoscalers"),
    "EndpointSlice": ApiResource("discovery.k8s.io/v1", "endpointslices"),
    "StorageClass": ApiResource("storage.k8s.io/v1", "storageclasses", namespaced=False),
    "Druid": ApiResource("druid.apache.org/v1alpha1", "druids"),
    "DruidIngestion": ApiResource("druid.apache.org/v1alpha1", "druidingestions"),
    **{kind: ApiResource("druid.apache.org/v1alpha1", f"{kind.lower()}s") for kind in DRUID_OBJECTS},
    "Collector": ApiResource("druid.apache.org/v1alpha1", "collectors"),
}


def object_of(kind: str) -> str:
    """Return the name of what one of the DRUID_OBJECTS describes, such as lookup."""
    return kind.removeprefix("Druid").lower()


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
        below(entry.get("fieldsV1") or {}, *field) for entry in entries if entry.get("manager") == ANSIBLE_OPERATOR
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
