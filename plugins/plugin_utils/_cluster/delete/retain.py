# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retain PVCs when their StatefulSet is deleted: Kubernetes deletes a StatefulSet's dependents with it.

With `whenDeleted: Delete`, the StatefulSet controller adds the StatefulSet as an owner of its PVCs, some time after the
policy is set. So the policy is set to Retain first, and the owner references are removed after the controller has
observed that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import DELETE
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.retention_policy import RETAIN
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating

CLAIM = "PersistentVolumeClaim"
_POLICY = "persistentVolumeClaimRetentionPolicy"


def deletes_pvcs(stateful_set: Manifest) -> bool:
    """True when the PVCs of a live StatefulSet are deleted with it."""
    return bool(_policy(stateful_set).get("whenDeleted") == DELETE)


def owned_by(claims: Iterable[Manifest], owners: Collection[Manifest]) -> list[Manifest]:
    """Return the PVCs that one of the owners owns, except terminating ones."""
    uids = _uids(owners)
    return [live for live in claims if not is_terminating(live) and _references(live, uids) != _references(live)]


def retain(
    stateful_sets: Iterable[Manifest], claims: Collection[Manifest], group: str | None = None
) -> tuple[Step, ...]:
    """Return a step for each StatefulSet whose PVCs Kubernetes would delete with it, or may still delete."""
    return tuple(_retain(live, group) for live in stateful_sets if deletes_pvcs(live) or _is_pending(live, claims))


def _is_pending(live: Manifest, claims: Collection[Manifest]) -> bool:
    """True when the controller has not observed the latest policy, and may still add owner references."""
    observed = (live.get("status") or {}).get("observedGeneration", 0)
    return bool(observed < live["metadata"].get("generation", 0) and owned_by(claims, [live]))


def _retain(live: Manifest, group: str | None) -> Step:
    metadata, policy = live["metadata"], {**_policy(live), "whenDeleted": RETAIN}
    # Only this field: a concurrent reconcile may be setting whenScaled.
    path, value = (f"/spec/{_POLICY}/whenDeleted", RETAIN) if _policy(live) else (f"/spec/{_POLICY}", policy)
    patch: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "add", "path": path, "value": value},
    ]
    after = {**live, "spec": {**live["spec"], _POLICY: policy}}
    return Step("update", live, group, live, after, patch=patch, releases=_uids([live]))


def disown(claims: Iterable[Manifest], owners: Collection[Manifest], group: str | None = None) -> tuple[Step, ...]:
    """Return the steps that remove the references to the owners, for each PVC that has any."""
    uids = _uids(owners)
    return tuple(disowned(live, uids, group) for live in owned_by(claims, owners))


def disowned(live: Manifest, uids: frozenset[str], group: str | None = None) -> Step:
    """Return the step that removes the references to these owners from a PVC."""
    metadata, others = live["metadata"], _references(live, uids)
    patch = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
        {"op": "add", "path": "/metadata/ownerReferences", "value": others},
    ]
    after = {**live, "metadata": {**metadata, "ownerReferences": others}}
    return Step("update", live, group, live, after, patch=patch, releases=uids)


def _policy(live: Manifest) -> dict[str, Any]:
    return live["spec"].get(_POLICY) or {}


def _uids(owners: Collection[Manifest]) -> frozenset[str]:
    return frozenset(uid for live in owners if (uid := live["metadata"].get("uid")))


def _references(live: Manifest, without: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the owner references of the object, except those to these owners."""
    return [each for each in live["metadata"].get("ownerReferences") or () if each["uid"] not in without]
