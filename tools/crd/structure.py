# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The structure of the kinds that the collection writes, from the OpenAPI v3 documents of a kube-apiserver.

What server-side apply knows of the kinds that we write: which lists are maps and by which keys, which values are one
piece, which are quantities. A type is listed with those of its fields that are more than a scalar; a field is
``{"type": T}``, ``{"list": T | null}`` (one value), ``{"list": T, "keys": [...], "defaults": {...}}``,
``{"set": true}``, ``{"map": T | "Quantity" | null}``, and ``"atomic": true`` (``"atomic_elements": true``) where a
mapping (an element) is one value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = {
    "ConfigMap": "io.k8s.api.core.v1.ConfigMap",
    "Service": "io.k8s.api.core.v1.Service",
    "PersistentVolumeClaim": "io.k8s.api.core.v1.PersistentVolumeClaim",
    "StatefulSet": "io.k8s.api.apps.v1.StatefulSet",
    "Deployment": "io.k8s.api.apps.v1.Deployment",
    "Ingress": "io.k8s.api.networking.v1.Ingress",
    "PodDisruptionBudget": "io.k8s.api.policy.v1.PodDisruptionBudget",
    "HorizontalPodAutoscaler": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
}
PREFIX = "#/components/schemas/"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
LEFT_OUT = {"status", "managedFields"}


def structure(schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return {"kinds": {kind: type}, "types": {type: {field: description}}} of all types below KINDS."""
    types: dict[str, Any] = {}
    pending = sorted(KINDS.values())
    while pending:
        name = pending.pop()
        if _short(name) in types:
            continue
        fields, references = _fields(schemas, name)
        types[_short(name)] = fields
        pending.extend(references)
    return {"kinds": {kind: _short(name) for kind, name in KINDS.items()}, "types": types}


def _fields(schemas: Mapping[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    fields, references = {}, []
    for field, schema in schemas[name].get("properties", {}).items():
        description, reference = _describe(schemas, schema)
        if field in LEFT_OUT or description is None:
            continue
        fields[field] = description
        if reference:
            references.append(reference)
    return fields, references


def _describe(schemas: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    reference = _reference(schema)
    if reference:
        return _describe_reference(schemas, schema, reference)
    if schema.get("type") == "array":
        return _describe_list(schemas, schema)
    if schema.get("type") == "object":
        values = _reference(schema.get("additionalProperties", {}))
        described: dict[str, Any] = {"map": _short(values) if values else None}
        if schema.get("x-kubernetes-map-type") == "atomic":
            described["atomic"] = True
        return described, values if values and values != QUANTITY else None
    return None, None


def _describe_reference(
    schemas: Mapping[str, Any], schema: Mapping[str, Any], reference: str
) -> tuple[dict[str, Any] | None, str | None]:
    target = schemas[reference]
    if reference == QUANTITY:
        return {"type": "Quantity"}, None
    if target.get("type") != "object" or "properties" not in target:
        return None, None
    described: dict[str, Any] = {"type": _short(reference)}
    if "atomic" in (schema.get("x-kubernetes-map-type"), target.get("x-kubernetes-map-type")):
        described["atomic"] = True
    return described, reference


def _describe_list(schemas: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    items = _reference(schema["items"])
    list_type = schema.get("x-kubernetes-list-type", "atomic")
    if list_type == "set":
        return {"set": True}, None
    described: dict[str, Any] = {"list": _short(items) if items else None}
    if list_type == "map" and items:
        keys = schema["x-kubernetes-list-map-keys"]
        described["keys"] = keys
        properties = schemas[items]["properties"]
        if schemas[items].get("x-kubernetes-map-type") == "atomic":
            described["atomic_elements"] = True
        defaults = {key: properties[key]["default"] for key in keys if properties[key].get("default")}
        if defaults:
            described["defaults"] = defaults
    return described, items if items != QUANTITY else None


def _reference(schema: Mapping[str, Any]) -> str | None:
    target = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part), None)
    return target.removeprefix(PREFIX) if target else None


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]
