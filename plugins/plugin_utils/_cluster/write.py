# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One write of a step: its manifest with a precondition, the request, and the message of an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.external_autoscalers import (
    is_scaled_by_autoscaler,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import deletes_scaled_pvcs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import partition
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import compare, same_object
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import CONFLICT, ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import (
    AUTOSCALED_MANAGER,
    INITIAL_MANAGER,
    VERBATIM_MANAGER,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    FIELD_MANAGER,
    WORKLOADS,
    Manifest,
)

_RECORDS = (names.DRAIN_ANNOTATION, names.DECOMMISSION_ANNOTATION)
# No object has this resourceVersion: an apply with it creates an object, and fails if there is one.
_MUST_NOT_EXIST = "1"
# Between the attempts of a write while controllers update the object: in a rollout they do so several times a second.
_CONFLICT_PAUSES_SECONDS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.4, 0.8, 0.8, 1.6, 1.6)
_Result = TypeVar("_Result")


def send(api: KubernetesApi, step: Step, manifest: Manifest, dry_run: bool = False) -> Manifest:
    """Return the object after an apply of the manifest, or a create if it has duplicate keys."""
    if step.has_duplicate_keys:
        return api.create(manifest, dry_run, VERBATIM_MANAGER)
    return api.apply(manifest, dry_run, FIELD_MANAGER if step.initial is None else _initial_manager(step))


def _initial_manager(step: Step) -> str:
    """Return the manager that records who set the initial replicas, until their owner gets them back."""
    former = step.former or step.live
    return AUTOSCALED_MANAGER if former is not None and is_scaled_by_autoscaler(former) else INITIAL_MANAGER


def send_bound(api: KubernetesApi, step: Step) -> Manifest:
    """Return the object after a write with its precondition."""
    if not needs_same_version(step):
        return send(api, step, with_precondition(step))
    return at_latest_version(api, step, lambda latest: send(api, latest, with_precondition(latest)))[1]


def at_latest_version(api: KubernetesApi, step: Step, write: Callable[[Step], _Result]) -> tuple[Step, _Result]:
    """Return the step, updated to the latest version of the object, and the result of its write.

    A conflict is retried, after each pause, while only controllers change the object.
    """
    for pause in _CONFLICT_PAUSES_SECONDS:
        try:
            return step, write(step)
        except ApiError as error:
            is_conflict = error.status == CONFLICT or error.is_failed_patch_test
            later = _for_later_version(api, step, pause) if is_conflict else None
            if later is None:
                raise
            step = later
    return step, write(step)


def with_precondition(step: Step) -> Manifest:
    """Return the manifest with the precondition of the step: the uid of the live object, or that there is none."""
    if step.initial is not None and step.has_duplicate_keys:
        return step.initial
    if step.live is None or step.operation == "recreate":
        return _with_metadata(step.initial or step.manifest, resourceVersion=_MUST_NOT_EXIST)
    metadata = step.live["metadata"]
    if needs_same_version(step):
        return _with_metadata(step.manifest, uid=metadata["uid"], resourceVersion=metadata["resourceVersion"])
    return _with_metadata(step.manifest, uid=metadata["uid"])


def needs_same_version(step: Step) -> bool:
    """True when the step sets replicas, or will delete PVCs of stopped pods, depending on the replicas that were read.

    An autoscaler or a later reconcile may have raised them since; or set them to 0, to stop the group. Also when the
    step belongs to a drain or decommissioning: another process may have recorded more since, or lowered the partition.
    """
    return _sets_replicas(step) or _starts_deleting_scaled_pvcs(step) or _drains(step)


def _for_later_version(api: KubernetesApi, step: Step, pause: float) -> Step | None:
    """Return the step for the version of the object after a pause in seconds, if only controllers changed it."""
    api.sleep(pause)
    live = api.get(step.key.kind, step.live["metadata"]["namespace"], step.key.name) if step.live is not None else None
    if live is None or step.live is None or not same_object(step.live, live):
        return None
    comparison = compare(live, step.manifest, step.former)
    return replace(step, live=live, after=comparison.predicted, managed_fields=comparison.managed_fields)


def _sets_replicas(step: Step) -> bool:
    return step.key.kind in WORKLOADS and step.live is not None and "replicas" in step.manifest["spec"]


def _starts_deleting_scaled_pvcs(step: Step) -> bool:
    if step.key.kind != "StatefulSet" or step.live is None:
        return False
    return deletes_scaled_pvcs(step.manifest) and not deletes_scaled_pvcs(step.live)


def _drains(step: Step) -> bool:
    """True if the step writes or removes the record of a drain or decommissioning, or changes the partition."""
    if step.key.kind != "StatefulSet" or step.live is None:
        return False
    found = ((each["metadata"].get("annotations") or {}) for each in (step.live, step.manifest))
    is_recorded = any(name in annotations for annotations in found for name in _RECORDS)
    return is_recorded or partition(step.live) != partition(step.after or step.manifest)


def _with_metadata(manifest: Manifest, **more: str) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], **more}}


def explain(step: Step, error: ApiError) -> str:
    """Return why nothing was written."""
    if not error.is_conflict:
        return str(error)
    return f"{step.key} was modified concurrently, so nothing was written to it. Retry. ({error.message})"
