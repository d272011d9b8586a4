# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pod templates are merged by the list types in the API server's own documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import MERGE_KEYS, RETAIN_KEYS
from testbed.control_plane import ControlPlane

TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
Schemas = Mapping[str, Any]


@pytest.fixture(scope="module")
def lists(control_plane: ControlPlane) -> Schemas:
    """Return the fields of a pod template, by name, whose lists are merged by a key."""
    schemas = control_plane.request("GET", "/openapi/v3/api/v1")["components"]["schemas"]
    fields = {name: schema for each in below(schemas, TEMPLATE) for name, schema in schemas[each]["properties"].items()}
    return {name: schema for name, schema in fields.items() if "x-kubernetes-list-map-keys" in schema}


def below(schemas: Schemas, root: str) -> set[str]:
    """Return the names of all types with fields that the type is made of, its own among them."""
    found, pending = set(), {root}
    while pending:
        found.add(name := pending.pop())
        pending |= {each for each in references(schemas[name]) if "properties" in schemas[each]} - found
    return found


def references(schema: Any) -> Iterator[str]:
    """Yield the names of the types that a schema refers to."""
    if isinstance(schema, list):
        for item in schema:
            yield from references(item)
    elif isinstance(schema, dict):
        for name, value in schema.items():
            yield from [value.rpartition("/")[2]] if name == "$ref" else references(value)


def test_merge_keys_of_lists(lists: Schemas) -> None:
    documented = {name: tuple(schema["x-kubernetes-list-map-keys"]) for name, schema in lists.items()}
    assert {name: documented.get(name) for name in MERGE_KEYS} == MERGE_KEYS


def test_items_whose_other_fields_are_removed(lists: Schemas) -> None:
    strategies = {name: schema.get("x-kubernetes-patch-strategy", "") for name, schema in lists.items()}
    assert {name for name, strategy in strategies.items() if "retainKeys" in strategy.split(",")} == RETAIN_KEYS
