# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The CRDs accept no value that the Go operator cannot decode: one such resource keeps it from reading any resource."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tools.crd.embedded import INT32

ROOT = Path(__file__).resolve().parents[4]
TABLE = yaml.safe_load(Path(__file__).with_name("go_operator.yml").read_text(encoding="utf-8"))
ANY = "any"
CRDS = {"Druid": "druids", "DruidIngestion": "druidingestions"}


def schema(kind: str) -> Mapping[str, Any]:
    text = (ROOT / "config" / "crd" / f"{CRDS[kind]}.yaml").read_text(encoding="utf-8")
    crd = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    properties: Mapping[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return properties


def wider(decoded: Any, ours: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield each field whose schema accepts a value that cannot be decoded to this type; a pruned field cannot."""
    if isinstance(decoded, str) and decoded.startswith("="):
        decoded = TABLE["types"][decoded[1:]]
    if decoded == ANY:
        return
    if isinstance(decoded, str):
        yield from () if scalar(ours) == decoded else (f"{path}: {scalar(ours)}, not {decoded}",)
    elif isinstance(decoded, list):
        yield from wider(decoded[0], ours["items"], f"{path}[]") if "items" in ours else (f"{path}: no list",)
    elif ours.get("x-kubernetes-preserve-unknown-fields") and "properties" not in ours:
        yield f"{path}: any mapping"
    else:
        inside = {**ours.get("properties", {}), **values(ours)}
        for name in decoded.keys() & inside.keys():
            yield from wider(decoded[name], inside[name], f"{path}.{name}")


def values(ours: Mapping[str, Any]) -> dict[str, Any]:
    return {"*": ours["additionalProperties"]} if "additionalProperties" in ours else {}


def scalar(ours: Mapping[str, Any]) -> str:
    is_either = ours.get("x-kubernetes-int-or-string")
    name = "int-or-string" if is_either else " ".join(filter(None, (ours.get("type"), ours.get("format"))))
    return name if is_limited(name, ours) else f"{name} without limits"


def is_limited(name: str, ours: Mapping[str, Any]) -> bool:
    """True if the schema limits the values to those that can be decoded: the API server does not enforce a format."""
    if "pattern" in ours:
        return True
    if name in ("integer int32", "int-or-string"):
        return bool(ours.get("minimum", -math.inf) >= -(2**31) and ours.get("maximum", math.inf) < 2**31)
    return name != "string date-time"


@pytest.mark.parametrize("kind", CRDS)
@pytest.mark.parametrize("part", ["spec", "status"])
def test_no_field_is_wider_than_in_the_go_operator(kind: str, part: str) -> None:
    assert sorted(wider(TABLE["kinds"][kind][part], schema(kind)[part], part)) == []


@pytest.mark.parametrize(
    ("decoded", "ours", "expected"),
    [
        ("integer int32", {"type": "integer", "format": "int64"}, ["spec.a: integer int64, not integer int32"]),
        (
            "integer int32",
            {"x-kubernetes-int-or-string": True},
            ["spec.a: int-or-string without limits, not integer int32"],
        ),
        ("integer int32", {"type": "integer", "format": "int32", **INT32}, []),
        (
            "integer int32",
            {"type": "integer", "format": "int32", "minimum": 0},
            ["spec.a: integer int32 without limits, not integer int32"],
        ),
        (
            "int-or-string",
            {"x-kubernetes-int-or-string": True},
            ["spec.a: int-or-string without limits, not int-or-string"],
        ),
        ("int-or-string", {"x-kubernetes-int-or-string": True, "pattern": "^[0-9]$"}, []),
        (
            "string date-time",
            {"type": "string", "format": "date-time"},
            ["spec.a: string date-time without limits, not string date-time"],
        ),
        (["string"], {"items": {"type": "boolean"}}, ["spec.a[]: boolean, not string"]),
        ({"*": "string"}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, ["spec.a: any mapping"]),
        ({"*": "string"}, {"additionalProperties": {"type": "integer"}}, ["spec.a.*: integer, not string"]),
        (ANY, {"type": "string"}, []),
        ("string", {"type": "string"}, []),
    ],
)
def test_a_wider_field_is_found(decoded: Any, ours: Mapping[str, Any], expected: list[str]) -> None:
    assert list(wider({"a": decoded}, {"properties": {"a": ours}}, "spec")) == expected
