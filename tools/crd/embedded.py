# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes' own types as structural schemas, without descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

_PREFIX = "io.k8s."
_API = "api."
_REFERENCE = "#/components/schemas/"
# Keywords of the OpenAPI documents that a CRD copies. List types are left out: a map or set rejects duplicates that
# are valid today, and atomic is the default of a list.
_KEPT = ("type", "format", "x-kubernetes-map-type")
# The API server does not enforce the format int32, and enforces date-time loosely (`t`, `z`, an offset of 99 hours).
# Programs in Go, which decode to types of Kubernetes, cannot decode any list that contains a value beyond these limits.
INT32 = {"minimum": -(2**31), "maximum": 2**31 - 1}
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
# As in other CRDs, but without exponents that cannot be decoded: with a fraction, or with more than three digits.
_QUANTITY = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,3}))?$"


def int_or_string() -> Schema:
    """The schema of an integer or a string."""
    return {**_any_int_or_string(), **INT32}


def _any_int_or_string() -> Schema:
    return {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}


def free_form() -> Schema:
    """The schema of a mapping that is not validated."""
    return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Embedded:
    """Expands types of Kubernetes; the rules are those of fields/kubernetes.yml."""

    def __init__(self, openapi: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
        self._openapi = openapi
        self._rules = rules

    def schema(self, name: str, *, overlay: bool = False) -> Schema:
        """The schema of the type of this name; as an overlay, no nested field is required or has a default."""
        special = self._special(name)
        if special is not None:
            return special
        return self._object(name, overlay)

    def _special(self, name: str) -> Schema | None:
        match name:
            case "apimachinery.pkg.api.resource.Quantity":
                return {**_any_int_or_string(), "pattern": _QUANTITY}
            case "apimachinery.pkg.util.intstr.IntOrString":
                return int_or_string()
            case "apimachinery.pkg.apis.meta.v1.Time" | "apimachinery.pkg.apis.meta.v1.MicroTime":
                return {"type": "string", "format": "date-time", "pattern": _TIME}
            case "apimachinery.pkg.runtime.RawExtension" | "apimachinery.pkg.apis.meta.v1.FieldsV1":
                return free_form()
        return None

    def _object(self, name: str, overlay: bool) -> Schema:
        source = self._openapi[_full(name)]
        schema = _kept(source)
        schema |= self._inside(source, overlay)
        left_out = self._left_out(name)
        fields = {
            field: self._value(content, overlay)
            for field, content in source.get("properties", {}).items()
            if field not in left_out
        }
        if fields:
            schema["properties"] = {**fields, **self._rules["earlier"].get(name, {})}
        if overlay:
            return schema
        self._add_defaults(name, schema)
        if required := [field for field in source.get("required", []) if field in fields]:
            schema["required"] = sorted(required)
        return schema

    def _left_out(self, name: str) -> set[str]:
        left_out = set(self._rules["without"].get(name, []))
        if name == "apimachinery.pkg.apis.meta.v1.ObjectMeta":
            left_out |= set(self._openapi[_full(name)]["properties"]) - set(self._rules["metadata"])
        return left_out

    def _add_defaults(self, name: str, schema: Schema) -> None:
        for field, default in self._rules["defaults"].get(name, {}).items():
            schema["properties"][field]["default"] = default

    def _value(self, source: Mapping[str, Any], overlay: bool) -> Schema:
        if reference := _reference(source):
            return self.schema(reference, overlay=overlay)
        return _kept(source) | self._inside(source, overlay)

    def _inside(self, source: Mapping[str, Any], overlay: bool) -> Schema:
        return {key: self._value(source[key], overlay) for key in ("items", "additionalProperties") if key in source}


def _kept(source: Mapping[str, Any]) -> Schema:
    kept = {key: source[key] for key in _KEPT if key in source}
    return kept | INT32 if kept.get("format") == "int32" else kept


def _reference(source: Mapping[str, Any]) -> str | None:
    """The type that a value references, directly or as the only element of allOf."""
    [only] = source.get("allOf") or [source]
    reference = only.get("$ref")
    return _short(reference.removeprefix(_REFERENCE)) if reference else None


def _full(name: str) -> str:
    return _PREFIX + name if name.startswith("apimachinery.") else _PREFIX + _API + name


def _short(full: str) -> str:
    return full.removeprefix(_PREFIX).removeprefix(_API)
