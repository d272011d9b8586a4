# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recorded outputs of the Go operator, and the comparison with them."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster

DIRECTORY = Path(__file__).parent / "recorded"
NAMES = sorted(path.stem for path in DIRECTORY.glob("*.json"))
RESOURCES = [(name, form) for name in NAMES for form in ("applied", "stored")]

Identity = tuple[str, str]

# The defaults of kube-apiserver 1.34.
DEFAULTS: tuple[tuple[str, Any], ...] = (
    (r"Deployment\.spec\.progressDeadlineSeconds", 600),
    (r"Deployment\.spec\.strategy\.rollingUpdate", {"maxSurge": "25%", "maxUnavailable": "25%"}),
    (r"(Deployment|StatefulSet)\.spec\.revisionHistoryLimit", 10),
    (
        r"StatefulSet\.spec\.persistentVolumeClaimRetentionPolicy",
        {"whenDeleted": "Retain", "whenScaled": "Retain"},
    ),
    (r"StatefulSet\.spec\.updateStrategy", {"rollingUpdate": {"partition": 0}, "type": "RollingUpdate"}),
    (r"StatefulSet\.spec\.updateStrategy\.rollingUpdate", {"partition": 0}),
    (r"StatefulSet\.spec\.volumeClaimTemplates\[\]\.apiVersion", "v1"),
    (r"StatefulSet\.spec\.volumeClaimTemplates\[\]\.kind", "PersistentVolumeClaim"),
    (r"StatefulSet\.spec\.volumeClaimTemplates\[\]\.status", {"phase": "Pending"}),
    (r"(StatefulSet\.spec\.volumeClaimTemplates\[\]|PersistentVolumeClaim)\.spec\.volumeMode", "Filesystem"),
    (r".*\.template\.spec\.(initContainers|containers)\[\]\.resources", {}),
    (r".*\.template\.spec\.(initContainers|containers)\[\]\.imagePullPolicy", "IfNotPresent"),
    (r".*\.template\.spec\.(initContainers|containers)\[\]\.terminationMessagePath", "/dev/termination-log"),
    (r".*\.template\.spec\.(initContainers|containers)\[\]\.terminationMessagePolicy", "File"),
    (r".*\.template\.spec\.containers\[\]\.ports\[\]\.protocol", "TCP"),
    (r".*\.valueFrom\.fieldRef\.apiVersion", "v1"),
    (r".*Probe\.httpGet\.scheme", "HTTP"),
    (r".*Probe\.periodSeconds", 10),
    (r".*Probe\.timeoutSeconds", 1),
    (r".*Probe\.successThreshold", 1),
    (r".*Probe\.failureThreshold", 3),
    (r".*\.template\.spec\.volumes\[\]\.(configMap|secret|projected)\.defaultMode", 420),
    (r".*\.template\.spec\.dnsPolicy", "ClusterFirst"),
    (r".*\.template\.spec\.restartPolicy", "Always"),
    (r".*\.template\.spec\.schedulerName", "default-scheduler"),
    (r".*\.template\.spec\.securityContext", {}),
    (r".*\.template\.spec\.terminationGracePeriodSeconds", 30),
    # The old name of serviceAccountName; all recorded groups that specify one have this value.
    (r".*\.template\.spec\.serviceAccount", "default"),
    (r"Service\.spec\.internalTrafficPolicy", "Cluster"),
    (r"Service\.spec\.externalTrafficPolicy", "Cluster"),
    (r"Service\.spec\.ipFamilies", ["IPv4"]),
    (r"Service\.spec\.ipFamilyPolicy", "SingleStack"),
    (r"Service\.spec\.sessionAffinity", "None"),
    (r"Service\.spec\.type", "ClusterIP"),
    (r"Service\.spec\.ports\[\]\.protocol", "TCP"),
)

