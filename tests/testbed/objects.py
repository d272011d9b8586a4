# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every control plane of the test bed holds from the start."""

from __future__ import annotations

from typing import Any

NODES = ("node-0", "node-1", "node-2")
STORAGE_CLASSES = {
    "standard": ("test/kwok", "Immediate"),
    "standard-wait": ("test/kwok-wait", "WaitForFirstConsumer"),
}


def initial_objects() -> list[tuple[str, dict[str, Any]]]:
    """Path and body of each object to create."""
    nodes = [("/api/v1/nodes", node(name, f"zone-{'abc'[number]}")) for number, name in enumerate(NODES)]
    path = "/apis/storage.k8s.io/v1/storageclasses"
    return nodes + [(path, storage_class(name, *how)) for name, how in STORAGE_CLASSES.items()]


def node(name: str, zone: str) -> dict[str, Any]:
    """A node whose kubelet is simulated."""
    size = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake", "node.alpha.kubernetes.io/ttl": "0"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/zone": zone,
                "type": "kwok",
            },
        },
        "status": {"allocatable": size, "capacity": size},
    }


def storage_class(name: str, provisioner: str, binding: str) -> dict[str, Any]:
    """A class whose volumes are simulated and can grow; the one called standard is the default."""
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
