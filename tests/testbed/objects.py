# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every control plane of the test bed holds from the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NODES = ("node-0", "node-1", "node-2")
STORAGE_CLASSES = {
    "standard": ("test/kwok", "Immediate"),
    "standard-wait": ("test/kwok-wait", "WaitForFirstConsumer"),
}
# Beside a real node: the default class has real directories, and another one file systems that can be full.
DIRECTORIES, FILE_SYSTEMS = "test/directory", "test/file-system"
_REAL_STORAGE_CLASSES = {
    "standard": (DIRECTORIES, "WaitForFirstConsumer"),
    "sized": (FILE_SYSTEMS, "WaitForFirstConsumer"),
    "simulated": ("test/kwok-wait", "WaitForFirstConsumer"),
}
_SIMULATED, _FAKE = "kwok.x-k8s.io/node", "fake"
# The annotation of nodes whose kubelet is simulated.
SIMULATED = f"{_SIMULATED}={_FAKE}"


def initial_objects(*, real_node: bool = False) -> list[tuple[str, dict[str, Any]]]:
    """Path and body of each object to create; beside a real node, only pods that tolerate it are simulated."""
    taints = [{"key": _SIMULATED, "value": _FAKE, "effect": "NoSchedule"}] if real_node else []
    nodes = [("/api/v1/nodes", node(name, f"zone-{'abc'[number]}", taints)) for number, name in enumerate(NODES)]
    path = "/apis/storage.k8s.io/v1/storageclasses"
    classes = _REAL_STORAGE_CLASSES if real_node else STORAGE_CLASSES
    return nodes + [(path, storage_class(name, *how)) for name, how in classes.items()]


def node(name: str, zone: str, taints: Sequence[dict[str, str]] = ()) -> dict[str, Any]:
    """A node whose kubelet is simulated."""
    size = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {_SIMULATED: _FAKE, "node.alpha.kubernetes.io/ttl": "0"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/zone": zone,
                "type": "kwok",
            },
        },
        "spec": {"taints": list(taints)},
        "status": {"allocatable": size, "capacity": size},
    }


def storage_class(name: str, provisioner: str, binding: str) -> dict[str, Any]:
    """A class whose volumes can grow; the one called standard is the default."""
    default = str(name == "standard").lower()
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": {"storageclass.kubernetes.io/is-default-class": default}},
        "provisioner": provisioner,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": binding,
        "allowVolumeExpansion": True,
    }
