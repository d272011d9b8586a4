# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""podTemplate is merged as a strategic merge patch of Kubernetes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.strategic_merge import merge_key, strategic_merge
from hypothesis import given
from hypothesis import strategies as st

CASES: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("adds", {"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
    ("replaces", {"a": 1}, {"a": 2}, {"a": 2}),
    ("merges nested mappings", {"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
    ("ignores null", {"a": 1, "b": 2}, {"a": None}, {"a": 1, "b": 2}),
    ("ignores nested null", {"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"b": 1, "c": 2}}),
    ("ignores null of a missing field", {}, {"a": {"b": None}}, {"a": {}}),
    ("replaces another type", {"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ("replaces plain lists", {"command": ["a", "b"]}, {"command": ["c"]}, {"command": ["c"]}),
    ("empties plain lists", {"tolerations": [{"key": "a"}]}, {"tolerations": []}, {"tolerations": []}),
    (
        "merges elements by name",
        {"containers": [{"name": "a", "image": "i"}, {"name": "b"}]},
        {"containers": [{"name": "b", "image": "j"}, {"name": "c"}]},
        {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}, {"name": "c"}]},
    ),
    ("keeps elements with a merge key", {"env": [{"name": "A"}]}, {"env": []}, {"env": [{"name": "A"}]}),
    (
        "merges with the last duplicate",
        {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
        {"env": [{"name": "A", "value": "3"}]},
        {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "3"}]},
    ),
    (
        "merges mounts by path",
        {"volumeMounts": [{"name": "v", "mountPath": "/a"}]},
        {"volumeMounts": [{"name": "w", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]},
        {"volumeMounts": [{"name": "w", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]},
    ),
    (
        "merges ports by number and protocol",
        {"ports": [{"name": "a", "containerPort": 1}]},
        {"ports": [{"name": "b", "containerPort": 1, "protocol": "TCP"}, {"containerPort": 1, "protocol": "UDP"}]},
        {
            "ports": [
                {"name": "b", "containerPort": 1, "protocol": "TCP"},
                {"containerPort": 1, "protocol": "UDP"},
            ]
        },
    ),
    (
        "merges host aliases by address",
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["a"]}]},
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["b"]}]},
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["b"]}]},
    ),
    (
        "merges spread constraints by both keys",
        {"topologySpreadConstraints": [{"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}]},
        {
            "topologySpreadConstraints": [
                {"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2},
                {"topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
            ]
        },
        {
            "topologySpreadConstraints": [
                {"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2},
                {"topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3},
            ]
        },
    ),
    (
        "replaces the source of a volume",
        {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}]},
        {"volumes": [{"name": "b", "hostPath": {"path": "/x"}}]},
        {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/x"}}]},
    ),
    (
        "merges the same source of a volume",
        {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "1Gi"}}]},
        {"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}]},
        {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"}}]},
    ),
    (
        "ignores a null source of a volume",
        {"volumes": [{"name": "a", "emptyDir": {}}]},
        {"volumes": [{"name": "a", "emptyDir": None, "hostPath": {"path": "/x"}}]},
        {"volumes": [{"name": "a", "hostPath": {"path": "/x"}}]},
    ),
    (
        "keeps a volume without a new source",
        {"volumes": [{"name": "a", "emptyDir": {}}]},
        {"volumes": [{"name": "a"}]},
        {"volumes": [{"name": "a", "emptyDir": {}}]},
    ),
    (
        "keeps a volume with a null source",
        {"volumes": [{"name": "a", "emptyDir": {}}]},
        {"volumes": [{"name": "a", "hostPath": None}]},
        {"volumes": [{"name": "a", "emptyDir": {}}]},
    ),
    (
        "replaces the source of a resource claim",
        {"resourceClaims": [{"name": "a", "resourceClaimName": "b"}]},
        {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "c"}]},
        {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "c"}]},
    ),
    (
        "keeps other fields of a container",
        {"containers": [{"name": "a", "image": "i", "command": ["c"]}]},
        {"containers": [{"name": "a", "image": "j"}]},
        {"containers": [{"name": "a", "image": "j", "command": ["c"]}]},
    ),
    ("replaces a list with an item that has no key", {"env": [{"name": "A"}]}, {"env": [{}]}, {"env": [{}]}),
]


@pytest.mark.parametrize(("base", "change", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_merge(base: dict[str, Any], change: dict[str, Any], expected: dict[str, Any]) -> None:
    assert strategic_merge(base, change) == expected


@pytest.mark.parametrize(
    ("field", "item", "key"),
    [
        ("env", {"name": "A"}, ("A",)),
        ("imagePullSecrets", {"name": "A"}, ("A",)),
        ("resourceClaims", {"name": "A"}, ("A",)),
        ("volumes", {"name": "A"}, ("A",)),
        ("initContainers", {"name": "A"}, ("A",)),
        ("volumeDevices", {"devicePath": "/dev/a"}, ("/dev/a",)),
        ("ports", {"containerPort": 1}, (1, "TCP")),
        ("env", {}, None),
        ("env", "text", None),
        ("tolerations", {"key": "a"}, None),
    ],
)
def test_merge_keys(field: str, item: Any, key: tuple[Any, ...] | None) -> None:
    assert merge_key(field, item) == key


def named(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.fixed_dictionaries({"name": st.sampled_from("ab")}, optional={"value": values}), max_size=4)


plain = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x"])
trees = st.recursive(
    plain,
    lambda values: (
        st.lists(values, max_size=2)
        | named(values)
        | st.dictionaries(st.sampled_from(["a", "env", "containers", "command", "volumes"]), values, max_size=3)
    ),
    max_leaves=12,
)
templates = st.dictionaries(st.sampled_from(["a", "env", "containers", "command", "volumes"]), trees, max_size=4)


@given(templates)
def test_empty_patch_changes_nothing(base: dict[str, Any]) -> None:
    assert strategic_merge(base, {}) == base


@given(templates, templates)
def test_merge_is_idempotent(base: dict[str, Any], change: dict[str, Any]) -> None:
    once = strategic_merge(base, change)
    assert strategic_merge(once, change) == once


@given(templates, templates)
def test_arguments_are_not_changed(base: dict[str, Any], change: dict[str, Any]) -> None:
    before = copy.deepcopy((base, change))
    strategic_merge(base, change)
    assert (base, change) == before
