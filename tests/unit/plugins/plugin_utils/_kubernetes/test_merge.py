# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of applying a manifest to a live object, computed without the server."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import SELF
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import merge, remove
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.every_feature import MANIFESTS
from hypothesis import given
from hypothesis import strategies as st

Manifest = dict[str, Any]


def pod(**spec: Any) -> Manifest:
    return {"kind": "StatefulSet", "metadata": {"name": "n"}, "spec": {"template": {"spec": spec}}}


def container(**fields: Any) -> Manifest:
    return pod(containers=[{"name": "m", **fields}])


def metadata(**fields: Any) -> Manifest:
    return {"kind": "ConfigMap", "metadata": {"name": "n", **fields}}


def config_map(**data: str) -> Manifest:
    return {"kind": "ConfigMap", "metadata": {"name": "n"}, "data": data}


OWNER = {"apiVersion": "a/v1", "kind": "K", "name": "n", "uid": "u"}
CLAIM = {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
FIELD = {"fieldPath": "metadata.name"}

# (id, live, manifest): the live object has the same value in another notation.
SAME: list[tuple[str, Manifest, Manifest]] = [
    ("a quantity", container(resources={"limits": {"cpu": "500m"}}), container(resources={"limits": {"cpu": "0.5"}})),
    ("a number", container(resources={"limits": {"cpu": "1"}}), container(resources={"limits": {"cpu": 1}})),
    (
        "a quantity in bytes",
        pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1536Mi"}}]),
        pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1.5Gi"}}]),
    ),
    ("an empty string", container(env=[{"name": "A"}]), container(env=[{"name": "A", "value": ""}])),
    ("a false", pod(), pod(hostNetwork=False)),
    ("a zero", container(livenessProbe={}), container(livenessProbe={"initialDelaySeconds": 0})),
    ("an empty list", container(), container(args=[])),
    ("an empty map", metadata(), metadata(annotations={})),
    ("a null", container(), container(command=None)),
    (
        "a default in a list",
        container(ports=[{"containerPort": 1, "protocol": "TCP"}]),
        container(ports=[{"containerPort": 1}]),
    ),
    ("a default of another field", container(imagePullPolicy="Always", image="i"), container(image="i")),
    (
        "a default in an atomic list",
        {**pod(), "spec": {"volumeClaimTemplates": [claim_of_server := {
            **CLAIM, "apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"},
            "spec": {**CLAIM["spec"], "volumeMode": "Filesystem"},
        }]}},
        {**pod(), "spec": {"volumeClaimTemplates": [CLAIM]}},
    ),
    (
        "a null of the server in an atomic list",
        {**pod(), "spec": {"volumeClaimTemplates": [{**CLAIM, "metadata": {"name": "c", "creationTimestamp": None}}]}},
        {**pod(), "spec": {"volumeClaimTemplates": [CLAIM]}},
    ),
    (
        "a default of a field reference",
        container(env=[{"name": "A", "valueFrom": {"fieldRef": {**FIELD, "apiVersion": "v1"}}}]),
        container(env=[{"name": "A", "valueFrom": {"fieldRef": FIELD}}]),
    ),
    (
        "a default of an owner",
        metadata(ownerReferences=[{**OWNER, "blockOwnerDeletion": False}]),
        metadata(ownerReferences=[OWNER]),
    ),
    (
        "a foreign variable",
        container(env=[{"name": "X", "value": "1"}, {"name": "A", "value": "1"}]),
        container(env=[{"name": "A", "value": "1"}]),
    ),
    ("a foreign label", metadata(labels={"a": "1", "b": "2"}), metadata(labels={"a": "1"})),
    ("a foreign finalizer", metadata(finalizers=["a/b", "c/d"]), metadata(finalizers=["c/d"])),
]  # fmt: skip


@pytest.mark.parametrize(("live", "manifest"), [row[1:] for row in SAME], ids=[row[0] for row in SAME])
def test_equal_values_are_kept(live: Manifest, manifest: Manifest) -> None:
    assert merge(live, manifest) == live


