# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others than the user of the resource do to the pods of a cluster, and why pods fail."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.tests.simulator import managed_fields
from ansible_collections.druidops.druid.tests.simulator.kubelet import Failure
from ansible_collections.druidops.druid.tests.simulator.specification import NAMESPACE, workload_name
from ansible_collections.druidops.druid.tests.simulator.store import Manifest
from ansible_collections.druidops.druid.tests.unit.simulator.subject import Subject

BUDGET = "PodDisruptionBudget"


@dataclass(frozen=True)
class Break:
    """The pods of an image are not ready; without image, all of them are ready again."""

    image: str = ""
    failure: Failure = "unready"

    def act(self, subject: Subject) -> None:
        subject.world.broken_images = {self.image: self.failure} if self.image else {}


@dataclass(frozen=True)
class ForeignBudget:
    """A user creates a PodDisruptionBudget for the pods of a group, or deletes it (None)."""

    group: str
    min_available: int | None

    def act(self, subject: Subject) -> None:
        store, name = subject.world.store, f"foreign-{self.group}"
        live = store.get(BUDGET, NAMESPACE, name)
        if live is not None:
            store.delete(live)
        if self.min_available is not None:
            selector = {"matchLabels": {names.GROUP_LABEL: workload_name(self.group)}}
            metadata = {"name": name, "namespace": NAMESPACE}
            spec = {"minAvailable": self.min_available, "selector": selector}
            store.create({"apiVersion": "policy/v1", "kind": BUDGET, "metadata": metadata, "spec": spec})


@dataclass(frozen=True)
class Refuse:
    """An admission policy refuses each change of the workload of a group; without group, none."""

    group: str = ""

    def act(self, subject: Subject) -> None:
        refused = workload_name(self.group)

        def admit(live: Manifest) -> str | None:
            return "no" if live["kind"] in WORKLOADS and live["metadata"]["name"] == refused else None

        subject.world.server.admit = admit


@dataclass(frozen=True)
class RolloutRestart:
    """A user runs kubectl rollout restart."""

    group: str
    time: str = "2026-02-01T00:00:00Z"

    def act(self, subject: Subject) -> None:
        store = subject.world.store
        for kind in WORKLOADS:
            live = store.get(kind, NAMESPACE, workload_name(self.group))
            if live is not None:
                store.update(managed_fields.updated(live, self._restarted(live), "kubectl-rollout"))

    def _restarted(self, live: Manifest) -> Manifest:
        template = live["spec"]["template"]
        annotations = {
            **(template["metadata"].get("annotations") or {}),
            "kubectl.kubernetes.io/restartedAt": self.time,
        }
        changed = {**template, "metadata": {**template["metadata"], "annotations": annotations}}
        return {**live, "spec": {**live["spec"], "template": changed}}


@dataclass(frozen=True)
class DeletePod:
    """A user deletes the first, second ... pod of a group."""

    group: str
    number: int

    def act(self, subject: Subject) -> None:
        store, name = subject.world.store, workload_name(self.group)
        pods = [pod for pod in store.of_kind("Pod") if pod["metadata"]["labels"].get(names.GROUP_LABEL) == name]
        for pod in pods[self.number : self.number + 1]:
            store.delete(pod)
