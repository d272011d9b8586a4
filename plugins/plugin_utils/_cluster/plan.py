# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of a reconcile: steps in order, and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    partition,
    released_pods,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.decision import (
        Decommission,
    )
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
    from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import DruidChange

LEAVES = ("Ingress", "PodDisruptionBudget", "HorizontalPodAutoscaler")

Operation = Literal["create", "update", "recreate", "delete", "patch"]


@dataclass(frozen=True)
class Effect:
    """What follows from a step, as a line of the plan; `is_destructive`: a PVC is deleted, or a role is removed."""

    text: str
    is_destructive: bool = False


class Notice(NamedTuple):
    """What a step means for a PVC: the reason and message of its event; the plan has the message, too."""

    reason: str
    message: str


class Orphan(NamedTuple):
    """What a PVC belonged to: the name of a StatefulSet, and the pods that the spec requests; None: it is removed.

    `resource`: the resource whose spec that is; None for a cluster without one.
    """

    workload: str
    replicas: int | None
    resource: Manifest | None = None


class ExpandingVolume(NamedTuple):
    """A PVC whose volume has not the desired size yet: names, sizes as quantities, and what is awaited."""

    name: str
    size: str
    capacity: str
    awaited: str
    since: str


class Restart(NamedTuple):
    """A pod that is evicted because it must be replaced: it is the next one of this number of pods of a workload.

    `cause` is why, and `budgets` are the PodDisruptionBudgets because of which it is not possible now. `has_begun`:
    others of the workload were replaced. `is_ready`: the others are ready, except those that the controller cannot
    create while a pod lacks a volume. None: all pods must be available.
    """

    pods: int
    workload: ObjectKey
    cause: str
    budgets: tuple[ObjectKey, ...] = ()
    has_begun: bool = False
    is_ready: bool | None = None


class Adoption(NamedTuple):
    """The pods of a deleted workload that the created one adopts and replaces.

    `former` is the deleted workload, as far as they show it.
    """

    pods: int
    former: Manifest


class DruidRequest(NamedTuple):
    """A write in Druid: a POST. `title` is what it does, such as "disable worker 10.0.0.1:8091".

    `is_idempotent`: it has the same effect if it is repeated. `reason` is that of its event. A `body` that is a
    ListChange is a change of the list at the path, which is read before the write and read back after it.
    """

    title: str
    path: str
    body: Any = None
    is_idempotent: bool = True
    reason: str = reasons.UPDATE_SUCCEEDED


