# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of the kinds' own fields, and the schemas that they describe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .embedded import INT32, Embedded, Schema, free_form, int_or_string

_SCALARS: Mapping[str, Schema] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer", "format": "int32", **INT32},
    "int64": {"type": "integer", "format": "int64"},
    "object": free_form(),
    "int-or-string": int_or_string(),
}
_REQUIRED = frozenset({"name", "type", "description"})
_KEYWORDS = _REQUIRED | {"required", "default", "bounds", "within", "optional", "overlay", "rules", "added"}
_ANY = "*"


class TableError(ValueError):
    """A line of a table is invalid."""


@dataclass(frozen=True)
class Field:
    """One line of a table."""

    name: str
    type: str
    description: str
    required: bool
    content: Mapping[str, Any]

    @property
    def element(self) -> str:
        """The type of the value, or of the elements if it is a list or map."""
        return self.type.removeprefix("[]").removeprefix("map[").removesuffix("]")


@dataclass(frozen=True)
class Table:
    """The content of the file of one kind."""

    content: Mapping[str, Any]

    @classmethod
    def load(cls, file: Path, shared: Path) -> Table:
        """The table in this file, with the types that it shares with others."""
        own, common = yaml.safe_load(file.read_text()), yaml.safe_load(shared.read_text())
        if "base" in own:
            own = _extended(yaml.safe_load(file.with_name(f"{own['base']}.yml").read_text()), own)
        return cls({**own, "types": {**own["types"], **common["types"]}})

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def fields(self, name: str) -> list[Field]:
        """The fields of one of the types of this table, in its order. TableError if a line is invalid."""
        for line in self.content["types"][name]:
            _check(name, line)
        return [
            Field(line["name"], line["type"], line["description"], line.get("required", False), line)
            for line in self.content["types"][name]
        ]

    def __contains__(self, name: str) -> bool:
        return name in self.content["types"]


def _extended(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A table with the fields of each type and the columns of its base after its own."""
    types = {name: [*own["types"].get(name, ()), *lines] for name, lines in base["types"].items()}
    return {**base, **own, "columns": [*own["columns"], *base["columns"]], "types": {**own["types"], **types}}


def _check(kind: str, line: Mapping[str, Any]) -> None:
    place = f"field {line.get('name')!r} of type {kind}"
    if missing := sorted(_REQUIRED - line.keys()):
        raise TableError(f"{place}: missing {', '.join(missing)}")
    if unknown := sorted(line.keys() - _KEYWORDS):
        raise TableError(f"{place}: unknown keyword {', '.join(unknown)}")


class Schemas:
    """Turns the types of a table into schemas."""

    def __init__(self, table: Table, embedded: Embedded) -> None:
        self._table = table
        self._embedded = embedded

    def type(self, name: str) -> Schema:
        """The schema of one of the table's types."""
        fields = self._table.fields(name)
        schema: Schema = {"type": "object", "properties": {field.name: self._field(field) for field in fields}}
        if required := sorted(field.name for field in fields if field.required):
            schema["required"] = required
        return schema

    def _field(self, field: Field) -> Schema:
        content = field.content
        schema = self._value(field.type, content.get("overlay", False))
        schema["description"] = field.description
        schema.update(content.get("bounds", {}))
        if "default" in content:
            schema["default"] = content["default"]
        if "rules" in content:
            schema["x-kubernetes-validations"] = content["rules"]
        for path, keywords in content.get("within", {}).items():
            _at(schema, path).update(keywords)
        for path in content.get("optional", []):
            _make_optional(schema, path)
        return schema

    def _value(self, kind: str, overlay: bool) -> Schema:
        if kind.startswith("[]"):
            return {"type": "array", "items": self._value(kind.removeprefix("[]"), overlay)}
        if kind.startswith("map["):
            inside = kind.removeprefix("map[").removesuffix("]")
            return {"type": "object", "additionalProperties": self._value(inside, overlay)}
        if kind in _SCALARS:
            return dict(_SCALARS[kind])
        return self.type(kind) if kind in self._table else self._embedded.schema(kind, overlay=overlay)


def _at(schema: Schema, path: str) -> Schema:
    for step in path.split("."):
        schema = _inside(schema) if step == _ANY else schema["properties"][step]
    return schema


def _inside(schema: Schema) -> Schema:
    inside: Schema = schema["items"] if "items" in schema else schema["additionalProperties"]
    return inside


def _make_optional(schema: Schema, path: str) -> None:
    *steps, field = path.split(".")
    holder = _at(schema, ".".join(steps))
    holder["required"] = [name for name in holder["required"] if name != field]
    if not holder["required"]:
        del holder["required"]


def without(schema: Schema, *keywords: str) -> Schema:
    """A copy of a schema without these keywords at any depth (fields may be called the same)."""
    return dict(_without(schema, keywords))


def _without(schema: Schema, keywords: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for key, value in schema.items():
        if key in keywords:
            continue
        if key == "properties":
            yield key, {name: without(inside, *keywords) for name, inside in value.items()}
        elif key in ("items", "additionalProperties"):
            yield key, without(value, *keywords)
        else:
            yield key, value
