# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fields of objects: their structure for server-side apply, and sets of them, as in ``metadata.managedFields``.

The structure (list types, atomic values) of the kinds that we write is in ``structure.json``, generated from the
OpenAPI documents of a kube-apiserver (tools/crd). A field set (Kubernetes FieldsV1) is a tree: ``f:<name>`` a field,
``k:<json>`` a list element by its keys, ``v:<json>`` a value of a set, ``.`` the value itself; a node without children
is owned itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

QUANTITY = "Quantity"


class Shape:
    """The structure of one value for server-side apply: a field of ``structure.json``."""

    def __init__(self, description: Mapping[str, Any] | None = None) -> None:
        described = description or {}
        # The type of a mapping with fields, of a mapping's values or of a list's elements.
        self.type: str | None = described.get("type") or described.get("map") or described.get("list") or None
        self.is_free_map = "map" in described
        self.is_quantity = described.get("type") == QUANTITY
        # The value has a single owner.
        self.is_atomic = "keys" not in described if "list" in described else bool(described.get("atomic"))
        self.is_set = "set" in described
        # The merge key of a list, and the server's defaults for missing fields of it.
        self.keys: tuple[str, ...] = tuple(described.get("keys", ()))
        self._defaults: Mapping[str, Any] = described.get("defaults", {})
        # The shapes of each element of a list, and of each value of a mapping with free keys.
        scalar = SCALAR if described else self
        atomic = described.get("atomic_elements", False)
        self.element: Shape = Shape({"type": self.type, "atomic": atomic}) if described.get("list") else scalar
        self._values: Shape = Shape({"type": self.type}) if described.get("map") else scalar

    def child(self, name: str) -> Shape:
        """Return the shape of the field or entry ``name`` of a mapping."""
        if self.is_free_map:
            return self._values
        return _types().get(self.type or "", {}).get(name, SCALAR)

    def key_of(self, element: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the merge key of ``element``, with the server's default for a missing field."""
        return tuple(element.get(key, self._defaults.get(key)) for key in self.keys)


SCALAR = Shape()


@cache
def shape_of(kind: str) -> Shape:
    """Return the shape of objects of ``kind``; KeyError for a kind that we do not write."""
    return Shape({"type": _document()["kinds"][kind]})


@cache
def _types() -> Mapping[str, Mapping[str, Shape]]:
    """Return the shapes of the fields of each type: a reconcile needs the same ones thousands of times."""
    types = _document()["types"]
    return {name: {field: Shape(each) for field, each in fields.items()} for name, fields in types.items()}


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((Path(__file__).parent / "structure.json").read_text(encoding="utf-8"))
    return document


FieldSet = dict[str, Any]

SELF = "."
# json.dumps would make an encoder for each element.
_to_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode
# Identity and server-side fields have no owner (structured-merge-diff's stripped fields).
_UNOWNED = {"apiVersion", "kind", "status"}
_UNOWNED_METADATA = {
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "selfLink",
    "managedFields",
}


def field_set(manifest: Mapping[str, Any], recorded: FieldSet | None = None) -> FieldSet:
    """Return the fields that a manager owns after an apply of ``manifest``, as the API server records them.

    ``recorded`` are the recorded fields of the same manager: an older server may record single fields of a value that a
    newer one treats as atomic (the port of an Ingress's backend, before Kubernetes 1.31).
    """
    owned = {name: value for name, value in manifest.items() if name not in _UNOWNED}
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in _UNOWNED_METADATA}
    whole = {**owned, "metadata": metadata}
    return _of_mapping(whole, shape_of(manifest["kind"]), recorded or {}, drop_empty=True)


def _of_value(value: Any, shape: Shape, recorded: FieldSet) -> FieldSet | None:
    """Return the fields of ``value``; {} if it is atomic, None if there is nothing to own."""
    if isinstance(value, dict) and value and (recorded or not shape.is_atomic):
        return _of_mapping(value, shape, recorded)
    if isinstance(value, list) and shape.is_set:
        return {value_step(element): {} for element in value} or None
    if isinstance(value, list) and shape.keys:
        return _of_elements(value, shape, recorded) or None
    return {}


def _of_mapping(value: Mapping[str, Any], shape: Shape, recorded: FieldSet, drop_empty: bool = False) -> FieldSet:
    fields: FieldSet = {}
    for name, child in value.items():
        if not isinstance(child, (dict, list)):
            # most values: their shape does not matter
            fields[f"f:{name}"] = {}
            continue
        owned = _of_value(child, shape.child(name), recorded.get(f"f:{name}", {}))
        if owned is None or (drop_empty and child == {}):
            continue
        if owned and shape.is_free_map:
            owned = {SELF: {}, **owned}
        fields[f"f:{name}"] = owned
    return fields


def _of_elements(value: list[Any], shape: Shape, recorded: FieldSet) -> FieldSet:
    fields: FieldSet = {}
    for element in value:
        step = key_step(shape, element)
        # A duplicate element has the fields of both.
        fields[step] = union(fields.get(step, {}), _of_element(element, shape, recorded.get(step, {})))
    return fields


def _of_element(element: Mapping[str, Any], shape: Shape, recorded: FieldSet) -> FieldSet:
    if shape.element.is_atomic:
        return {}
    return {SELF: {}, **_of_mapping(element, shape.element, recorded)}


def key_step(shape: Shape, element: Mapping[str, Any]) -> str:
    """Return the step ``k:{...}`` to ``element`` of a list that is a map."""
    keys = dict(zip(shape.keys, shape.key_of(element), strict=True))
    return "k:" + _to_json(keys)


def value_step(value: Any) -> str:
    """Return the step ``v:...`` to ``value`` of a set."""
    return "v:" + _to_json(value)


def union(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return the fields that are in one of the two or in both."""
    if not first or not second:
        return {**first, **second}
    shared = {step: _united(first[step], second[step]) for step in first if step in second}
    return {**first, **second, **shared}


def _united(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return the union below a step: a bare node is owned itself, which is "." beside children."""
    both = union(first, second)
    return {SELF: {}, **both} if both and not (first and second) else both


def difference(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return the fields of ``first`` that are not in ``second``."""
    remaining: FieldSet = {}
    for step, children in first.items():
        if step not in second:
            remaining[step] = children
        elif children and second[step]:
            deeper = difference(children, second[step])
            if deeper:
                remaining[step] = deeper
        elif children:
            below = {name: value for name, value in children.items() if name != SELF}
            if below:
                remaining[step] = below
        elif second[step] and SELF not in second[step]:
            remaining[step] = {}
    return remaining


def intersection(first: FieldSet, second: FieldSet) -> FieldSet:
    """Return the fields that are in both."""
    return difference(first, difference(first, second))


def below(fields: FieldSet, *steps: str) -> FieldSet:
    """Return the part of ``fields`` below ``steps``, still under its full path; {} when there is none."""
    if not steps:
        return fields
    step, *rest = steps
    if step not in fields:
        return {}
    deeper = below(fields[step], *rest)
    return {step: deeper} if deeper or not rest else {}