@dataclass(frozen=True)
class Step:
    """One write. `group` is the key of its group, None for shared objects.

    `live` is the object before (None: it is created), `after` the object afterwards (None: it is deleted);
    `managed_fields` the field ownership that must be set before, `patch` a JSON patch instead of an apply.
    `initial` is the manifest of the creation, if it has more fields than the applied one: initial replicas of an
    autoscaled workload, or fields of other managers in a recreated object. `former` is the object that it replaced, if
    that is not `live`. `releases` are the uids of the owners that the step separates from their PVCs, so that the PVCs
    are retained when one of the owners is deleted. `effects` is what controllers do because of it; a decision has them
    only in its result. `notice`: what it means for a PVC. `orphan`: the step marks, unmarks or deletes an orphaned PVC.
    `restart`: the deletion is the eviction of a pod. `request`: it is a write in Druid, see `druid_step`. `kept_pods`:
    the pods that a rollout does not replace, if the partition of the StatefulSet is a temporary one. `adoption`: the
    pods that a creation replaces; like the effects, only in the result of a decision.
    """

    operation: Operation
    manifest: Manifest
    group: str | None = None
    live: Manifest | None = None
    after: Manifest | None = None
    managed_fields: list[dict[str, Any]] | None = None
    patch: list[dict[str, Any]] | None = None
    initial: Manifest | None = None
    former: Manifest | None = None
    releases: frozenset[str] = frozenset()
    effects: tuple[Effect, ...] = ()
    notice: Notice | None = None
    orphan: Orphan | None = None
    restart: Restart | None = None
    request: DruidRequest | None = None
    kept_pods: int | None = None
    adoption: Adoption | None = None

    @property
    def key(self) -> ObjectKey:
        return key_of(self.manifest)

    @property
    def title(self) -> str:
        if self.request is not None:
            return f"{self.request.title} in Druid"
        verb = "evict" if self.restart else self.operation
        return f"{verb} {self.key}{' (destructive)' if self.is_destructive else ''}"

    @property
    def has_duplicate_keys(self) -> bool:
        """True when an object is created with duplicate keys in its pod template: the server rejects an apply."""
        return self.initial is not None and "template" in self.initial["spec"].keys() - self.manifest["spec"].keys()

    @property
    def is_destructive(self) -> bool:
        """True when a PVC is deleted, by the step or because of it, now or later, or the last group of a role is."""
        is_deletion = self.operation == "delete" and self.key.kind == "PersistentVolumeClaim"
        is_mark = self.notice is not None and self.notice.reason == reasons.ORPHANED_PVC_MARKED
        return is_deletion or is_mark or any(effect.is_destructive for effect in self.effects)

    @property
    def is_apply(self) -> bool:
        """True for the write of a desired object, which a dry run can validate."""
        return self.operation != "delete" and self.patch is None and self.request is None

    @property
    def is_deletion(self) -> bool:
        """True for the deletion of an object, which a dry run can validate; an eviction is one that has to be tried."""
        return self.operation == "delete" and self.restart is None

    @property
    def is_leaf(self) -> bool:
        """True if no other step depends on this one.

        The replicas of a group depend on the removal of its autoscaler: until then it would revert them.
        """
        kind = self.key.kind
        is_removed_autoscaler = kind == "HorizontalPodAutoscaler" and self.operation == "delete"
        return self.orphan is not None or (kind in LEAVES and not is_removed_autoscaler)

    @property
    def removes_group(self) -> bool:
        """True for the deletion of an object of a group that was removed from the spec."""
        return self.operation == "delete" and self.group is None

    @property
    def prepares_removal(self) -> bool:
        """True for a step about PVCs of a removed group: they are retained, or marked as orphaned."""
        is_update_of_claim = self.operation == "update" and self.key.kind == "PersistentVolumeClaim"
        return self.group is None and (bool(self.releases) or is_update_of_claim)

    @property
    def lowers_replicas(self) -> bool:
        """True for the write of a workload with fewer replicas than it has."""
        if self.key.kind not in WORKLOADS or self.live is None or not self.is_apply:
            return False
        live = self.live["spec"].get("replicas", 1)
        return bool((self.initial or self.manifest)["spec"].get("replicas", live) < live)

    @property
    def restarts_pods(self) -> bool:
        """True when the write changes what running pods are made of, or releases pods that its strategy has kept."""
        return self.changes_pods or bool(self.released_pods)

    @property
    def changes_pods(self) -> bool:
        """True when the write changes the template or subdomain of running pods, or adds a claim template."""
        if self.key.kind not in WORKLOADS or self.live is None or self.after is None:
            return False
        before, after = self.live["spec"], self.after["spec"]
        subdomains = {each.get("serviceName") or "" for each in (before, after)}
        return before["template"] != after["template"] or len(subdomains) > 1 or bool(self.added_claims)

    @property
    def released_pods(self) -> int:
        """The number of pods of an old revision that the update strategy has kept, and keeps no longer."""
        if self.key.kind != "StatefulSet" or self.live is None or self.after is None:
            return 0
        return released_pods(self.live, self.after, self.kept_pods if self.begins_drain else None)

    @property
    def begins_drain(self) -> bool:
        """True for the write of a StatefulSet that is drained, unless its partition is that of a drain already."""
        annotations = (self.live or {}).get("metadata", {}).get("annotations") or {}
        return self.kept_pods is not None and names.DRAIN_ANNOTATION not in annotations

    @property
    def added_claims(self) -> list[str]:
        """The claim templates of a StatefulSet that it did not have before."""
        before, after = (template_names(live) if live and "spec" in live else [] for live in (self.live, self.after))
        return [name for name in after if name not in before]

    @property
    def restarted_pods(self) -> int:
        """The number of running pods that are replaced because of the step, without those of a partition."""
        if self.restart is not None:
            return self.restart.pods
        if self.adoption is not None:
            return self.adoption.pods
        if not self.changes_pods or self.waits_for_deletion:
            return self.released_pods
        before, after = ((live or {})["spec"].get("replicas", 1) for live in (self.live, self.after))
        kept = partition(self.after or {"spec": {}}) if self.kept_pods is None else self.kept_pods
        return int(max(0, min(before, after) - kept))

    @property
    def update_strategy(self) -> Mapping[str, Any]:
        """The update strategy of the StatefulSet after the step; empty for any other object."""
        return (self.after or {}).get("spec", {}).get("updateStrategy") or {}

    @property
    def waits_for_deletion(self) -> bool:
        """True when the pods of the workload are replaced only once they are deleted (OnDelete)."""
        return bool(self.update_strategy.get("type") == "OnDelete")


