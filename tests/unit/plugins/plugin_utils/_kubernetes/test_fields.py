# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The structure of objects for server-side apply, and sets of their fields."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    SCALAR,
    SELF,
    FieldSet,
    Shape,
    below,
    difference,
    field_set,
    intersection,
    shape_of,
    union,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.every_feature import MANIFESTS
from hypothesis import given
from hypothesis import strategies as st

POD = ("spec", "template", "spec")


def shape(kind: str, *path: str) -> Shape:
    """Return the shape at the end of a path; [] leads to the elements of a list."""
    found = shape_of(kind)
    for step in path:
        found = found.element if step == "[]" else found.child(step)
    return found


# (kind, path, atomic, set, keys, quantity, free map)
SHAPES: list[tuple[str, tuple[str, ...], bool, bool, tuple[str, ...], bool, bool]] = [
    ("ConfigMap", ("data",), False, False, (), False, True),
    ("ConfigMap", ("metadata", "finalizers"), False, True, (), False, False),
    ("ConfigMap", ("metadata", "ownerReferences"), False, False, ("uid",), False, False),
    ("ConfigMap", ("metadata", "ownerReferences", "[]"), True, False, (), False, False),
    ("Service", ("spec", "ports"), False, False, ("port", "protocol"), False, False),
    ("Service", ("spec", "selector"), True, False, (), False, True),
    ("Service", ("spec", "clusterIP"), False, False, (), False, False),
    ("StatefulSet", ("spec", "selector"), True, False, (), False, False),
    ("StatefulSet", ("spec", "volumeClaimTemplates"), True, False, (), False, False),
    ("StatefulSet", (*POD, "containers"), False, False, ("name",), False, False),
    ("StatefulSet", (*POD, "containers", "[]", "ports"), False, False, ("containerPort", "protocol"), False, False),
    ("StatefulSet", (*POD, "containers", "[]", "args"), True, False, (), False, False),
    ("StatefulSet", (*POD, "containers", "[]", "resources", "limits"), False, False, (), False, True),
    ("StatefulSet", (*POD, "containers", "[]", "resources", "limits", "cpu"), False, False, (), True, False),
    ("StatefulSet", (*POD, "volumes", "[]", "emptyDir", "sizeLimit"), False, False, (), True, False),
    ("StatefulSet", (*POD, "tolerations"), True, False, (), False, False),
    ("StatefulSet", (*POD, "imagePullSecrets"), False, False, ("name",), False, False),
    ("StatefulSet", (*POD, "nodeSelector"), True, False, (), False, True),
    ("StatefulSet", (*POD, "hostAliases"), False, False, ("ip",), False, False),
    ("Deployment", ("spec", "strategy"), False, False, (), False, False),
    ("Ingress", ("spec", "rules"), True, False, (), False, False),
    ("PodDisruptionBudget", ("spec", "selector"), True, False, (), False, False),
    ("HorizontalPodAutoscaler", ("spec", "metrics"), True, False, (), False, False),
    ("PersistentVolumeClaim", ("spec", "resources", "requests", "storage"), False, False, (), True, False),
]


@pytest.mark.parametrize("row", SHAPES, ids=[f"{row[0]}.{'.'.join(row[1])}" for row in SHAPES])
def test_shape(row: tuple[str, tuple[str, ...], bool, bool, tuple[str, ...], bool, bool]) -> None:
    kind, path, atomic, is_set, keys, quantity, free = row
    found = shape(kind, *path)
    assert (found.is_atomic, found.is_set, found.keys) == (atomic, is_set, keys)
    assert (found.is_quantity, found.is_free_map) == (quantity, free)


def test_missing_key_has_the_default_of_the_server() -> None:
    ports = shape("StatefulSet", *POD, "containers", "[]", "ports")
    assert ports.key_of({"containerPort": 1}) == ports.key_of({"containerPort": 1, "protocol": "TCP"}) == (1, "TCP")
    assert shape("StatefulSet", *POD, "containers").key_of({}) == (None,)


def test_unknown_field_is_a_scalar() -> None:
    assert shape("ConfigMap", "unheardOf") == SCALAR
    assert SCALAR.child("a") == SCALAR.element == SCALAR
    assert not SCALAR.is_atomic