# Fields that the API server and other controllers set.
SET_BY_OTHERS = (
    r"\w+\.metadata\.(uid|resourceVersion|generation|creationTimestamp|managedFields)",
    r"\w+\.metadata\.annotations\.(druidOpResourceHash|deployment\.kubernetes\.io/revision)",
    r"PersistentVolumeClaim\.metadata\.annotations\.(pv|volume|volume\.beta)\.kubernetes\.io/.*",
    r"PersistentVolumeClaim\.metadata\.finalizers",
    r"PersistentVolumeClaim\.spec\.volumeName",
    r"(StatefulSet|Deployment|Service|Ingress|PodDisruptionBudget|HorizontalPodAutoscaler"
    r"|PersistentVolumeClaim)\.status",
    r"Service\.spec\.(clusterIP|clusterIPs)",
    r"Service\.spec\.ports\[\]\.nodePort",
)

QUANTITIES = r".*\.(requests|limits)\.[^.]+|.*\.sizeLimit"
MULTIPLES: dict[str, Any] = {
    "": 1,
    "m": Decimal("0.001"),
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
}


def resource(name: str, form: str = "stored") -> dict[str, Any]:
    """Return a recorded Druid resource."""
    found: dict[str, Any] = load(name)[form]
    return found


def load(name: str) -> dict[str, Any]:
    """Return a whole recording."""
    recording: dict[str, Any] = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return recording


def owned_objects(name: str) -> dict[Identity, dict[str, Any]]:
    """Return the objects that the Go operator wrote; PVCs of StatefulSets have no owner."""
    objects = load(name)["objects"]
    return {identity(found): found for found in objects if "ownerReferences" in found["metadata"]}


def preserved(name: str) -> dict[str, Preserved]:
    """Return the preserved fields of the recorded workloads, by group."""
    objects = owned_objects(name)
    groups = Cluster.from_resource(resource(name)).groups
    return {group.key: Preserved.from_workload(objects[group.kind, group.unique_name]) for group in groups}


def identity(manifest: dict[str, Any]) -> Identity:
    """Return the identity of an object in its namespace."""
    return manifest["kind"], manifest["metadata"]["name"]


def differences(ours: Any, recorded: Any, path: str) -> list[str]:
    """Return every field in which a rendered object differs from the recorded one."""
    if isinstance(ours, dict) and isinstance(recorded, dict):
        return _mapping_differences(ours, recorded, path)
    if isinstance(ours, list) and isinstance(recorded, list) and len(ours) == len(recorded):
        pairs = zip(ours, recorded, strict=True)
        return [line for left, right in pairs for line in differences(left, right, f"{path}[]")]
    return [] if _same(ours, recorded, path) else [f"{path}: ours {ours!r}, recorded {recorded!r}"]


def _mapping_differences(ours: dict[str, Any], recorded: dict[str, Any], path: str) -> list[str]:
    lines = []
    for key, value in ours.items():
        if key in recorded:
            lines += differences(value, recorded[key], f"{path}.{key}")
        elif value != "":
            lines.append(f"{path}.{key}: ours {value!r}, not recorded")
    unspecified = [key for key in recorded if key not in ours and not _expected(f"{path}.{key}", recorded[key])]
    return [*lines, *(f"{path}.{key}: recorded {recorded[key]!r}, not ours" for key in unspecified)]


def _expected(path: str, value: Any) -> bool:
    if any(re.fullmatch(pattern, path) for pattern in SET_BY_OTHERS):
        return True
    if re.fullmatch(r"\w+\.metadata\.annotations", path):
        return all(_expected(f"{path}.{key}", item) for key, item in value.items())
    return any(re.fullmatch(pattern, path) and value == default for pattern, default in DEFAULTS)


def _same(ours: Any, recorded: Any, path: str) -> bool:
    if re.fullmatch(QUANTITIES, path):
        return _number(str(ours)) == _number(str(recorded))
    return type(ours) is type(recorded) and ours == recorded


def _number(quantity: str) -> Decimal:
    digits = quantity.rstrip("mkKMGi")
    return Decimal(digits) * Decimal(MULTIPLES[quantity[len(digits) :]])
