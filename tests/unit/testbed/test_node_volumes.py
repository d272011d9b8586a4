# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which volumes are made, grown and removed for which PVCs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.testbed.node.volumes import decide

CLASS = "standard"
CLASSES = {CLASS: "test/directory", "sized": "test/file-system"}
DIRECTORY = Path("/volumes")


def claim(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A PVC for a pod that is scheduled to the node."""
    metadata = {"name": "data", "namespace": "a", "uid": "1"}
    return {
        "metadata": {**metadata, "annotations": {"volume.kubernetes.io/selected-node": "real"}},
        "spec": {
            "storageClassName": CLASS,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "2Gi"}},
            **spec,
        },
        "status": status or {"phase": "Pending"},
    }


def volume(phase: str, policy: str = "Delete", provisioner: str = "test/directory") -> dict[str, Any]:
    """The PV of the PVC."""
    return {
        "metadata": {"name": "pvc-1", "annotations": {"pv.kubernetes.io/provisioned-by": provisioner}},
        "spec": {"persistentVolumeReclaimPolicy": policy},
        "status": {"phase": phase},
    }


def decided(claims: list[dict[str, Any]], volumes: list[dict[str, Any]]) -> list[str]:
    """What is asked of the API server, in short."""
    requests = decide(claims, volumes, CLASSES, DIRECTORY, "real")
    return [f"{each.method} {each.path.rpartition('/v1/')[2]}" for each in requests]


def test_makes_a_directory_for_a_pod_of_the_node() -> None:
    (request,) = decide([claim()], [], CLASSES, DIRECTORY, "real")
    assert (request.method, request.path) == ("POST", "/api/v1/persistentvolumes")
    spec = request.body["spec"]
    assert spec["local"] == {"path": "/volumes/pvc-1"}
    assert spec["claimRef"]["uid"] == "1"
    assert spec["capacity"] == {"storage": "2Gi"}


def test_a_volume_is_of_the_provisioner_of_its_class() -> None:
    for name, provisioner in CLASSES.items():
        (request,) = decide([claim(storageClassName=name)], [], CLASSES, DIRECTORY, "real")
        assert request.body["metadata"]["annotations"] == {"pv.kubernetes.io/provisioned-by": provisioner}


WAITING = {
    "another class": claim(storageClassName="simulated"),
    "no pod yet": {**claim(), "metadata": {"name": "data", "namespace": "a", "uid": "1"}},
    "a pod of another node": {
        **claim(),
        "metadata": {"uid": "1", "annotations": {"volume.kubernetes.io/selected-node": "b"}},
    },
    "being deleted": {**claim(), "metadata": {**claim()["metadata"], "deletionTimestamp": "now"}},
}


@pytest.mark.parametrize("case", WAITING)
def test_makes_none_for(case: str) -> None:
    assert decided([WAITING[case]], []) == []


def test_makes_none_twice() -> None:
    assert decided([claim()], [volume("Available")]) == []


def test_grows_volume_and_claim() -> None:
    bound = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    grown = {"phase": "Bound", "capacity": {"storage": "2Gi"}}
    assert decided([claim(bound, volumeName="pvc-1")], [volume("Bound")]) == [
        "PATCH persistentvolumes/pvc-1",
        "PATCH namespaces/a/persistentvolumeclaims/data/status",
    ]
    assert decided([claim(grown, volumeName="pvc-1")], [volume("Bound")]) == []


def test_removes_only_its_own_that_are_released() -> None:
    for provisioner in CLASSES.values():
        assert decided([], [volume("Released", provisioner=provisioner)]) == ["DELETE persistentvolumes/pvc-1"]
    for other in (volume("Bound"), volume("Released", "Retain"), volume("Released", provisioner="other")):
        assert decided([], [other]) == []