def druid_step(
    request: DruidRequest, group: Group, what: ObjectKey, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Step:
    """Return the step that sends a request for a group; `before` and `after` are the states of an object in Druid.

    It follows a write of its group only if that succeeds. If the request fails, only others of the group about the same
    object wait: a decision must not count on a request before Druid shows its effect.
    """
    identity = {"kind": what.kind, "metadata": {"name": what.name, "namespace": group.cluster.namespace}}
    live, changed = ({**identity, "spec": dict(state)} for state in (before, after))
    return Step("update", identity, group.key, live, changed, request=request)


# Called before the execution of a step.
OnStep = Callable[[Step], None]


def noop(step: Step) -> None:
    """Do nothing before a step."""


@dataclass(frozen=True)
class Plan(plan.Plan[Step]):
    """The plan of a cluster; `in_druid` are the changes in Druid, which follow the writes in Kubernetes.

    `later` are the steps of later reconciles, which wait for the pods of other groups, in the order of the restarts.
    `warnings` are about the spec and the live state, `rollout_warnings` about the steps. `expanding` are the PVCs
    that the status reports. `awaited` is what the next group of a rollout waits for in Druid, and `druid_before` the
    state of Druid at the start of the rollout, if it was read now. `drain` is the progress of a drain, as the status
    reports it; None if it was not decided. `decommission` is what is decided about Historicals, None if nothing could
    be decided. `refused_evictions`: the PodDisruptionBudgets that do not allow an eviction, each with the remedy.
    be decided. `stored_replicas`: the pods of each group for which admission stores another number than specified.
    """

    in_druid: tuple[DruidChange, ...] = ()
    rollout_warnings: tuple[str, ...] = ()
    later: tuple[Step, ...] = ()
    expanding: tuple[ExpandingVolume, ...] = ()
    awaited: str = ""
    druid_before: Mapping[str, int] | None = None
    drain: Mapping[str, Any] | None = None
    decommission: Decommission | None = None
    refused_evictions: tuple[str, ...] = ()
    stored_replicas: Mapping[str, int] = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        return bool(self.steps or self.in_druid)

    @property
    def titles(self) -> list[str]:
        return [*super().titles, *(change.title for change in self.in_druid)]

    @property
    def is_destructive(self) -> bool:
        """True when a step deletes a PVC, or causes its deletion, or removes a role that others need."""
        return any(step.is_destructive for step in (*self.steps, *self.later))

    @property
    def restarts(self) -> tuple[str, ...]:
        """The keys of the groups that this reconcile restarts."""
        return tuple(step.group or "" for step in self.steps if step.restarted_pods)

    @property
    def pending_restarts(self) -> tuple[str, ...]:
        """The keys of the groups that restart in later reconciles, in order."""
        return tuple(step.group or "" for step in self.later if step.restarted_pods)

    @property
    def pending_removals(self) -> tuple[ObjectKey, ...]:
        """The workloads of removed groups that are deleted in later reconciles."""
        return tuple(step.key for step in self.later if step.removes_group and step.key.kind in WORKLOADS)

    @property
    def awaited_budgets(self) -> tuple[str, ...]:
        """The PodDisruptionBudgets because of which evictions are not possible now."""
        found = (key.name for step in self.later if step.restart for key in step.restart.budgets)
        return tuple(dict.fromkeys(found))

    def paused(self, pause: Finding) -> Self:
        """Return the plan of a paused cluster: everything is pending."""
        waiting = {step.key for step in self.later}
        now = (step for step in self.steps if step.key not in waiting)
        whole = replace(self, steps=(*now, *self.later), later=())
        return replace(
            super(Plan, whole).paused(pause), in_druid=(), drain=None, decommission=None, refused_evictions=()
        )

    def following(self, earlier: Self) -> Self:
        """Return the plan of a later reconcile with the steps of the earlier one before its own."""
        return replace(
            super().following(earlier),
            in_druid=(*earlier.in_druid, *self.in_druid),
            rollout_warnings=(*earlier.rollout_warnings, *self.rollout_warnings),
        )
