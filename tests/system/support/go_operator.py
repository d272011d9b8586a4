# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Go operator, as far as the API server sees it: its recorded objects, made by POST, updated by PUT."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    Manifest,
    NamespaceClient,
    without_status,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from testbed.api import ApiError
from testbed.control_plane import ControlPlane

# The hashes in the recorded pod templates depend on the namespace.
NAMESPACE = "golden"
# The name of its binary is the name of its field manager: in its image, run from source, and built by hand.
MANAGERS = ("manager", "main", "druid-operator")
HASH = "druidOpResourceHash"
WORKLOADS = ("StatefulSet", "Deployment")
CLAIM = "PersistentVolumeClaim"
# What the API server and the controllers write.
_BOOKKEEPING = ("managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink")
_REVISION = "deployment.kubernetes.io/revision"


@contextmanager
def recorded_namespace(plane: ControlPlane) -> Iterator[NamespaceClient]:
    """Yield the namespace of the recordings, empty: a control plane has one, for one test at a time."""
    with (plane.ca_file.parent / f"{NAMESPACE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _emptied(NamespaceClient(plane, NAMESPACE))


def _emptied(live: NamespaceClient) -> NamespaceClient:
    try:
        live.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": live.namespace}})
    except ApiError as error:
        if error.status != 409:
            raise
    clear(live)
    return live


def clear(live: NamespaceClient) -> None:
    """Delete everything in the namespace, and wait until it is deleted."""
    for resource in live.list("Druid"):
        if resource["metadata"].get("finalizers"):
            live.merge("Druid", resource["metadata"]["name"], {"metadata": {"finalizers": None}})
    for kind in ("Druid", *CREATED_KINDS, "Pod", "Secret"):
        live.plane.request("DELETE", f"{live.path(kind)}?gracePeriodSeconds=0&propagationPolicy=Background")
    eventually(lambda: not any(live.names(kind) for kind in ("Druid", *CREATED_KINDS, "Pod")))


@dataclass(frozen=True)
class GoOperator:
    """One recording in the recordings' namespace, written by the user go-operator with that field manager."""

    live: NamespaceClient
    name: str
    manager: str = MANAGERS[0]
    # Another binary created the objects, if it is provided.
    maker: str | None = None
    # What the resource has besides what was recorded, and what that makes of each object.
    spec: Manifest = field(default_factory=dict)
    change: Callable[[Manifest], object] = lambda _manifest: None

    def run(self) -> GoOperator:
        """Create the resource as a user, and create and update the objects as recorded."""
        recorded = deepcopy(recording.resource(self.name, "applied"))
        self.live.create({**recorded, "metadata": {"name": self.name}, "spec": {**recorded["spec"], **self.spec}})
        for manifest in self.manifests():
            # It could not replace a PVC with another hash: it is bound.
            earlier = {} if manifest["kind"] == CLAIM else {HASH: "of an earlier version"}
            annotations = {**manifest["metadata"]["annotations"], **earlier}
            body = {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}
            self._send("POST", body, self.maker or self.manager)
        eventually(lambda: all(claim["spec"].get("volumeName") for claim in self.live.list(CLAIM)))
        self.write()
        return self

    def write(self, chosen: Callable[[Manifest], bool] = lambda _manifest: True) -> None:
        """
        Replace each chosen object by the recorded one, whatever it is now, as the operator does with another hash.

        A PVC only if it really has another hash: it would be rejected.
        """
        for manifest in self.manifests():
            if chosen(manifest) and (manifest["kind"] != CLAIM or self._differs(manifest)):
                eventually(partial(self._replace, manifest))

    def _differs(self, manifest: Manifest) -> bool:
        """True when the object does not carry the hash of the recorded one."""
        live = self.live.get(manifest["kind"], manifest["metadata"]["name"])
        annotations: dict[str, str] = live["metadata"].get("annotations") or {}
        return annotations.get(HASH) != manifest["metadata"]["annotations"][HASH]

    def forget_owners(self) -> None:
        """Take the record of field managers off every object, as some tools do that copy clusters."""
        for kind, name in recording.owned_objects(self.name):
            self.live.merge(kind, name, {"metadata": {"managedFields": [{}]}})
            assert not self.live.get(kind, name)["metadata"].get("managedFields")

    def _replace(self, manifest: Manifest) -> Manifest | None:
        """Return what was stored, or None when a controller was faster."""
        live = self.live.get(manifest["kind"], manifest["metadata"]["name"])
        replacement = deepcopy(manifest)
        replacement["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"]
        for address in ("clusterIP", "clusterIPs"):
            if manifest["kind"] == "Service":
                replacement["spec"][address] = live["spec"][address]
        try:
            return self._send("PUT", replacement, self.manager)
        except ApiError as error:
            if error.status != 409:
                raise
            return None

    def _send(self, method: str, manifest: Manifest, manager: str) -> Manifest:
        name = manifest["metadata"]["name"] if method == "PUT" else ""
        path = f"{self.live.path(manifest['kind'], name)}?fieldManager={manager}"
        sent: Manifest = self.live.plane.request(method, path, manifest, user="go-operator")
        return sent

    def manifests(self) -> list[Manifest]:
        """Return the recorded objects as the Go operator sends them, owned by the resource that is there."""
        uid = self.live.get("Druid", self.name)["metadata"]["uid"]
        manifests = [_sent(found, uid) for found in recording.owned_objects(self.name).values()]
        for manifest in manifests:
            self.change(manifest)
        return manifests

    def settled(self) -> dict[tuple[str, str], Any]:
        """Return the identities once the controllers have done their work."""
        eventually(lambda: all(_is_settled(live) for kind in WORKLOADS for live in self.live.list(kind)))
        eventually(lambda: all(_is_running(pod) for pod in self.live.list("Pod")))
        return identities(self.live)


def _sent(found: Manifest, uid: str) -> Manifest:
    manifest = deepcopy(found)
    manifest.pop("status", None)
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in _BOOKKEEPING}
    metadata["namespace"] = NAMESPACE
    metadata["annotations"].pop(_REVISION, None)
    for owner in metadata["ownerReferences"]:
        owner["uid"] = uid
    if manifest["kind"] == CLAIM:
        manifest["spec"].pop("volumeName", None)
        metadata.pop("finalizers", None)
        metadata["annotations"] = {
            key: text for key, text in metadata["annotations"].items() if "kubernetes.io/" not in key
        }
    if manifest["kind"] == "Service" and manifest["spec"]["clusterIP"] != "None":
        for field in ("clusterIP", "clusterIPs"):
            manifest["spec"].pop(field)
    return {**manifest, "metadata": metadata}