def test_every_rendered_kind_has_a_shape() -> None:
    assert {shape_of(manifest["kind"]).type for manifest in MANIFESTS.values()} == {
        manifest["kind"] for manifest in MANIFESTS.values()
    }


Paths = set[tuple[str, ...]]


def paths(fields: FieldSet, *above: str) -> Paths:
    """Return every path that is owned itself."""
    found: Paths = set()
    for step, children in fields.items():
        if step == SELF:
            found.add(above)
        elif not children:
            found.add((*above, step))
        else:
            found |= paths(children, *above, step)
    return found


def leaves(fields: FieldSet) -> Paths:
    """Return the paths of the leaves: an Update also owns each mapping on the path, an Apply does not."""
    every = paths(fields)
    prefixes = {path[:length] for path in every for length in range(len(path))}
    return every - prefixes


# Never in an entry of the Go operator: allocated by the server after it records the fields, or owned by others.
ALLOCATED = {
    ("f:spec", "f:clusterIP"),
    ("f:spec", "f:clusterIPs"),
    ("f:spec", "f:ipFamilies"),
    ("f:spec", "f:ipFamilyPolicy"),
    ("f:metadata", "f:annotations", "f:deployment.kubernetes.io/revision"),
    ("f:metadata", "f:finalizers", 'v:"kubernetes.io/pvc-protection"'),
}


def is_unattributed(path: tuple[str, ...]) -> bool:
    """Return whether the server does not record the path: a duplicate key, or the ineffective serviceName."""
    duplicates = ('k:{"name":"A"}', 'k:{"containerPort":8082,"protocol":"TCP"}')
    return path in ALLOCATED or path[-1] == "f:serviceName" or any(step in path for step in duplicates)


OBJECTS = {name: recording.load(name)["objects"] for name in recording.NAMES}
RECORDED = [(name, index) for name, objects in OBJECTS.items() for index, _object in enumerate(objects)]


@pytest.mark.parametrize(("name", "index"), RECORDED)
def test_field_set_matches_the_recorded_managed_fields(name: str, index: int) -> None:
    live = OBJECTS[name][index]
    entries = [each for each in live["metadata"]["managedFields"] if not each.get("subresource")]
    recorded = set().union(*(leaves(each["fieldsV1"]) for each in entries))
    ours = leaves(field_set(live))
    assert {path for path in recorded ^ ours if not is_unattributed(path)} == set()


def config_map(**content: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "namespace": "ns"}, **content}


def pod(kind: str = "StatefulSet", **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "n"}}
    return {**head, "spec": {"template": {"spec": spec}}}


TABLE: list[tuple[str, dict[str, Any], FieldSet]] = [
    ("no field of the identity", config_map(status={"a": 1}), {}),
    ("a map", config_map(data={"a.txt": "1"}), {"f:data": {"f:a.txt": {}}}),
    ("an empty map at the top", config_map(data={}), {}),
    (
        "labels",
        {**config_map(), "metadata": {"name": "n", "labels": {"a/b": "1"}, "uid": "u"}},
        {"f:metadata": {"f:labels": {"f:a/b": {}}}},
    ),
    (
        "owners and finalizers",
        {**config_map(), "metadata": {"ownerReferences": [{"uid": "u", "name": "n"}], "finalizers": ["x/y"]}},
        {"f:metadata": {"f:ownerReferences": {'k:{"uid":"u"}': {}}, "f:finalizers": {'v:"x/y"': {}}}},
    ),
]
PODS: list[tuple[str, dict[str, Any], FieldSet]] = [
    ("an atomic list", {"tolerations": [{"key": "a"}]}, {"f:tolerations": {}}),
    ("an atomic mapping", {"nodeSelector": {"a": "1"}}, {"f:nodeSelector": {}}),
    ("an empty mapping", {"affinity": {}}, {"f:affinity": {}}),
    (
        "a list by name",
        {"containers": [{"name": "m", "args": ["a"]}]},
        {"f:containers": {'k:{"name":"m"}': {SELF: {}, "f:name": {}, "f:args": {}}}},
    ),
    (
        "a list by two keys, one with a default",
        {"containers": [{"name": "m", "ports": [{"containerPort": 1}]}]},
        {
            "f:containers": {
                'k:{"name":"m"}': {
                    SELF: {},
                    "f:name": {},
                    "f:ports": {'k:{"containerPort":1,"protocol":"TCP"}': {SELF: {}, "f:containerPort": {}}},
                }
            }
        },
    ),
    (
        "quantities",
        {"containers": [{"name": "m", "resources": {"limits": {"cpu": 1}}}]},
        {"f:containers": {'k:{"name":"m"}': {SELF: {}, "f:name": {}, "f:resources": {"f:limits": {"f:cpu": {}}}}}},
    ),
]


