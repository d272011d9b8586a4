# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inputs of a decision: the live state of a cluster, what is specified, and the reader of everything else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import DruidState, Question
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import (
    Preserved,
    from_pod,
    kept_replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group, ReferenceKey
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads


# A name of a pod is short, but not all of its digits need be an ordinal.
_ORDINAL = re.compile("0|[1-9][0-9]{0,5}")


class ObjectKey(NamedTuple):
    """An object in the cluster's namespace."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def key_of(manifest: Manifest) -> ObjectKey:
    """Return kind and name of a manifest or live object."""
    return ObjectKey(manifest["kind"], manifest["metadata"]["name"])


class Explanation(NamedTuple):
    """Why a pod does not start; `is_cause`: more than that it is so."""

    text: str
    is_cause: bool


@dataclass(frozen=True)
class Observed:
    """The live objects with the cluster's label, and the referenced objects (None: not found).

    `explanations` are what is known of pods that do not start, by name, besides what Kubernetes reports.
    """

    objects: Mapping[ObjectKey, Manifest] = field(default_factory=dict)
    references: Mapping[ReferenceKey, Manifest | None] = field(default_factory=dict)
    explanations: Mapping[str, Explanation] = field(default_factory=dict)

    def of_kind(self, *kinds: str) -> Iterator[Manifest]:
        """Yield the live objects of these kinds."""
        return (live for key, live in self.objects.items() if key.kind in kinds)

    def workload(self, group: Group) -> Manifest | None:
        """Return the group's live workload, of whichever kind the group is now."""
        return self.objects.get(ObjectKey(group.kind, group.unique_name))

    def preserved(self, cluster: Cluster) -> dict[str, Preserved]:
        """Return what the next rendering of each running group must preserve."""
        preserved = ((group.key, self._preserved(group)) for group in cluster.groups)
        return {key: kept for key, kept in preserved if kept is not None}

    def _preserved(self, group: Group) -> Preserved | None:
        replicas = self.replicas(group)
        workload = self.workload(group)
        if workload is not None:
            return replace(Preserved.from_workload(workload), replicas=replicas)
        # Pods without a workload: a recreation was interrupted.
        orphan = next(self.pods_of(group), None)
        if orphan is not None:
            return replace(from_pod(orphan, group.unique_name), replicas=replicas)
        return None if replicas is None else Preserved(replicas=replicas)

    def replicas(self, group: Group) -> int | None:
        """Return the number of pods that the group has, or had before its stop; also under its former kind."""
        workloads = (self.objects.get(ObjectKey(kind, group.unique_name)) for kind in (group.kind, *WORKLOADS))
        workload = next((live for live in workloads if live is not None), None)
        if workload is not None:
            return kept_replicas(workload)
        return self.orphaned_replicas(group.unique_name) or None

    def pods_of(self, group: Group) -> Iterator[Manifest]:
        """Yield the live pods of a group."""
        return iter(self._pods.get(group.unique_name, ()))

    def unready_groups(self, cluster: Cluster, node_types: Iterable[str]) -> list[str]:
        """Return the keys of the groups of the first of these types that exists, if none of them has a ready pod."""
        by_type = ([group for group in cluster.groups if group.node_type == each] for each in node_types)
        groups: list[Group] = next((groups for groups in by_type if groups), [])
        statuses = ((self.workload(group) or {}).get("status") or {} for group in groups)
        return [] if any(status.get("readyReplicas") for status in statuses) else [group.key for group in groups]

    def orphans_of(self, unique_name: str) -> list[Manifest]:
        """Return the pods of a workload that was deleted to be recreated."""
        if any((kind, unique_name) in self.objects for kind in WORKLOADS):
            return []
        return [pod for pod in self._pods.get(unique_name, ()) if not is_terminating(pod)]

    def orphaned_replicas(self, unique_name: str) -> int:
        """Return the replicas that adopt all orphans: of a StatefulSet the highest ordinal counts, not the number."""
        orphans = self.orphans_of(unique_name)
        # A Deployment replaces an evicted pod, which remains as a failed one.
        running = [pod for pod in orphans if (pod.get("status") or {}).get("phase") != "Failed"]
        return max([len(running), *(_ordinal(pod, unique_name) + 1 for pod in orphans)])

    @cached_property
    def _pods(self) -> Mapping[str | None, list[Manifest]]:
        """The pods by the unique name of their group."""
        pods: dict[str | None, list[Manifest]] = {}
        for pod in self.of_kind("Pod"):
            pods.setdefault(_labels(pod).get(names.GROUP_LABEL), []).append(pod)
        return pods

    def with_objects(self, objects: Iterable[Manifest]) -> Observed:
        """Return the same with these objects added or replaced."""
        return replace(self, objects={**self.objects, **{key_of(live): live for live in objects}})

    def without(self, removed: Iterable[ObjectKey]) -> Observed:
        """Return the same without these objects."""
        missing = set(removed)
        return replace(self, objects={key: live for key, live in self.objects.items() if key not in missing})


def _ordinal(pod: Manifest, unique_name: str) -> int:
    """Return the ordinal of a StatefulSet's pod; -1 for a pod of a Deployment."""
    ordinal = pod["metadata"]["name"].removeprefix(f"{unique_name}-")
    return int(ordinal) if _ORDINAL.fullmatch(ordinal) and "pod-template-hash" not in _labels(pod) else -1


def _labels(live: Manifest) -> Mapping[str, str]:
    return live["metadata"].get("labels") or {}


@dataclass(frozen=True)
class Inputs:
    """The resource, its cluster, the live objects with its label, the rendered objects, and what the options allow.

    `reads` is for everything else. `schema_errors`: the spec cannot be read, and `cluster` has an empty one.
    `check_mode`: nothing will be written, and the resource may be the result of a dry run, with a generation that is
    not stored. `now` is the time of the reconcile. `blocked_expansions`: the groups for whose volumes no other group
    waits, as the decision so far has shown.
    """

    resource: Manifest
    cluster: Cluster
    observed: Observed
    desired: Desired
    reads: ClusterReads = field(compare=False)
    schema_errors: tuple[Finding, ...] = ()
    allowed_reference_namespaces: tuple[str, ...] = ()
    keep_finalizer: bool = False
    check_mode: bool = False
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    blocked_expansions: frozenset[str] = frozenset()

    @cached_property
    def with_all_claims(self) -> Observed:
        """The live objects with all PVCs of the namespace, if they count: users can remove their labels."""
        return self.observed.with_objects(self.reads.all_claims(self))

    @cached_property
    def admitted(self) -> Mapping[ObjectKey, Manifest]:
        """What admission makes of the objects that seem to need a recreation."""
        verdicts = self.reads.recreations(self)
        return {verdict.step.key: verdict.after for verdict in verdicts if verdict.after is not None}

    def with_objects(self, more: Iterable[Manifest]) -> Inputs:
        """Return the inputs with more live objects of the cluster."""
        return replace(self, observed=self.observed.with_objects(more))

    def ask(self, *questions: Question[Any]) -> DruidState:
        """Return the answers of Druid to these questions, or why there are none."""
        return self.reads.ask_druid(self, questions)