def _is_settled(workload: Manifest) -> bool:
    status = workload["status"]
    if status.get("observedGeneration") != workload["metadata"]["generation"]:
        return False
    return _is_rolled_out(workload) and bool(
        status.get("replicas", 0) == workload["spec"]["replicas"] == status.get("readyReplicas", 0)
    )


def _is_rolled_out(workload: Manifest) -> bool:
    """True if all pods are of the current template, or wait to be deleted."""
    status = workload["status"]
    if workload["kind"] == "Deployment":
        return bool(status.get("updatedReplicas", 0) == workload["spec"]["replicas"])
    on_delete = workload["spec"]["updateStrategy"]["type"] == "OnDelete"
    return on_delete or bool(status.get("currentRevision") == status.get("updateRevision"))


def _is_running(pod: Manifest) -> bool:
    return not pod["metadata"].get("deletionTimestamp") and pod["status"]["phase"] == "Running"


def identities(live: NamespaceClient) -> dict[tuple[str, str], Any]:
    """Return the evidence of recreations and restarts: uids, generations, and pods by name."""
    found = (each for kind in (*CREATED_KINDS, "Pod") for each in live.list(kind))
    return {
        (each["kind"], each["metadata"]["name"]): (each["metadata"]["uid"], each["metadata"].get("generation"))
        for each in found
        if each["metadata"]["name"] != "kube-root-ca.crt"
    }


def take_over(live: NamespaceClient, name: str) -> None:
    """One reconcile adopts the cluster without a finding, the next one has nothing to do and writes nothing."""
    first = one_pass(live, name)
    assert first.report is not None
    assert first.plan.findings == ()
    assert first.changed
    assert [
        str(step.key) for step in first.plan.steps if step.restart.is_requested or step.operation.verb == "recreate"
    ] == []
    mark = live.mark()
    second = one_pass(live, name)
    assert second.plan.findings == ()
    assert [str(step.key) for step in second.plan.steps] == []
    assert without_status(live.writes(mark)) == []
