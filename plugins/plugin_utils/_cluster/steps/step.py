# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a cluster: what decisions ask about it, with the answers that most types share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import (
    ObjectDifference,
    change_text,
    entry,
    essence,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons, step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

LEAVES = ("Ingress", "PodDisruptionBudget", "HorizontalPodAutoscaler")
DESTRUCTIVE = " (destructive)"
_UPDATE = (reasons.UPDATE_SUCCEEDED, reasons.UPDATE_FAILED)
_DELETE = (reasons.DELETE_SUCCEEDED, reasons.DELETE_FAILED)
# Of the events about success and failure, by verb.
_REASONS = {
    "create": (reasons.CREATE_SUCCEEDED, reasons.CREATE_FAILED),
    "update": _UPDATE,
    "recreate": _UPDATE,
    "delete": _DELETE,
    "evict": _DELETE,
}


@dataclass(frozen=True)
class Effect:
    """What follows from a step, as a line of the plan; `is_destructive`: a PVC is deleted, or a role is removed."""

    text: str
    is_destructive: bool = False


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


class Kept(NamedTuple):
    """What an apply keeps while the restart is pending.

    These fields of `spec` stay as they are, and the annotations have these values (None: they are removed).
    """

    fields: Sequence[str]
    annotations: Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True)
class Step(step.Step):
    """One write. `group` is the key of its group, None for shared objects.

    `manifest` is what is applied, empty if nothing is. `live` is the object before (None: it is created, or it is not
    in Kubernetes), `after` the object afterwards (None: it is deleted, or not known yet). `effects` is what controllers
    do because of it; a decision has them only in its result.
    """

    group: str | None = None
    manifest: Manifest = field(default_factory=dict)
    live: Manifest | None = None
    after: Manifest | None = None
    effects: tuple[Effect, ...] = ()
    # Of an object in Druid, before and after.
    states: tuple[Any, ...] = ()
    # The groups whose pods restart before those of its group.
    follows: frozenset[str] = frozenset()

    # It marks or deletes an orphaned PVC.
    is_of_orphan: ClassVar[bool] = False

    # It deletes an object and creates it again.
    recreates: ClassVar[bool] = False
    # It deletes an object.
    deletes: ClassVar[bool] = False
    # It comes before the objects of all groups.
    prepares: ClassVar[bool] = False
    # It is the last step of a deletion: any failure before it prevents it.
    is_last: ClassVar[bool] = False

    @property
    def key(self) -> ObjectKey:
        return key_of(self.live or self.manifest)

    @property
    def namespace(self) -> str:
        return str((self.live or self.manifest)["metadata"]["namespace"])

    @property
    def verb(self) -> str:
        return "update"

    @property
    def title(self) -> str:
        return f"{self.verb} {self.key}{self._mark}"

    @property
    def lines(self) -> tuple[str, ...]:
        return (f"{self.verb} {self.key}{self._remark}{self._mark}",)

    @property
    def _remark(self) -> str:
        return ""

    @property
    def _mark(self) -> str:
        return DESTRUCTIVE if self.is_destructive else ""

    @property
    def differences(self) -> tuple[ObjectDifference, ...]:
        """The object before and after; of a new one the manifest, without the server's defaults."""
        after = essence(self.manifest if self.live is None else self.after)
        place = f"{self.key.kind} {self.namespace}/{self.key.name}"
        return (entry(place, essence(self.live), after, self.is_destructive),)

    @property
    def counted(self) -> Literal["applied", "removed"] | None:
        return "removed" if self.deletes else "applied"

    @property
    def reason(self) -> str:
        return _REASONS[self.verb][0]

    @property
    def reason_of_failure(self) -> str:
        """The reason of the event about its failure; empty if there is none."""
        return _REASONS[self.verb][1]

    @property
    def message(self) -> str:
        return f"Updated [{self.key.name}:*v1.{self.key.kind}].{change_text(self.live, self.after)}"

    def observed_after(self, observed: Observed, live: Manifest | None) -> Observed:
        """Return the observed objects after the write, of which `live` is the result."""
        return observed if live is None else observed.with_objects([live])

    def explain(self, error: KubernetesError) -> str:
        if not (isinstance(error, ApiError) and error.is_conflict):
            return str(error)
        return f"{self.key} was modified concurrently, so nothing was written to it. Retry. ({error.message})"

    def skipped(self, failed: Any) -> str:
        return f"{self.key} was not written because {failed.key} failed."

    def blocks(self, step: Step) -> bool:
        """Shared objects come before the groups, objects of a group in their order, and the finalizer last."""
        if step.is_last:
            return True
        if self.is_leaf:
            return False
        if step.deletes_claim:
            # PVCs are deleted last, and only if their workload was deleted, and the deletion was recorded.
            return self.key.kind in (*WORKLOADS, names.KIND)
        if step.is_removal or self.group is None:
            # Objects of a removed group stay until the groups that may replace it are written.
            return not self.removes_group
        return self.group == step.group or self.group in step.follows

    # What it is.

    @property
    def created(self) -> Manifest:
        """The manifest of the creation."""
        return self.manifest

    @property
    def creates(self) -> bool:
        return self.live is None and bool(self.manifest)

    @property
    def deletes_claim(self) -> bool:
        return self.deletes and self.key.kind == "PersistentVolumeClaim"

    @property
    def is_destructive(self) -> bool:
        """True when a PVC is deleted, by the step or because of it, now or later, or the last group of a role is."""
        return any(effect.is_destructive for effect in self.effects)

    # What depends on it.

    @property
    def is_leaf(self) -> bool:
        """True if no other step depends on this one."""
        return self.is_of_orphan or self.key.kind in LEAVES

    @property
    def removes_group(self) -> bool:
        """True for the deletion of an object of a group that was removed from the spec."""
        return self.deletes and self.group is None

    @property
    def is_removal(self) -> bool:
        """True for that, and for a step about PVCs of a removed group: they are retained, or marked as orphaned."""
        return self.removes_group

    # What it does to pods.

    @property
    def restart(self) -> Restart | None:
        """The pod that it evicts."""
        return None

    @property
    def adoption(self) -> Adoption | None:
        """The pods without a workload that it replaces; like the effects, only in the result of a decision."""
        return None

    @property
    def restarts_pods(self) -> bool:
        """True when the write changes what running pods are made of, or releases pods that its strategy has kept."""
        return self.changes_pods or bool(self.released_pods)

    @property
    def changes_pods(self) -> bool:
        """True when the write changes the template or subdomain of running pods, or adds a claim template."""
        return False

    @property
    def released_pods(self) -> int:
        """The number of pods of an old revision that the update strategy has kept, and keeps no longer."""
        return 0

    @property
    def restarted_pods(self) -> int:
        """The number of running pods that are replaced because of the step, without those of a partition."""
        return 0

    # The verdict of the API server.

    @property
    def verdicts(self) -> Literal["writes", "patches"] | None:
        """Which dry runs of a decision have its verdict (`DryRuns`); None: it is not known before it is carried out."""
        return "writes" if self.manifest or self.deletes else None

    def dry_run(self, _context: step.Context) -> Verdict:
        """Return the verdict of the API server; ApiError if it rejects the step."""
        return Verdict(self)

    def has_effect(self, _after: Manifest) -> bool:
        """Return whether the result of a dry run differs from the live object."""
        return True

    # What is done of it while the restart of its group waits.

    def keeping(self, _unchanged: Callable[[Any], Kept]) -> Step | None:
        """Return the part that does not wait for the restart of the group, None if the whole step waits.

        `unchanged` returns what an apply keeps until then.
        """
        return None

    @abstractmethod
    def carry_out(self, context: step.Context) -> step.Result[Any]:
        """Return the result of the write; KubernetesError if it failed."""


@dataclass(frozen=True)
class Verdict:
    """The dry run of a step: the step for the latest version of its object, and the result, or the rejection."""

    step: Step
    after: Manifest | None = None
    rejection: Finding | None = None


def annotated(manifest: Manifest, annotations: Mapping[str, str | None]) -> Manifest:
    """Return the object with these annotations; None: without them."""
    before = manifest["metadata"].get("annotations") or {}
    if all(before.get(name) == value for name, value in annotations.items()):
        return manifest
    after = {name: value for name, value in {**before, **annotations}.items() if value is not None}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": after}}
