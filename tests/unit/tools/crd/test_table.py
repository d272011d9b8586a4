# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A line of a table becomes the schema of its field."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.tools.crd.embedded import INT32, Embedded, Schema, free_form
from ansible_collections.druidops.druid.tools.crd.table import Schemas, Table, TableError, without

PROBE = {
    "io.k8s.api.core.v1.Probe": {
        "type": "object",
        "properties": {"get": {"$ref": "#/components/schemas/io.k8s.api.core.v1.Get"}},
    },
    "io.k8s.api.core.v1.Get": {
        "type": "object",
        "required": ["port"],
        "properties": {"port": {"type": "integer"}},
    },
}
EMBEDDED = Embedded(PROBE, {"defaults": {}, "earlier": {}, "without": {}, "metadata": []})
INNER = {"name": "name", "type": "string", "required": True, "description": "Its name."}


def schema(**line: Any) -> Schema:
    """The schema of one field, without its description."""
    lines = [{"name": "field", "description": "About it.", **line}]
    inside = Schemas(Table({"types": {"Outer": lines, "Inner": [INNER]}}), EMBEDDED).type("Outer")
    field: Schema = inside["properties"]["field"]
    assert field.pop("description") == "About it."
    return field


INNER_SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "description": "Its name."}},
}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("string", {"type": "string"}),
        ("integer", {"type": "integer", "format": "int32", **INT32}),
        ("object", free_form()),
        ("[]string", {"type": "array", "items": {"type": "string"}}),
        ("map[string]", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("map[Inner]", {"type": "object", "additionalProperties": INNER_SCHEMA}),
        ("[]Inner", {"type": "array", "items": INNER_SCHEMA}),
        ("core.v1.Probe", EMBEDDED.schema("core.v1.Probe")),
    ],
)
def test_types(kind: str, expected: Schema) -> None:
    assert schema(type=kind) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"name": "a", "type": "string"}, r"^field 'a' of type Outer: missing description$"),
        ({**INNER, "requird": True}, r"^field 'name' of type Outer: unknown keyword requird$"),
    ],
)
def test_invalid_line_is_named(line: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table({"types": {"Outer": [line]}}).fields("Outer")


def test_bounds_default_and_rules_are_added() -> None:
    rules = [{"rule": "true", "message": "it is so"}]
    assert schema(type="string", default="", bounds={"maxLength": 3}, rules=rules) == {
        "type": "string",
        "default": "",
        "maxLength": 3,
        "x-kubernetes-validations": rules,
    }


def test_keywords_reach_inside() -> None:
    found = schema(type="map[Inner]", within={"*.name": {"maxLength": 3}})
    assert found["additionalProperties"]["properties"]["name"]["maxLength"] == 3


def test_what_is_optional_here_stays_required_elsewhere() -> None:
    assert "required" not in schema(type="core.v1.Probe", optional=["get.port"])["properties"]["get"]
    assert schema(type="core.v1.Probe")["properties"]["get"]["required"] == ["port"]


def test_an_overlay_requires_nothing() -> None:
    assert "required" not in schema(type="core.v1.Probe", overlay=True)["properties"]["get"]


def test_keywords_are_removed_but_fields_of_the_same_name_are_kept() -> None:
    described = {
        "description": "Goes.",
        "properties": {"description": {"type": "string", "description": "Goes."}},
        "items": {"description": "Goes."},
        "additionalProperties": {"description": "Goes."},
        "default": {"description": "stays"},
    }
    assert without(described, "description") == {
        "properties": {"description": {"type": "string"}},
        "items": {},
        "additionalProperties": {},
        "default": {"description": "stays"},
    }
