# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Execute a plan: each write has a precondition, and an error stops only the steps that depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.release import release, release_retained
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.orphan_deletion import delete_orphan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import DruidRequest, OnStep, Step, noop
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.quota_errors import leaves_room
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.write import (
    at_latest_version,
    explain,
    needs_same_version,
    send,
    send_bound,
    with_precondition,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import (
    ApiError,
    KubernetesError,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    owned_fields,
    required_managed_fields,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_set import field_set
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

DELETION_ATTEMPTS = 100
DELETION_PAUSE_SECONDS = 0.1
# A rewrite of managedFields needs the current resourceVersion, and controllers update a new object's status often.
OWNERSHIP_PAUSES_SECONDS = (0, 0, 0.1, 0.2, 0.4, 0.8, 1.6)


class DeletionTimeout(KubernetesError):
    """An object is still terminating after the timeout."""


@dataclass(frozen=True)
class StepResult:
    """The result of a step: the live object (None: deleted, or in Druid), or why it failed or was skipped.

    `reason`: that of the failure, if it is not the general one.
    """

    step: Step
    live: Manifest | None = None
    error: str | None = None
    was_tried: bool = True
    reason: str | None = None

    @property
    def is_done(self) -> bool:
        return self.error is None


# Sends a request to Druid; returns a finding if it fails.
SendToDruid = Callable[[DruidRequest], Finding | None]


def _without_druid(request: DruidRequest) -> Finding | None:
    """Refuse the request: a caller that has steps in Druid specifies how they are sent."""
    raise TypeError(request)


def act(
    api: KubernetesApi, steps: Iterable[Step], on_step: OnStep = noop, send_to_druid: SendToDruid = _without_druid
) -> tuple[StepResult, ...]:
    """Execute the steps in order, call `on_step` before each, and return their results."""
    results: list[StepResult] = []
    for step in steps:
        blocker = next((result for result in results if not result.is_done and _depends(step, result.step)), None)
        if blocker is None:
            on_step(step)
        results.append(_carry_out(api, step, send_to_druid) if blocker is None else _skipped(step, blocker))
    return tuple(results)


def _depends(step: Step, failed: Step) -> bool:
    """Shared objects come before the groups, objects of a group in their order, and the finalizer last."""
    if failed.request is not None:
        # What follows in Kubernetes is decided on what Druid has, once it has it. So nothing else has to wait, nor does
        # another group that changes its own entries of the same list.
        return failed.key == step.key and failed.group == step.group
    if step.operation == "patch":
        return True
    if failed.is_leaf:
        return False
    if step.operation == "delete" and step.key.kind == "PersistentVolumeClaim":
        # PVCs are deleted last, and only if their workload was deleted, and the deletion was recorded.
        return failed.key.kind in (*WORKLOADS, names.KIND)
    if step.removes_group or step.prepares_removal or failed.group is None:
        # Objects of a removed group stay until the groups that may replace it are written.
        return not failed.removes_group
    return failed.group == step.group


def _carry_out(api: KubernetesApi, step: Step, send_to_druid: SendToDruid) -> StepResult:
    if step.request is not None:
        failure = send_to_druid(step.request)
        return StepResult(step) if failure is None else StepResult(step, None, failure.message, reason=failure.reason)
    try:
        return StepResult(step, _write(api, step))
    except ApiError as error:
        return StepResult(step, step.live, explain(step, error))
    except KubernetesError as error:
        return StepResult(step, step.live, str(error))


def _write(api: KubernetesApi, step: Step) -> Manifest | None:
    if step.operation == "delete":
        _delete(api, step)
        return None
    if step.patch is not None:
        return release(api, step) if step.releases else _patch(api, step, step.patch)
    if step.live is not None and step.operation == "recreate":
        _remove(api, step, step.live)
        live = _recreate(api, step)
    elif step.managed_fields is not None and needs_same_version(step):
        # It is written to the version that it was decided on, or not at all.
        _step, live = at_latest_version(api, step, lambda latest: _settle_and_send(api, latest, pauses=()))
    else:
        live = _settle_and_send(api, step)
    if step.initial is None:
        return release_retained(api, step.live, live) if step.operation == "update" else live
    live = _settle_ownership(api, live, step.manifest, step.former or step.live)
    if owned_fields(live) == field_set(step.manifest, owned_fields(live)):
        return live
    return send_bound(api, replace(step, live=live, operation="update", initial=None))


def _delete(api: KubernetesApi, step: Step) -> None:
    (kind, name), metadata = step.key, step.manifest["metadata"]
    if step.restart is not None:
        api.evict(metadata["namespace"], name, metadata["uid"])
    elif step.orphan is not None:
        delete_orphan(api, step, step.orphan)
    else:
        api.delete(kind, metadata["namespace"], name, metadata["uid"])


def _settle_and_send(api: KubernetesApi, step: Step, pauses: Sequence[float] = OWNERSHIP_PAUSES_SECONDS) -> Manifest:
    """Return the object after the handover of fields, if there is one, and the apply."""
    if step.live is not None and step.managed_fields is not None:
        step = replace(step, live=_settle_ownership(api, step.live, step.manifest, step.former, pauses))
    return send_bound(api, step)


def _recreate(api: KubernetesApi, step: Step) -> Manifest:
    """Recreate the object; retry while a quota still counts the deleted one."""
    for _attempt in range(DELETION_ATTEMPTS):
        try:
            return send(api, step, with_precondition(step))
        except ApiError as error:
            if not leaves_room(error, step.key.kind):
                raise
        api.sleep(DELETION_PAUSE_SECONDS)
    return send(api, step, with_precondition(step))


def _patch(api: KubernetesApi, step: Step, operations: list[Manifest]) -> Manifest | None:
    """Return the object, or None if it was terminating and is deleted."""
    (kind, name), metadata = step.key, step.manifest["metadata"]
    try:
        return api.json_patch(kind, metadata["namespace"], name, operations)
    except ApiError as error:
        if error.is_missing_object and is_terminating(step.manifest):
            return None
        raise


def _remove(api: KubernetesApi, step: Step, live: Manifest) -> None:
    """Delete the object, orphan its pods, and wait for the deletion: an apply before would update the old one."""
    (kind, name), metadata = key_of(live), live["metadata"]
    if not is_terminating(live):
        if kind in WORKLOADS:
            at_latest_version(api, step, lambda latest: _orphan_pods(api, latest))
        else:
            api.delete(kind, metadata["namespace"], name, metadata["uid"])
    for _attempt in range(DELETION_ATTEMPTS):
        present = api.get(kind, metadata["namespace"], name)
        if present is None or present["metadata"]["uid"] != metadata["uid"]:
            return
        api.sleep(DELETION_PAUSE_SECONDS)
    holders = ", ".join(metadata.get("finalizers") or ()) or "its dependents"
    raise DeletionTimeout(
        f"{kind} {name} must be recreated, but is still being deleted after "
        f"{DELETION_ATTEMPTS * DELETION_PAUSE_SECONDS:.0f} s, blocked by {holders}. A later reconcile recreates it."
    )


def _orphan_pods(api: KubernetesApi, step: Step) -> None:
    """Delete a workload in the version that was read, but not its pods.

    An autoscaler may change the replicas: the new workload would have the earlier number, and stop a pod.
    """
    (kind, name), metadata = step.key, (step.live or step.manifest)["metadata"]
    version = metadata.get("resourceVersion")
    api.delete(kind, metadata["namespace"], name, metadata["uid"], "Orphan", resource_version=version)


def _settle_ownership(
    api: KubernetesApi,
    live: Manifest,
    manifest: Manifest,
    former: Manifest | None = None,
    pauses: Sequence[float] = OWNERSHIP_PAUSES_SECONDS,
) -> Manifest:
    """Return the object with the field ownership that the manifest needs; values do not change.

    `former` is the object that this one replaced, if any. A conflict is retried after each pause.
    """
    managed_fields = required_managed_fields(live, manifest, former)
    if managed_fields is None:
        return live
    try:
        return _write_managed_fields(api, live, managed_fields)
    except ApiError as error:
        later = _reread(api, live, pauses[0]) if error.is_failed_patch_test and pauses else None
        if later is None:
            raise
    return _settle_ownership(api, later, manifest, former, pauses[1:])


def _reread(api: KubernetesApi, live: Manifest, pause: float) -> Manifest | None:
    """Return the live object after the pause; None if it is deleted or replaced."""
    api.sleep(pause)
    metadata = live["metadata"]
    found = api.get(live["kind"], metadata["namespace"], metadata["name"])
    return found if found is not None and found["metadata"]["uid"] == metadata["uid"] else None


def _write_managed_fields(api: KubernetesApi, live: Manifest, managed_fields: list[Manifest]) -> Manifest:
    metadata = live["metadata"]
    operations = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
        {"op": "add", "path": "/metadata/managedFields", "value": managed_fields},
    ]
    return api.json_patch(live["kind"], metadata["namespace"], metadata["name"], operations)


def _skipped(step: Step, blocker: StepResult) -> StepResult:
    done = "deleted" if step.operation == "delete" else "written"
    return StepResult(step, step.live, f"{step.key} was not {done} because {blocker.step.key} failed.", was_tried=False)
