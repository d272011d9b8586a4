# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a cluster: what decisions ask about it, with the answers that most types share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.differences import (
    ObjectDifference,
    change_text,
    entry,
    essence,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import plan, reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import DESTRUCTIVE, Operation

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import Planned

LEAVES = ("Ingress", "PodDisruptionBudget", "HorizontalPodAutoscaler")
# Kinds of which a removed group leaves something that is changed, and not deleted.
_LEFT = ("PersistentVolumeClaim", "StatefulSet")


UPDATE = Operation("update", reasons.UPDATE_SUCCEEDED, reasons.UPDATE_FAILED, "applied")


@dataclass(frozen=True)
class Effect:
    """What follows from a step, as a line of the plan; `is_destructive`: a PVC is deleted, or a role is removed."""

    text: str
    is_destructive: bool = False


class Eviction(NamedTuple):
    """Why a pod of a workload is evicted, and the PodDisruptionBudgets because of which it is not possible now.

    `has_begun`: others of the workload were replaced. `is_ready`: the others are ready, except those that the
    controller cannot create while a pod lacks a volume. None: all pods must be available.
    """

    workload: ObjectKey
    cause: str
    budgets: tuple[ObjectKey, ...] = ()
    has_begun: bool = False
    is_ready: bool | None = None


class Restart(NamedTuple):
    """What a step does to running pods: the number of those that are replaced because of it.

    Those that a partition keeps are not counted; of an eviction, it is the number of all that are left. `outdates`: it
    changes their template or subdomain, or adds a claim template. `released` is the number of pods of an old revision
    that the update strategy has kept, and keeps no longer. `former` is the deleted workload whose pods are adopted and
    replaced, as far as they show it.
    """

    pods: int = 0
    outdates: bool = False
    released: int = 0
    former: Manifest | None = None
    eviction: Eviction | None = None

    @property
    def is_requested(self) -> bool:
        """True when the write changes what running pods are made of, or releases pods that its strategy has kept."""
        return self.outdates or bool(self.released)


NO_RESTART = Restart()


@dataclass(frozen=True, kw_only=True)
class Step(plan.Step):
    """One write. `group` is the key of its group, None for shared objects.

    `manifest` is what is applied, empty if nothing is. `live` is the object before (None: it is created, or it is not
    in Kubernetes), `after` the object afterwards (None: it is deleted, or not known yet). `effects` is what controllers
    do because of it; a decision has them only in its result. `follows` are the groups whose pods restart before those
    of its group.
    """

    group: str | None = None
    manifest: Manifest = field(default_factory=dict)
    live: Manifest | None = None
    after: Manifest | None = None
    effects: tuple[Effect, ...] = ()
    follows: frozenset[str] = frozenset()

    # It marks or deletes an orphaned PVC.
    is_of_orphan: ClassVar[bool] = False
    # It comes before the objects of all groups.
    prepares: ClassVar[bool] = False
    # It deletes the live object without its pods, and creates it again.
    recreates: ClassVar[bool] = False
    # It deletes the live object.
    deletes: ClassVar[bool] = False
    # It is the last step of a deletion: any failure before it prevents it.
    is_last: ClassVar[bool] = False

    @property
    def operation(self) -> Operation:
        return UPDATE

    @property
    def key(self) -> ObjectKey:
        return key_of(self.live or self.manifest)

    @property
    def namespace(self) -> str:
        return str((self.live or self.manifest)["metadata"]["namespace"])

    # What is shown of it.

    @property
    def title(self) -> str:
        return self._line()

    @property
    def lines(self) -> tuple[str, ...]:
        return (self._line(self.remark),)

    def _line(self, remark: str = "") -> str:
        return f"{self.operation.verb} {self.key}{remark}{DESTRUCTIVE if self.is_destructive else ''}"

    @property
    def remark(self) -> str:
        """What its line in the plan has besides its title."""
        return ""

    @property
    def differences(self) -> tuple[ObjectDifference, ...]:
        """The object before and after; of a new one the manifest, without the server's defaults."""
        after = essence(self.manifest if self.live is None else self.after)
        place = f"{self.key.kind} {self.namespace}/{self.key.name}"
        return (entry(place, essence(self.live), after, self.is_destructive),)

    @property
    def message(self) -> str:
        return f"Updated [{self.key.name}:*v1.{self.key.kind}].{change_text(self.live, self.after)}"

    def explain(self, error: KubernetesError) -> str:
        if not (isinstance(error, ApiError) and error.is_conflict):
            return str(error)
        return f"{self.key} was modified concurrently, so nothing was written to it. Retry. ({error.message})"

    def skipped(self, failed: Any) -> str:
        return f"{self.key} was not {'deleted' if self.deletes else 'written'} because {failed.key} failed."

    def finding(self, result: plan.StepResult[Any]) -> Finding:
        leaf = str(self.key) if self.group is not None and self.is_leaf else None
        return replace(super().finding(result), group=self.group, object=leaf)

    # What it does to its object, and to pods.

    @property
    def deletes_claim(self) -> bool:
        return self.deletes and self.key.kind == "PersistentVolumeClaim"

    @property
    def is_destructive(self) -> bool:
        """True when a PVC is deleted, by the step or because of it, now or later, or the last group of a role is."""
        return self.deletes_claim or any(effect.is_destructive for effect in self.effects)

    @property
    def restart(self) -> Restart:
        return NO_RESTART

    def with_effects(self, planned: Planned) -> Self:
        """Return the step with what others do because of it."""
        return replace(self, effects=tuple(self.followed_by(planned)))

    def followed_by(self, _planned: Planned) -> Iterable[Effect]:
        return ()

    @property
    def needs_latest(self) -> bool:
        """Whether it must not be carried out for an earlier version of the resource: it cannot be undone."""
        return self.is_of_orphan

    def may_delete_claims(self, _planned: Planned) -> bool:
        """Return whether others may delete PVCs because of the step."""
        return False

    def observed_after(self, observed: Observed, live: Manifest | None) -> Observed:
        """Return the observed objects after the write, of which `live` is the result."""
        if self.deletes:
            return observed.without([self.key])
        return observed if live is None else observed.with_objects([live])

    # What depends on it.

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

    @property
    def is_leaf(self) -> bool:
        """True if no other step depends on this one; replicas depend on the removal of an autoscaler."""
        removes_autoscaler = self.deletes and self.key.kind == "HorizontalPodAutoscaler"
        return self.is_of_orphan or (self.key.kind in LEAVES and not removes_autoscaler)

    @property
    def removes_group(self) -> bool:
        """True for the deletion of an object of a group that was removed from the spec."""
        return self.deletes and self.group is None

    @property
    def is_removal(self) -> bool:
        """True for that, and for a step about PVCs of a removed group: they are retained, or marked as orphaned."""
        return self.group is None and (self.deletes or self.key.kind in _LEFT)

    # The verdict of the API server, and what is done.

    @property
    def verdicts(self) -> Literal["writes", "patches"] | None:
        """What its dry run is about: a write of the object, or a patch of a PVC. None: there is no dry run."""
        return "writes" if self.manifest or self.deletes else None

    def dry_run(self, _context: plan.Context) -> Verdict:
        """Return the verdict of the API server; ApiError if it rejects the step."""
        return Verdict(self)

    def has_effect(self, _after: Manifest) -> bool:
        """Return whether the result of a dry run differs from the live object."""
        return True

    def without_restart(self) -> Step | None:
        """Return the part that does not wait for the restart of the group, None if the whole step waits."""
        return None

    @abstractmethod
    def carry_out(self, context: plan.Context) -> plan.StepResult[Any]:
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
