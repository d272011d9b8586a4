# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The list types and defaults of server-side apply, for the kinds that we write."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.list_types import SCALAR, Shape, shape_of
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.every_feature import MANIFESTS

POD = ("spec", "template", "spec")


def shape(kind: str, *path: str) -> Shape:
    """Return the shape at the end of a path; [] leads to the elements of a list."""
    found = shape_of(kind)
    for step in path:
        found = found.element if step == "[]" else found.child(step)
    return found


# (kind, path, atomic, set, keys, quantity, free map)
TABLE: list[tuple[str, tuple[str, ...], bool, bool, tuple[str, ...], bool, bool]] = [
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


@pytest.mark.parametrize("row", TABLE, ids=[f"{row[0]}.{'.'.join(row[1])}" for row in TABLE])
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
