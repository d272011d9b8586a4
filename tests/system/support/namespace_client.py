# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client for one namespace of the control plane, with the permissions of an administrator, and its audit log."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from testbed.api import ApiError
from testbed.audit import AuditEvent, Mark
from testbed.control_plane import ControlPlane

Manifest = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC_MERGE = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
# The kinds that a cluster is made of.
CREATED_KINDS = (
    "ConfigMap",
    "Service",
    "StatefulSet",
    "Deployment",
    "Ingress",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "PersistentVolumeClaim",
)
Events = list[AuditEvent]
READS = frozenset({"get", "list", "watch"})


@dataclass(frozen=True)
class NamespaceClient:
    """One namespace, in which a user (not the program under test) reads and writes."""

    plane: ControlPlane
    namespace: str

    def get(self, kind: str, name: str) -> Manifest:
        """Return the object; an ApiError 404 when it is not there."""
        found: Manifest = self.plane.request("GET", self.path(kind, name), user="person")
        return found

    def find(self, kind: str, name: str) -> Manifest | None:
        """Return the object, or None."""
        try:
            return self.get(kind, name)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, kind: str) -> list[Manifest]:
        """Return all objects of the kind."""
        items = self.plane.request("GET", self.path(kind), user="person")["items"]
        return [{"apiVersion": KINDS[kind].api_version, "kind": kind, **item} for item in items]

    def names(self, kind: str) -> set[str]:
        """Return the names of all objects of the kind but the one that is in every namespace."""
        return {each["metadata"]["name"] for each in self.list(kind)} - {"kube-root-ca.crt"}

    def created_objects(self) -> set[tuple[str, str]]:
        """Return kind and name of all objects of the kinds that a cluster is made of."""
        return {(kind, name) for kind in CREATED_KINDS for name in self.names(kind)}

    def create(self, manifest: Manifest) -> Manifest:
        """Create the object in this namespace and return it."""
        kind = manifest["kind"]
        metadata = {**manifest["metadata"], "namespace": self.namespace}
        body = {"apiVersion": KINDS[kind].api_version, **manifest, "metadata": metadata}
        created: Manifest = self.plane.request("POST", self.path(kind), body, user="person")
        return created

    def merge(self, kind: str, name: str, patch: Any) -> Manifest:
        """Merge the patch into the object (null removes) and return it."""
        path = self.path(kind, name)
        merged: Manifest = self.plane.request("PATCH", path, patch, user="person", content_type=MERGE)
        return merged

    def patch(self, kind: str, name: str, operations: Any) -> Manifest:
        """Carry out a JSON patch and return the object."""
        path = self.path(kind, name)
        patched: Manifest = self.plane.request("PATCH", path, operations, user="person", content_type=JSON_PATCH)
        return patched

    def edit(
        self, kind: str, name: str, change: Callable[[Manifest], object], manager: str = "kubectl-edit"
    ) -> tuple[Manifest, Manifest]:
        """Change the object as kubectl edit does; return it before and after."""

        def replaced() -> tuple[Manifest, Manifest] | None:
            before = self.get(kind, name)
            change(body := deepcopy(before))
            try:
                path = f"{self.path(kind, name)}?fieldManager={manager}"
                return before, self.plane.request("PUT", path, body, user="person")
            except ApiError as error:
                if error.status != 409:
                    raise
                return None

        return eventually(replaced)

    def restart(self, kind: str, name: str) -> None:
        """Restart the pods of a workload, as kubectl rollout restart does."""
        annotations = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
        body = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
        path = f"{self.path(kind, name)}?fieldManager=kubectl-rollout"
        self.plane.request("PATCH", path, body, user="person", content_type=STRATEGIC_MERGE)

    def scale(self, kind: str, name: str, replicas: int) -> Manifest:
        """Scale the workload, as an autoscaler and kubectl scale do."""
        path = f"{self.path(kind, name)}/scale?fieldManager=kubectl"
        body = {"spec": {"replicas": replicas}}
        scaled: Manifest = self.plane.request("PATCH", path, body, user="person", content_type=MERGE)
        return scaled

    def delete(self, kind: str, name: str, propagation: str = "Background") -> None:
        """Delete the object."""
        path = self.path(kind, name)
        self.plane.request("DELETE", f"{path}?propagationPolicy={propagation}", user="person")

    def path(self, kind: str, name: str = "") -> str:
        """Return the path of an object, or of a kind, in the API."""
        api_version, plural, namespaced = KINDS[kind]
        root = "/apis/" if "/" in api_version else "/api/"
        place = f"/namespaces/{self.namespace}" if namespaced else ""
        return f"{root}{api_version}{place}/{plural}" + (f"/{name}" if name else "")

    def mark(self) -> Mark:
        """Return the current end of the audit log, after all previous responses."""
        self._wait_for_log()
        return self.plane.audit.mark()

    def requests(self, since: Mark, user: str = "druidops") -> Events:
        """Return the requests about this namespace that the user has made since the mark."""
        self._wait_for_log()
        return [each for each in self.plane.audit.since(since, user) if each.namespace == self.namespace]

    def writes(self, since: Mark, user: str = "druidops") -> Events:
        """Return what was sent to be written, dry runs included."""
        return [each for each in self.requests(since, user) if each.verb not in READS]

    def _wait_for_log(self) -> None:
        """A response may be earlier than its line in the log: wait for the line of one more request."""
        name = f"marker-{secrets.token_hex(8)}"
        before = self.plane.audit.mark()
        self.find("ConfigMap", name)
        eventually(lambda: any(each.name == name for each in self.plane.audit.since(before, "person")))


def without_status(writes: Iterable[AuditEvent]) -> list[str]:
    """Return verb, resource and name of each write, those of status and events left out."""
    counted = (each for each in writes if each.subresource != "status" and each.resource != "events")
    return [f"{each.verb} {each.resource} {each.name}{' (dry run)' if each.dry_run else ''}" for each in counted]


def condition(resource: Manifest, kind: str) -> Manifest:
    """Return the condition of that type in the status of a resource."""
    conditions = (resource.get("status") or {}).get("conditions") or []
    return next(each for each in conditions if each["type"] == kind)