@pytest.mark.parametrize(("manifest", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_field_set(manifest: dict[str, Any], expected: FieldSet) -> None:
    assert field_set(manifest) == expected


@pytest.mark.parametrize(("spec", "expected"), [row[1:] for row in PODS], ids=[row[0] for row in PODS])
def test_field_set_of_a_pod_template(spec: dict[str, Any], expected: FieldSet) -> None:
    assert field_set(pod(**spec)) == {"f:spec": {"f:template": {"f:spec": expected}}}


def ingress(port: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Ingress", "metadata": {}, "spec": {"defaultBackend": {"service": {"name": "s", "port": port}}}}


def of_port(owned: FieldSet) -> FieldSet:
    return {"f:spec": {"f:defaultBackend": {"f:service": {"f:name": {}, "f:port": owned}}}}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({}, {}),
        (of_port({}), {}),
        (of_port({"f:number": {}}), {"f:number": {}}),
        (of_port({"f:name": {}}), {"f:number": {}}),
    ],
    ids=["nothing", "atomic", "its fields", "another field"],
)
def test_port_as_the_server_version_records_it(recorded: FieldSet, expected: FieldSet) -> None:
    assert field_set(ingress({"number": 80}), recorded) == of_port(expected)


def test_unsupported_kind() -> None:
    with pytest.raises(KeyError, match="Pod"):
        field_set({"kind": "Pod", "metadata": {}})


STEPS = st.sampled_from(["f:a", "f:b", 'k:{"name":"c"}', 'v:"d"'])


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> FieldSet:
    """Return a field set as the server writes one: a node without children is owned itself, without a SELF entry."""
    steps = draw(st.lists(STEPS, unique=True, max_size=3))
    fields: FieldSet = {step: draw(trees(depth=depth - 1)) if depth else {} for step in steps}
    return {SELF: {}, **fields} if fields and depth < 3 and draw(st.booleans()) else fields


@given(trees(), trees())
def test_operations_are_those_of_sets_of_paths(first: FieldSet, second: FieldSet) -> None:
    assert paths(union(first, second)) == paths(first) | paths(second)
    assert paths(difference(first, second)) == paths(first) - paths(second)
    assert paths(intersection(first, second)) == paths(first) & paths(second)


@given(trees(), trees())
def test_operations_do_not_change_their_arguments(first: FieldSet, second: FieldSet) -> None:
    before = repr((first, second))
    union(first, second), difference(first, second), intersection(first, second)
    assert repr((first, second)) == before


@given(trees(), STEPS, STEPS)
def test_below_returns_all_paths_with_the_prefix(fields: FieldSet, first: str, second: str) -> None:
    part = paths(below(fields, first, second))
    assert part == {path for path in paths(fields) if path[:2] == (first, second)}
    assert paths(below(fields)) == paths(fields)


UNIONS: list[tuple[FieldSet, FieldSet, FieldSet]] = [
    ({}, {}, {}),
    ({"f:a": {}}, {}, {"f:a": {}}),
    ({}, {"f:a": {}}, {"f:a": {}}),
    ({"f:a": {}}, {"f:a": {}}, {"f:a": {}}),
    ({"f:a": {}}, {"f:a": {"f:b": {}}}, {"f:a": {SELF: {}, "f:b": {}}}),
]


@pytest.mark.parametrize(("first", "second", "both"), UNIONS)
def test_union(first: FieldSet, second: FieldSet, both: FieldSet) -> None:
    assert union(first, second) == both
