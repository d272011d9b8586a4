# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Structure of the Kubernetes kinds that we write: list types, and atomic values.

The data is in ``structure.json``, generated from the OpenAPI documents of a kube-apiserver (tools/crd).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

QUANTITY = "Quantity"


@dataclass(frozen=True)
class Shape:
    """The structure of one value for server-side apply: a field of ``structure.json``."""

    description: Mapping[str, Any] = field(default_factory=dict)

    @property
    def type(self) -> str | None:
        """The type of a mapping with fields, of a mapping's values or of a list's elements."""
        return next((self.description[key] for key in ("type", "map", "list") if self.description.get(key)), None)

    @property
    def is_free_map(self) -> bool:
        return "map" in self.description

    @property
    def is_quantity(self) -> bool:
        return self.description.get("type") == QUANTITY

    @property
    def is_atomic(self) -> bool:
        """True when the value has a single owner."""
        if "list" in self.description:
            return "keys" not in self.description
        return bool(self.description.get("atomic"))

    @property
    def is_set(self) -> bool:
        return "set" in self.description

    @property
    def keys(self) -> tuple[str, ...]:
        """The merge key of a list."""
        return tuple(self.description.get("keys", ()))

    def child(self, name: str) -> Shape:
        """Return the shape of the field or entry ``name`` of a mapping."""
        if self.is_free_map:
            return Shape({"type": self.type}) if self.type else SCALAR
        description = _types().get(self.type or "", {}).get(name)
        return Shape(description) if description else SCALAR

    @property
    def element(self) -> Shape:
        """The shape of each element of a list."""
        if not self.type:
            return SCALAR
        return Shape({"type": self.type, "atomic": self.description.get("atomic_elements", False)})

    def key_of(self, element: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the merge key of ``element``, with the server's default for a missing field."""
        defaults = self.description.get("defaults", {})
        return tuple(element.get(key, defaults.get(key)) for key in self.keys)


SCALAR = Shape()


def shape_of(kind: str) -> Shape:
    """Return the shape of objects of ``kind``; KeyError for a kind that we do not write."""
    return Shape({"type": _document()["kinds"][kind]})


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((Path(__file__).parent / "structure.json").read_text(encoding="utf-8"))
    return document


def _types() -> dict[str, Any]:
    types: dict[str, Any] = _document()["types"]
    return types
