# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retain PVCs before their owner is deleted, while controllers may change the same objects."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.retain import (
    CLAIM,
    deletes_pvcs,
    disown,
    disowned,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

ATTEMPTS = 100
PAUSE_SECONDS = 0.1
# How often a controller may change a PVC in the meantime.
_CONFLICTS = 5


class NotObserved(KubernetesError):
    """The StatefulSet controller has not observed the policy that retains the PVCs."""


def release(api: KubernetesApi, step: Step) -> Manifest | None:
    """Return the object after the step; None if it was deleted in the meantime, so that nothing is left to do."""
    try:
        return _disown(api, step) if step.key.kind == CLAIM else _retain(api, step)
    except ApiError as error:
        if error.is_missing_object:
            return None
        raise


def _retain(api: KubernetesApi, step: Step) -> Manifest | None:
    """Set the policy, wait until the controller adds no more owner references, and remove those of the PVCs."""
    (kind, name), namespace = step.key, step.manifest["metadata"]["namespace"]
    live = api.json_patch(kind, namespace, name, step.patch or [])
    if live["metadata"]["uid"] not in step.releases:
        return None
    return _release_observed(api, live, f"{step.key} is not deleted: its PVCs must be retained, and")


def release_retained(api: KubernetesApi, before: Manifest | None, after: Manifest) -> Manifest | None:
    """Return the object after a write; if that has set whenDeleted: Retain, its PVCs have lost it as their owner.

    NotObserved if the StatefulSet controller may still add owner references.
    """
    if after["kind"] != "StatefulSet" or before is None or not deletes_pvcs(before) or deletes_pvcs(after):
        return after
    return _release_observed(api, after, f"{key_of(after)} may still be deleted with its PVCs:")


def _release_observed(api: KubernetesApi, live: Manifest, consequence: str) -> Manifest | None:
    """Wait until the controller has observed the policy, and remove the owner references of the PVCs.

    None if the StatefulSet was deleted. Otherwise the latest one, or NotObserved.
    """
    metadata = live["metadata"]
    for _attempt in range(ATTEMPTS):
        found = api.get(live["kind"], metadata["namespace"], metadata["name"])
        if found is None or found["metadata"]["uid"] != metadata["uid"]:
            return None
        if (found.get("status") or {}).get("observedGeneration", 0) >= metadata["generation"]:
            _release_claims(api, found)
            return found
        api.sleep(PAUSE_SECONDS)
    raise NotObserved(
        f"{consequence} the StatefulSet controller has not observed whenDeleted: Retain after "
        f"{ATTEMPTS * PAUSE_SECONDS:.0f} s. The next reconcile retries; check kube-controller-manager if it persists."
    )


def _release_claims(api: KubernetesApi, stateful_set: Manifest) -> None:
    """Remove the owner of PVCs without a pod, whatever their labels; the controller keeps it."""
    for step in disown(api.list_objects(CLAIM, stateful_set["metadata"]["namespace"]), [stateful_set]):
        _disown(api, step)


def _disown(api: KubernetesApi, step: Step) -> Manifest | None:
    """Remove the owner references; retry if a controller has changed the PVC since it was read."""
    (kind, name), metadata = step.key, step.manifest["metadata"]
    for _attempt in range(_CONFLICTS):
        try:
            return api.json_patch(kind, metadata["namespace"], name, step.patch or [])
        except ApiError as error:
            if not error.is_failed_patch_test:
                raise
        found = api.get(kind, metadata["namespace"], name)
        if found is None or found["metadata"]["uid"] != metadata["uid"]:
            return None
        step = disowned(found, step.releases)
    return api.json_patch(kind, metadata["namespace"], name, step.patch or [])
