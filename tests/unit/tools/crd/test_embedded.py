# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Types of Kubernetes become structural schemas that reject nothing more than the Go operator's CRD."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.druidops.druid.tools.crd.embedded import INT32, Embedded, Schema, free_form, int_or_string


def reference(name: str) -> dict[str, Any]:
    """A reference as the API server writes it, with a description and a default beside it."""
    return {"description": "About it.", "default": {}, "allOf": [{"$ref": f"#/components/schemas/io.k8s.{name}"}]}


OPENAPI = {
    "io.k8s.api.core.v1.Port": {
        "type": "object",
        "description": "About it.",
        "required": ["number"],
        "properties": {
            "number": {"type": "integer", "format": "int32", "default": 0},
            "protocol": {"type": "string", "enum": ["TCP", "UDP"], "default": "UDP"},
            "target": reference("apimachinery.pkg.util.intstr.IntOrString"),
        },
    },
    "io.k8s.api.core.v1.Thing": {
        "type": "object",
        "x-kubernetes-group-version-kind": [{"kind": "Thing"}],
        "required": ["ports", "gone"],
        "properties": {
            "metadata": reference("apimachinery.pkg.apis.meta.v1.ObjectMeta"),
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["number"],
                "x-kubernetes-patch-merge-key": "number",
                "items": reference("api.core.v1.Port"),
            },
            "limits": {
                "type": "object",
                "additionalProperties": reference("apimachinery.pkg.api.resource.Quantity"),
            },
            "since": reference("apimachinery.pkg.apis.meta.v1.Time"),
            "raw": reference("apimachinery.pkg.runtime.RawExtension"),
            "selector": reference("api.core.v1.Selector"),
            "gone": {"type": "string"},
        },
    },
    "io.k8s.api.core.v1.Selector": {
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {"name": {"type": "string"}},
    },
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "uid": {"type": "string"},
            "labels": {"type": "object", "additionalProperties": {"type": "string", "default": ""}},
        },
    },
}
RULES = {
    "defaults": {"core.v1.Port": {"protocol": "TCP"}},
    "earlier": {"core.v1.Selector": {"old": {"type": "string"}}},
    "without": {"core.v1.Thing": ["gone"]},
    "metadata": ["labels", "name"],
}
EMBEDDED = Embedded(OPENAPI, RULES)
SCHEMA = EMBEDDED.schema("core.v1.Thing")


def test_keeps_what_is_required_but_only_the_defaults_that_are_listed() -> None:
    assert EMBEDDED.schema("core.v1.Port") == {
        "type": "object",
        "required": ["number"],
        "properties": {
            "number": {"type": "integer", "format": "int32", **INT32},
            "protocol": {"type": "string", "default": "TCP"},
            "target": int_or_string(),
        },
    }


def test_an_overlay_requires_nothing_and_defaults_nothing() -> None:
    schema = EMBEDDED.schema("core.v1.Thing", overlay=True)
    assert "required" not in schema
    assert schema["properties"]["ports"]["items"] == {
        "type": "object",
        "properties": {
            "number": {"type": "integer", "format": "int32", **INT32},
            "protocol": {"type": "string"},
            "target": int_or_string(),
        },
    }


def test_a_keyed_list_is_a_plain_list() -> None:
    assert SCHEMA["properties"]["ports"] == {"type": "array", "items": EMBEDDED.schema("core.v1.Port")}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("raw", free_form()),
        (
            "metadata",
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            },
        ),
        (
            "selector",
            {
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "properties": {"name": {"type": "string"}, "old": {"type": "string"}},
            },
        ),
    ],
)
def test_special_types(field: str, expected: dict[str, Any]) -> None:
    assert SCHEMA["properties"][field] == expected


def pattern(schema: Schema, **others: Any) -> str:
    """Return the pattern of a schema that has only this besides the others."""
    assert {**others, "pattern": schema["pattern"]} == schema
    return str(schema["pattern"])


def test_quantity_is_a_number_or_a_string_of_its_form() -> None:
    anything = {name: value for name, value in int_or_string().items() if name not in INT32}
    form = pattern(SCHEMA["properties"]["limits"]["additionalProperties"], **anything)
    valid = ["1", "1.", ".5", "+1", "-1", "500m", "1Ki", "2E", "1e3", "1E-3", "1e+018"]
    assert [text for text in valid if not re.search(form, text)] == []
    not_decoded = ["", "1e1.5", "1e.5", "1e9999", "1EiE", "1 Gi"]
    assert [text for text in not_decoded if re.search(form, text)] == []


def test_time_is_of_the_form_that_go_decodes() -> None:
    form = pattern(SCHEMA["properties"]["since"], type="string", format="date-time")
    valid = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00-23:59"]
    assert [text for text in valid if not re.search(form, text)] == []
    not_decoded = ["2026-01-01t00:00:00z", "2026-01-01T00:00:00x5Z", "2026-01-01T00:00:00+99:99", "2026-01-01"]
    assert [text for text in not_decoded if re.search(form, text)] == []


def test_a_field_left_out_is_not_required_either() -> None:
    assert "gone" not in SCHEMA["properties"]
    assert SCHEMA["required"] == ["ports"]