ENV_A, ENV_B, ENV_C = ({"name": name, "value": "1"} for name in "ABC")
# (id, live, manifest, merged)
CHANGED: list[tuple[str, Manifest, Manifest, Manifest]] = [
    ("a value", container(image="a", tty=True), container(image="b"), container(image="b", tty=True)),
    ("another type", container(ports=[{"containerPort": 1, "name": "1"}]), container(ports=[{"containerPort": 1,
     "name": 1}]), container(ports=[{"containerPort": 1, "name": 1}])),
    ("a quantity", container(resources={"limits": {"cpu": "1"}}), container(resources={"limits": {"cpu": "1m"}}),
     container(resources={"limits": {"cpu": "1m"}})),
    ("an atomic list", container(args=["a", "b"]), container(args=["a"]), container(args=["a"])),
    ("the order of an atomic list", container(args=["a", "b"]), container(args=["b", "a"]), container(args=["b", "a"])),
    ("an atomic mapping", pod(nodeSelector={"a": "1"}), pod(nodeSelector={"b": "1"}), pod(nodeSelector={"b": "1"})),
    ("an added element", container(env=[ENV_A]), container(env=[ENV_A, ENV_B]), container(env=[ENV_A, ENV_B])),
    ("an element between", container(env=[ENV_A, ENV_C]), container(env=[ENV_A, ENV_B, ENV_C]),
     container(env=[ENV_A, ENV_B, ENV_C])),
    ("an element in front", container(env=[ENV_C]), container(env=[ENV_A, ENV_C]), container(env=[ENV_A, ENV_C])),
    ("an element after a foreign one", container(env=[ENV_C]), container(env=[ENV_A]), container(env=[ENV_C, ENV_A])),
    ("an element around a foreign one", container(env=[ENV_A, ENV_C]), container(env=[ENV_A, ENV_B]),
     container(env=[ENV_A, ENV_C, ENV_B])),
    ("another order", container(env=[ENV_A, ENV_B]), container(env=[ENV_B, ENV_A]), container(env=[ENV_B, ENV_A])),
    ("another order beside a foreign element", container(env=[ENV_C, ENV_A, ENV_B]), container(env=[ENV_B, ENV_A]),
     container(env=[ENV_C, ENV_B, ENV_A])),
    ("an element's field", container(env=[{**ENV_A, "value": "2"}]), container(env=[ENV_A]), container(env=[ENV_A])),
    ("one port of two protocols", container(ports=[{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]),
     container(ports=[{"containerPort": 1, "protocol": "UDP", "name": "u"}]),
     container(ports=[{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP", "name": "u"}])),
    ("a set", metadata(finalizers=["a/b"]), metadata(finalizers=["c/d"]), metadata(finalizers=["a/b", "c/d"])),
    ("an atomic owner reference", metadata(ownerReferences=[{**OWNER, "controller": False}]),
     metadata(ownerReferences=[{**OWNER, "controller": True}]),
     metadata(ownerReferences=[{**OWNER, "controller": True}])),
    ("a new mapping", container(), container(resources={"limits": {"cpu": "1"}}),
     container(resources={"limits": {"cpu": "1"}})),
    ("a file without content", config_map(a="1"), config_map(a="1", b=""), config_map(a="1", b="")),
    ("a choice that is an empty mapping", pod(volumes=[{"name": "v", "configMap": {"name": "c"}}]),
     pod(volumes=[{"name": "v", "emptyDir": {}}]),
     pod(volumes=[{"name": "v", "configMap": {"name": "c"}, "emptyDir": {}}])),
    ("a changed volume claim template", {**pod(), "spec": {"volumeClaimTemplates": [claim_of_server]}},
     {**pod(), "spec": {"volumeClaimTemplates": [{**CLAIM, "spec": {"accessModes": ["ReadWriteMany"]}}]}},
     {**pod(), "spec": {"volumeClaimTemplates": [{**CLAIM, "spec": {"accessModes": ["ReadWriteMany"]}}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("live", "manifest", "merged"), [row[1:] for row in CHANGED], ids=[row[0] for row in CHANGED])
def test_merge(live: Manifest, manifest: Manifest, merged: Manifest) -> None:
    assert merge(live, manifest) == merged


NAMED_A, NAMED_B = 'k:{"name":"A"}', 'k:{"name":"B"}'


def of_main(fields: Manifest) -> Manifest:
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"m"}': fields}}}}}


# (id, live, fields, remaining)
REMOVED: list[tuple[str, Manifest, Manifest, Manifest]] = [
    ("nothing", config_map(a="1"), {}, config_map(a="1")),
    ("a missing key", config_map(a="1"), {"f:data": {"f:b": {}}}, config_map(a="1")),
    ("a key", config_map(a="1", b="2"), {"f:data": {"f:b": {}}}, config_map(a="1")),
    ("the last key", config_map(a="1"), {"f:data": {"f:a": {}}}, metadata()),
    ("all", config_map(a="1"), {"f:data": {}}, metadata()),
    ("only the mapping itself", config_map(a="1"), {"f:data": {SELF: {}}}, metadata()),
    ("a field of an element", container(image="i", tty=True), of_main({"f:tty": {}}), container(image="i")),
    (
        "an element",
        container(env=[ENV_A, ENV_B]),
        of_main({"f:env": {NAMED_A: {SELF: {}, "f:name": {}, "f:value": {}}}}),
        container(env=[ENV_B]),
    ),
    ("a whole element", container(env=[ENV_A, ENV_B]), of_main({"f:env": {NAMED_B: {}}}), container(env=[ENV_A])),
    (
        "a port with a default key",
        container(ports=[{"containerPort": 1}, {"containerPort": 2}]),
        of_main({"f:ports": {'k:{"containerPort":2,"protocol":"TCP"}': {}}}),
        container(ports=[{"containerPort": 1}]),
    ),
    (
        "a value of a set",
        metadata(finalizers=["a/b", "c/d"]),
        {"f:metadata": {"f:finalizers": {'v:"a/b"': {}}}},
        metadata(finalizers=["c/d"]),
    ),
    (
        "a value with quotes",
        metadata(finalizers=['"', "c/d"]),
        {"f:metadata": {"f:finalizers": {'v:"\\""': {}}}},
        metadata(finalizers=["c/d"]),
    ),
]


@pytest.mark.parametrize(("live", "fields", "rest"), [row[1:] for row in REMOVED], ids=[row[0] for row in REMOVED])
def test_remove(live: Manifest, fields: Manifest, rest: Manifest) -> None:
    before = deepcopy(live)
    assert remove(live, fields) == rest
    assert live == before


PAIRS = [
    (live, manifest)
    for live in MANIFESTS.values()
    for manifest in MANIFESTS.values()
    if live["kind"] == manifest["kind"] and live["metadata"]["name"] == manifest["metadata"]["name"]
]


@given(st.sampled_from(PAIRS))
def test_merge_is_idempotent(pair: tuple[Manifest, Manifest]) -> None:
    live, manifest = pair
    once = merge(live, manifest)
    assert merge(once, manifest) == once


@given(st.sampled_from(PAIRS))
def test_merge_does_not_change_its_arguments(pair: tuple[Manifest, Manifest]) -> None:
    before = deepcopy(pair)
    merge(*pair)
    assert pair == before


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=MANIFESTS)
def test_merge_with_itself_changes_nothing(manifest: Manifest) -> None:
    assert merge(deepcopy(manifest), manifest) == manifest
