# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The write of a desired object by server-side apply: it is created, or updated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.retain import release_retained
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import (
    controller,
    is_scaled_by_autoscaler,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import deletes_scaled_pvcs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import (
    Planned,
    of_write,
    scales_with_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.ownership import PAUSES_SECONDS, settled
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.restarts import (
    AS_SPECIFIED,
    PodReplacement,
    adoption,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import (
    NO_RESTART,
    UPDATE,
    Effect,
    Restart,
    Step,
    Verdict,
    annotated,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import partition
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import (
    compare,
    same_fields,
    same_object,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import CONFLICT, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    AUTOSCALED_MANAGER,
    INITIAL_MANAGER,
    VERBATIM_MANAGER,
    owned_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import (
    below,
    difference,
    field_set,
    union,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.merge import remove
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    FIELD_MANAGER,
    WORKLOADS,
    Manifest,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, Operation, StepResult

_CREATE = Operation("create", reasons.CREATE_SUCCEEDED, reasons.CREATE_FAILED, "applied")
# No object has this resourceVersion: an apply with it creates an object, and fails if there is one.
_MUST_NOT_EXIST = "1"
# Between the attempts of a write while controllers update the object: in a rollout they do so several times a second.
_CONFLICT_PAUSES_SECONDS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.4, 0.8, 0.8, 1.6, 1.6)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True)
class Apply(Step):
    """The write of a desired object.

    `managed_fields` is the field ownership that must be set before. `initial` is the manifest of the creation, if it
    has more fields than the applied one: initial replicas of an autoscaled workload, or fields of other managers in a
    recreated object. `former` is the object that it replaced, if that is not `live`. `replacement`: how the pods of a
    workload are replaced. `adoption`: the restart of pods without a workload; like the effects, only in the result of
    a decision.
    """

    managed_fields: list[dict[str, Any]] | None = None
    initial: Manifest | None = None
    former: Manifest | None = None
    replacement: PodReplacement = AS_SPECIFIED
    adoption: Restart | None = None

    @property
    def operation(self) -> Operation:
        return _CREATE if self.live is None else UPDATE

    @property
    def message(self) -> str:
        if self.live is not None:
            return super().message
        return f"Successfully created object [{self.key.name}:*v1.{self.key.kind}] in namespace [{self.namespace}]"

    @property
    def created(self) -> Manifest:
        """The manifest of the creation."""
        return self.initial or self.manifest

    # What it does to pods.

    def with_effects(self, planned: Planned) -> Self:
        step = super().with_effects(planned)
        return replace(step, adoption=adoption(self, planned.observed)) if self.live is None else step

    def followed_by(self, planned: Planned) -> Iterable[Effect]:
        return of_write(self, planned)

    @property
    def needs_latest(self) -> bool:
        if self.live is None:
            return False
        return self._gets_owner or (self.key.kind in WORKLOADS and self._lowers_replicas(self.live))

    @property
    def _gets_owner(self) -> bool:
        return controller(self.live or {}) is None and bool(self.manifest["metadata"].get("ownerReferences"))

    def _lowers_replicas(self, live: Manifest) -> bool:
        before = live["spec"].get("replicas", 1)
        return bool(self.created["spec"].get("replicas", before) < before)

    def may_delete_claims(self, planned: Planned) -> bool:
        return scales_with_claims(self, planned)

    @cached_property
    def restart(self) -> Restart:
        if self.adoption is not None:
            return self.adoption
        live, after = self.live, self.after
        if self.key.kind not in WORKLOADS or live is None or after is None:
            return NO_RESTART
        return self.replacement.restart(live, after)

    def without_restart(self) -> Step | None:
        """Return the write of a workload without its pod template; None if nothing else changes.

        Nor its update strategy, if that is what has kept pods of an old revision so far. A workload whose field
        ownership has to be migrated waits as a whole.
        """
        live, after = self.live, self.after
        if self.key.kind not in WORKLOADS or self.managed_fields is not None or live is None or after is None:
            return None
        fields = self.replacement.waiting_fields(live, self.manifest, self.restart)
        annotations = self.replacement.annotations_before(live, self.manifest, self.restart)
        metadata = {**annotated(after, annotations)["metadata"]}
        metadata["managedFields"] = live["metadata"].get("managedFields")
        spec = {**after["spec"], **{name: live["spec"][name] for name in fields if name in live["spec"]}}
        kept = {**after, "metadata": metadata, "spec": spec}
        if same_object(live, kept):
            return None
        manifest = _with_owned(fields, annotated(self.manifest, annotations), live)
        return replace(self, manifest=manifest, after=kept, initial=None)

    # The verdict of the API server.

    def dry_run(self, context: Context) -> Verdict:
        return Verdict(*self._at_latest_version(context, lambda latest: latest._applied_in_dry_run(context)))

    def dry_run_of_creation(self, context: Context) -> Verdict:
        """Return the verdict on the new object alone, before it is certain that an old one has to be deleted."""
        return self.dry_run(context)

    def _applied_in_dry_run(self, context: Context) -> Manifest:
        if self.managed_fields is None or self.after is None:
            return self._send(context, self.bound_manifest, dry_run=True)
        # An apply would be evaluated with the current field ownership: so validate the result itself.
        return context.api.replace(self.after, dry_run=True)

    def has_effect(self, after: Manifest) -> bool:
        if self.live is None or self.managed_fields is not None:
            return True
        return not same_fields(self.live, after, self.manifest)

    # The write.

    def carry_out(self, context: Context) -> StepResult[Step]:
        if self.managed_fields is not None and self._needs_same_version:
            # It is written to the version that it was decided on, or not at all.
            live = self._at_latest_version(context, lambda latest: latest._settle_and_send(context, ()))[1]
        else:
            live = self._settle_and_send(context)
        if self.initial is not None:
            return StepResult(self, self._without_initial(context, live))
        return StepResult(self, live if self.live is None else release_retained(context, self.live, live))

    def _settle_and_send(self, context: Context, pauses: Sequence[float] = PAUSES_SECONDS) -> Manifest:
        """Return the object after the handover of fields, if there is one, and the apply."""
        if self.live is None or self.managed_fields is None:
            return self._send_bound(context)
        live = settled(context.api, self.live, self.manifest, self.former, pauses)
        return replace(self, live=live)._send_bound(context)

    def _without_initial(self, context: Context, live: Manifest) -> Manifest:
        """Return the created object once the fields that only its creation has are those of their managers."""
        live = settled(context.api, live, self.manifest, self.former or self.live)
        if owned_fields(live) == field_set(self.manifest, owned_fields(live)):
            return live
        update = Apply(manifest=self.manifest, group=self.group, live=live, after=self.after, former=self.former)
        return update._send_bound(context)

    def _send_bound(self, context: Context) -> Manifest:
        """Return the object after a write with its precondition."""
        if not self._needs_same_version:
            return self._send(context, self.bound_manifest)
        return self._at_latest_version(context, lambda latest: latest._send(context, latest.bound_manifest))[1]

    def _send(self, context: Context, manifest: Manifest, dry_run: bool = False) -> Manifest:
        """Return the object after an apply of the manifest, or a create if it has duplicate keys."""
        if self._has_duplicate_keys:
            return context.api.create(manifest, dry_run, VERBATIM_MANAGER)
        return context.api.apply(manifest, dry_run, FIELD_MANAGER if self.initial is None else self._initial_manager)

    @property
    def _initial_manager(self) -> str:
        """The manager that records who set the initial replicas, until their owner gets them back."""
        former = self.former or self.live
        return AUTOSCALED_MANAGER if former is not None and is_scaled_by_autoscaler(former) else INITIAL_MANAGER

    @property
    def _has_duplicate_keys(self) -> bool:
        """True when an object is created with duplicate keys in its pod template: the server rejects an apply."""
        return self.initial is not None and "template" in self.initial["spec"].keys() - self.manifest["spec"].keys()

    @property
    def bound_manifest(self) -> Manifest:
        """The manifest with its precondition: the uid of the live object, or that there is none."""
        if self.live is None:
            return self._new_manifest
        metadata = self.live["metadata"]
        if self._needs_same_version:
            return _with_metadata(self.manifest, uid=metadata["uid"], resourceVersion=metadata["resourceVersion"])
        return _with_metadata(self.manifest, uid=metadata["uid"])

    @property
    def _new_manifest(self) -> Manifest:
        if self.initial is not None and self._has_duplicate_keys:
            return self.initial
        return _with_metadata(self.created, resourceVersion=_MUST_NOT_EXIST)

    def _at_latest_version(self, context: Context, write: Callable[[Self], _Answer]) -> tuple[Self, _Answer]:
        """Return the step, updated to the latest version of the object, and the result of its write.

        A conflict is retried, after each pause, while only controllers change the object.
        """
        step = self
        for pause in _CONFLICT_PAUSES_SECONDS:
            try:
                return step, write(step)
            except ApiError as error:
                is_conflict = error.status == CONFLICT or error.is_failed_patch_test
                later = step._for_later_version(context, pause) if is_conflict else None
                if later is None:
                    raise
                step = later
        return step, write(step)

    def _for_later_version(self, context: Context, pause: float) -> Self | None:
        """Return the step for the version of the object after a pause in seconds, if only controllers changed it."""
        context.api.sleep(pause)
        live = context.api.get(self.key.kind, self.namespace, self.key.name) if self.live is not None else None
        if live is None or self.live is None or not same_object(self.live, live):
            return None
        comparison = compare(live, self.manifest, self.former)
        return replace(self, live=live, after=comparison.predicted, managed_fields=comparison.managed_fields)

    @property
    def _needs_same_version(self) -> bool:
        """True when it sets replicas, or will delete PVCs of stopped pods, depending on the replicas that were read.

        An autoscaler or a later reconcile may have raised them since; or set them to 0, to stop the group. Also when it
        has a record: another process may have recorded more since, or lowered the partition.
        """
        return self._sets_replicas or self._starts_deleting_scaled_pvcs or self._has_record

    @property
    def _sets_replicas(self) -> bool:
        return self.key.kind in WORKLOADS and self.live is not None and "replicas" in self.manifest["spec"]

    @property
    def _starts_deleting_scaled_pvcs(self) -> bool:
        if self.key.kind != "StatefulSet" or self.live is None:
            return False
        return deletes_scaled_pvcs(self.manifest) and not deletes_scaled_pvcs(self.live)

    @property
    def _has_record(self) -> bool:
        """True if it writes or removes a record of what a feature does next, or changes the partition."""
        if self.key.kind != "StatefulSet" or self.live is None:
            return False
        annotations_of = ((each["metadata"].get("annotations") or {}) for each in (self.live, self.manifest))
        is_recorded = any(name in annotations for annotations in annotations_of for name in names.RECORD_ANNOTATIONS)
        return is_recorded or partition(self.live) != partition(self.after or self.manifest)


def _with_metadata(manifest: Manifest, **more: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], **more}}


def _with_owned(fields: Sequence[str], manifest: Manifest, live: Manifest) -> Manifest:
    """Return the manifest with those of the live fields that are ours: an apply of them changes nothing."""
    ours: dict[str, Any] = {}
    owned = owned_fields(live)
    for name in fields:
        ours = union(ours, below(owned, "f:spec", f"f:{name}"))
    applied = remove(live, difference(field_set(live), ours)).get("spec", {})
    spec = {name: value for name, value in manifest["spec"].items() if name not in fields}
    return {**manifest, "spec": {**spec, **{name: applied[name] for name in fields if applied.get(name)}}}
