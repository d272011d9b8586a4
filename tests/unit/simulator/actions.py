# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What can happen to a cluster. A history is a list of these."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.tests.simulator.gitops_pruner import prune
from ansible_collections.druidops.druid.tests.simulator.second_playbook import SecondPlaybook
from ansible_collections.druidops.druid.tests.simulator.server import Request, uninterrupted
from ansible_collections.druidops.druid.tests.simulator.specification import (
    NAME,
    NAMESPACE,
    Cluster,
    autoscaler_spec,
    group_of_claim,
    workload_name,
)
from ansible_collections.druidops.druid.tests.unit.simulator.subject import By, Fault, Subject


class Action(Protocol):
    """One event of a history."""

    def act(self, subject: Subject) -> None:
        """Let it happen."""


@dataclass(frozen=True)
class Edit:
    """The user changes a field of a group, or of the cluster."""

    field: str
    value: Any
    group: str = ""

    def act(self, subject: Subject) -> None:
        cluster = subject.cluster
        if cluster is None or (self.group and self.group not in cluster.groups):
            return
        if not self.group:
            subject.specify(replace(cluster, **{self.field: self.value}))
            return
        changed = replace(cluster.groups[self.group], **{self.field: self.value})
        subject.specify(replace(cluster, groups={**cluster.groups, self.group: changed}))


@dataclass(frozen=True)
class Rename:
    """The user renames a group; to nothing: removes it."""

    group: str
    name: str = ""

    def act(self, subject: Subject) -> None:
        cluster = subject.cluster
        if cluster is None or self.group not in cluster.groups or self.name in cluster.groups:
            return
        groups = {(self.name if key == self.group else key): group for key, group in cluster.groups.items()}
        groups.pop("", None)
        if groups:
            subject.specify(replace(cluster, groups=groups))


@dataclass(frozen=True)
class Create:
    """The user creates the resource, if there is none."""

    cluster: Cluster = Cluster()  # noqa: RUF009

    def act(self, subject: Subject) -> None:
        if subject.live is None:
            subject.specify(self.cluster)


@dataclass(frozen=True)
class Specify:
    """The user replaces the whole spec."""

    cluster: Cluster

    def act(self, subject: Subject) -> None:
        if subject.cluster is not None:
            subject.specify(self.cluster)


@dataclass(frozen=True)
class Delete:
    """The user deletes the resource."""

    propagation: Literal["Background", "Foreground", "Orphan"] = "Background"

    def act(self, subject: Subject) -> None:
        subject.delete(self.propagation)


@dataclass(frozen=True)
class Remove:
    """A playbook deletes the cluster (state: absent), or continues its deletion; a request may fail."""

    fault: tuple[int, Fault] | None = None

    def act(self, subject: Subject) -> None:
        subject.remove(self.fault)


@dataclass(frozen=True)
class ForeignAutoscaler:
    """A user creates an autoscaler for a group, or deletes it (no limits)."""

    group: str
    limits: tuple[int, int] | None

    def act(self, subject: Subject) -> None:
        store, name = subject.world.store, f"foreign-{self.group}"
        live = store.get("HorizontalPodAutoscaler", NAMESPACE, name)
        if live is not None:
            store.delete(live)
        subject.documented.foreign.pop(self.group, None)
        if self.limits is None or subject.cluster is None or self.group not in subject.cluster.groups:
            return
        spec = autoscaler_spec(self.group, subject.cluster.groups[self.group].kind, self.limits)
        metadata = {"name": name, "namespace": NAMESPACE}
        head = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
        store.create({**head, "metadata": metadata, "spec": spec})
        subject.documented.foreign[self.group] = self.limits[0]
        subject.documented.specify(subject.cluster)


@dataclass(frozen=True)
class Load:
    """An autoscaled group needs this number of pods."""

    group: str
    pods: int

    def act(self, subject: Subject) -> None:
        subject.world.load[workload_name(self.group)] = self.pods


@dataclass(frozen=True)
class Controllers:
    """The controllers look at everything this number of times."""

    times: int = 1

    def act(self, subject: Subject) -> None:
        for _time in range(self.times):
            subject.world.react()


@dataclass(frozen=True)
class Run:
    """A reconcile, in which a request may fail. The operator first reads a cache, which is behind (`ages`)."""

    by: By = "operator"
    fault: tuple[int, Fault] | None = None
    ages: Mapping[str, int] | None = None

    def act(self, subject: Subject) -> None:
        if self.by == "operator" and self.ages is not None:
            subject.run_on_cache(self.ages, self.fault)
        else:
            subject.run(self.by, self.fault)


@dataclass(frozen=True)
class Meanwhile:
    """A reconcile, and another action before one of its requests."""

    request: int
    action: Action
    by: By = "operator"

    def act(self, subject: Subject) -> None:
        remaining, server = iter(range(self.request)), subject.world.server

        def interrupt(request: Request, when: Literal["before", "after"]) -> None:
            if request.method == "DELETE":
                subject.deleted_before.add(request.name)
            if when == "before" and next(remaining, None) is None:
                server.interrupt = uninterrupted
                self.action.act(subject)

        server.interrupt = interrupt
        subject.run(self.by)


@dataclass(frozen=True)
class Submit:
    """A second playbook sets the spec to an older one."""

    age: int

    def act(self, subject: Subject) -> None:
        found = subject.versions[-1 - self.age :]
        if found and subject.cluster is not None:
            subject.specify(found[0].cluster)


@dataclass(frozen=True)
class Outdated:
    """A slow playbook reconciles an older version of the resource."""

    age: int = 1

    def act(self, subject: Subject) -> None:
        live, found = subject.live, subject.versions[-1 - self.age :]
        if live is None or not found or found[0].stored["metadata"]["uid"] != live["metadata"]["uid"]:
            return
        with suppress(KubernetesError):
            SecondPlaybook(found[0].stored).reconcile(subject.world)


@dataclass(frozen=True)
class Converge:
    """Reconcile until nothing changes any more; the observer does so, since it judges each reconcile."""


# What a history consists of.
Event = Action | Converge


@dataclass(frozen=True)
class Prune:
    """A GitOps tool, whose repository has the resource, deletes what it does not find there."""

    def act(self, subject: Subject) -> None:
        pruned = prune(subject.world.store, NAME, frozenset({(names.KIND, NAME)}))
        subject.documented.prune(live["metadata"]["name"] for live in pruned if live["kind"] == "StatefulSet")


@dataclass(frozen=True)
class Grow:
    """The user requests more storage for a group."""

    group: str

    def act(self, subject: Subject) -> None:
        if subject.cluster is not None and self.group in subject.cluster.groups:
            size = int(subject.cluster.groups[self.group].storage.removesuffix("Gi"))
            Edit("storage", f"{size + 1}Gi", self.group).act(subject)


@dataclass(frozen=True)
class Wait:
    """Time passes."""

    seconds: int

    def act(self, subject: Subject) -> None:
        subject.world.clock.advance(self.seconds)


@dataclass(frozen=True)
class Unmark:
    """The user removes the labels of marked PVCs of a group, by which they would be deleted."""

    group: str

    def act(self, subject: Subject) -> None:
        store = subject.world.store
        for live in store.of_kind("PersistentVolumeClaim"):
            labels = live["metadata"].get("labels") or {}
            if group_of_claim(live["metadata"]["name"])[0] == self.group and "toBeDeleted" in labels:
                kept = {name: text for name, text in labels.items() if name not in ("toBeDeleted", "deletionTS")}
                store.update_metadata(live, labels=kept)
                subject.unmarked.add(live["metadata"]["uid"])
