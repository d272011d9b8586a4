# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Structure of the Kubernetes kinds that we write: list types, and atomic values.

The data is in ``structure.json``, generated from the OpenAPI documents of a kube-apiserver (tools/crd).
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
        found = description or {}
        # The type of a mapping with fields, of a mapping's values or of a list's elements.
        self.type: str | None = found.get("type") or found.get("map") or found.get("list") or None
        self.is_free_map = "map" in found
        self.is_quantity = found.get("type") == QUANTITY
        # The value has a single owner.
        self.is_atomic = "keys" not in found if "list" in found else bool(found.get("atomic"))
        self.is_set = "set" in found
        # The merge key of a list, and the server's defaults for missing fields of it.
        self.keys: tuple[str, ...] = tuple(found.get("keys", ()))
        self._defaults: Mapping[str, Any] = found.get("defaults", {})
        # The shapes of each element of a list, and of each value of a mapping with free keys.
        scalar = SCALAR if found else self
        atomic = found.get("atomic_elements", False)
        self.element: Shape = Shape({"type": self.type, "atomic": atomic}) if found.get("list") else scalar
        self._values: Shape = Shape({"type": self.type}) if found.get("map") else scalar

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
