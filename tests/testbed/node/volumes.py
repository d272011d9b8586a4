# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Provides the volumes of a node: directories, as local PersistentVolumes, so that the kubelet applies fsGroup.

It makes them for the PVCs of its StorageClasses, grows them (directories in name), and removes those that are released.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..api import Api, ApiError
from ..objects import DIRECTORIES, FILE_SYSTEMS
from ..users import read_tokens
from . import file_systems
from .machine import Machine
from .running import machine_of

_SELECTED = "volume.kubernetes.io/selected-node"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_VOLUMES = "/api/v1/persistentvolumes"
_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
_MERGE = "application/merge-patch+json"
_INTERVAL = 0.3


@dataclass(frozen=True)
class Request:
    """What to ask of the API server."""

    method: str
    path: str
    body: Any = None


def decide(
    claims: list[dict[str, Any]],
    volumes: list[dict[str, Any]],
    classes: Mapping[str, str],
    directory: Path,
    node: str,
) -> Iterator[Request]:
    """What there is to do for these PVCs and PVs; the classes have their provisioners."""
    known = {volume["metadata"]["name"] for volume in volumes}
    for claim in claims:
        spec, metadata = claim["spec"], claim["metadata"]
        if spec.get("storageClassName") not in classes or metadata.get("deletionTimestamp"):
            continue
        if spec.get("volumeName"):
            yield from _growth(claim)
        elif metadata.get("annotations", {}).get(_SELECTED) == node and volume_name(claim) not in known:
            provisioner = classes[spec["storageClassName"]]
            yield Request("POST", _VOLUMES, _volume(claim, directory / volume_name(claim), node, provisioner))
    for volume in volumes:
        if _is_ours(volume) and volume["status"].get("phase") == "Released":
            yield Request("DELETE", f"{_VOLUMES}/{volume['metadata']['name']}")


def volume_name(claim: dict[str, Any]) -> str:
    """The name of a PVC's volume."""
    return f"pvc-{claim['metadata']['uid']}"


def _growth(claim: dict[str, Any]) -> Iterator[Request]:
    desired = claim["spec"]["resources"]["requests"]["storage"]
    status = claim.get("status", {})
    if status.get("phase") == "Bound" and status.get("capacity", {}).get("storage") != desired:
        metadata, capacity = claim["metadata"], {"capacity": {"storage": desired}}
        path = f"/api/v1/namespaces/{metadata['namespace']}/persistentvolumeclaims/{metadata['name']}/status"
        yield Request("PATCH", f"{_VOLUMES}/{claim['spec']['volumeName']}", {"spec": capacity})
        yield Request("PATCH", path, {"status": {**capacity, "conditions": None}})


def _is_ours(volume: dict[str, Any]) -> bool:
    metadata, spec = volume["metadata"], volume["spec"]
    ours = _provisioner(volume) in (DIRECTORIES, FILE_SYSTEMS)
    return ours and spec["persistentVolumeReclaimPolicy"] == "Delete" and not metadata.get("deletionTimestamp")


def _provisioner(volume: dict[str, Any]) -> str | None:
    found: str | None = volume["metadata"].get("annotations", {}).get(_PROVISIONED_BY)
    return found


def _volume(claim: dict[str, Any], directory: Path, node: str, provisioner: str) -> dict[str, Any]:
    metadata, spec = claim["metadata"], claim["spec"]
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {
        "metadata": {"name": directory.name, "annotations": {_PROVISIONED_BY: provisioner}},
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "accessModes": spec["accessModes"],
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec["storageClassName"],
            "local": {"path": str(directory)},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                **{name: metadata[name] for name in ("namespace", "name", "uid")},
            },
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }


def main() -> None:
    """Provide volumes until the end; the arguments are the directory and the address of the control plane, a node."""
    plane, url, node = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    token = read_tokens(plane / "tokens.csv")["volumes"]
    api = Api(url, authority=plane / "ca.crt", authorization=f"Bearer {token}")
    place = Place(plane / "node" / "volumes", machine_of(plane))
    while True:
        try:
            _once(api, place, node)
        except (ApiError, OSError) as error:
            print(error, flush=True)
        time.sleep(_INTERVAL)


@dataclass(frozen=True)
class Place:
    """Where the volumes are: in a directory of the machine that the node is."""

    directory: Path
    machine: Machine

    def change(self, request: Request, sized: set[str]) -> None:
        """Do with the directory what the request reports to the API server; `sized` are the names of file systems."""
        if request.method == "POST":
            volume = self.directory / request.body["metadata"]["name"]
            volume.mkdir(exist_ok=True)
            if _provisioner(request.body) == FILE_SYSTEMS:
                file_systems.make(self.machine, volume, request.body["spec"]["capacity"]["storage"])
            return
        volume = self.directory / request.path.rpartition("/")[2]
        if request.method == "PATCH" and volume.name in sized:
            file_systems.grow(self.machine, volume, request.body["spec"]["capacity"]["storage"])
        if request.method == "DELETE":
            if volume.name in sized:
                file_systems.remove(self.machine, volume)
            shutil.rmtree(volume, ignore_errors=True)


def _once(api: Api, place: Place, node: str) -> None:
    classes = {each["metadata"]["name"]: each["provisioner"] for each in api.request("GET", _CLASSES)["items"]}
    ours = {name: provisioner for name, provisioner in classes.items() if provisioner in (DIRECTORIES, FILE_SYSTEMS)}
    claims = api.request("GET", "/api/v1/persistentvolumeclaims")["items"]
    volumes = api.request("GET", _VOLUMES)["items"]
    sized = {each["metadata"]["name"] for each in volumes if _provisioner(each) == FILE_SYSTEMS}
    for request in decide(claims, volumes, ours, place.directory, node):
        place.change(request, sized)
        kind = _MERGE if request.method == "PATCH" else "application/json"
        api.request(request.method, request.path, request.body, content_type=kind)
