# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Retain PVCs when their StatefulSet is deleted: Kubernetes deletes a StatefulSet's dependents with it.

With `whenDeleted: Delete`, the StatefulSet controller adds the StatefulSet as an owner of its PVCs, some time after the
policy is set. So the policy is set to Retain first, and the owner references are removed after the controller has
observed that.

These are steps of their own, not parts of a deletion: often Kubernetes deletes the StatefulSet, because its owner is
deleted, and there is no step of ours that does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import DELETE
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import RETAIN
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import Patch
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError, KubernetesError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, StepResult

_POLICY = "persistentVolumeClaimRetentionPolicy"
# How long the StatefulSet controller may take to observe a policy.
ATTEMPTS = 100
PAUSE_SECONDS = 0.1
# How often a controller may change a PVC in the meantime.
_CONFLICTS = 5


class NotObserved(KubernetesError):
    """The StatefulSet controller has not observed the policy that retains the PVCs."""


@dataclass(frozen=True, kw_only=True)
class Release(Patch):
    """A step that separates PVCs from owners, so that they are retained when one of the owners is deleted.

    `releases` are the uids of the owners.
    """

    releases: frozenset[str]

    def without_restart(self) -> Self | None:
        return self

    def carry_out(self, context: Context) -> StepResult[Step]:
        """Return the object; none if it was deleted in the meantime, so that nothing is left to do."""
        try:
            return StepResult(self, self._released(context))
        except ApiError as error:
            if error.is_missing_object:
                return StepResult(self)
            raise

    @abstractmethod
    def _released(self, context: Context) -> Manifest | None:
        """Return the object afterwards, None if nothing is left to do."""


@dataclass(frozen=True, kw_only=True)
class Retain(Release):
    """Set the policy, wait until the controller adds no more owner references, and remove those of the PVCs."""

    def _released(self, context: Context) -> Manifest | None:
        live = self._send(context)
        if live["metadata"]["uid"] not in self.releases:
            return None
        return _release_observed(context, live, f"{self.key} is not deleted: its PVCs must be retained, and")


@dataclass(frozen=True, kw_only=True)
class Disown(Release):
    """Remove the owner references of a PVC; retry if a controller has changed it since it was read."""

    def _released(self, context: Context) -> Manifest | None:
        step = self
        for _attempt in range(_CONFLICTS):
            try:
                return step._send(context)
            except ApiError as error:
                if not error.is_failed_patch_test:
                    raise
            found = context.api.get(CLAIM, self.namespace, self.key.name)
            if found is None or found["metadata"]["uid"] != self.live["metadata"]["uid"]:
                return None
            if _references(found, self.releases) == _references(found):
                # A step before has waited for the controller, and has released it.
                return found
            step = disowned(found, self.releases)
        return step._send(context)


def release_retained(context: Context, before: Manifest, after: Manifest) -> Manifest | None:
    """Return the object after a write; if that has set whenDeleted: Retain, its PVCs have lost it as their owner.

    NotObserved if the StatefulSet controller may still add owner references.
    """
    if after["kind"] != "StatefulSet" or not deletes_pvcs(before) or deletes_pvcs(after):
        return after
    return _release_observed(context, after, f"{key_of(after)} may still be deleted with its PVCs:")


def _release_observed(context: Context, live: Manifest, consequence: str) -> Manifest | None:
    """Wait until the controller has observed the policy, and remove the owner references of the PVCs.

    None if the StatefulSet was deleted. Otherwise the latest one, or NotObserved.
    """
    metadata = live["metadata"]
    for _attempt in range(ATTEMPTS):
        found = context.api.get(live["kind"], metadata["namespace"], metadata["name"])
        if found is None or found["metadata"]["uid"] != metadata["uid"]:
            return None
        if (found.get("status") or {}).get("observedGeneration", 0) >= metadata["generation"]:
            _release_claims(context, found)
            return found
        context.api.sleep(PAUSE_SECONDS)
    raise NotObserved(
        f"{consequence} the StatefulSet controller has not observed whenDeleted: Retain after "
        f"{ATTEMPTS * PAUSE_SECONDS:.0f} s. The next reconcile retries; check kube-controller-manager if it persists."
    )


def _release_claims(context: Context, stateful_set: Manifest) -> None:
    """Remove the owner of PVCs without a pod, whatever their labels; the controller keeps it."""
    claims = context.api.list_objects(CLAIM, stateful_set["metadata"]["namespace"])
    for step in disown(claims, [stateful_set]):
        step._released(context)


def released(
    owners: Collection[Manifest],
    claims: Collection[Manifest],
    group: str | None = None,
    reread: Callable[[], Iterable[Manifest]] | None = None,
) -> Iterator[Release]:
    """Yield the steps that separate PVCs from StatefulSets and from the resource: first the policies, then the owners.

    `reread` returns the PVCs that stay once the controller adds no more owners to them; None: those of `claims`.
    """
    yield from retain((live for live in owners if live["kind"] == "StatefulSet"), claims, group)
    yield from disown(claims if reread is None else reread(), owners, group)


def deletes_pvcs(stateful_set: Manifest) -> bool:
    """True when the PVCs of a live StatefulSet are deleted with it."""
    return bool(_policy(stateful_set).get("whenDeleted") == DELETE)


def owned_by(claims: Iterable[Manifest], owners: Collection[Manifest]) -> list[Manifest]:
    """Return the PVCs that one of the owners owns, except terminating ones."""
    uids = _uids(owners)
    return [live for live in claims if not is_terminating(live) and _references(live, uids) != _references(live)]


def retain(
    stateful_sets: Iterable[Manifest], claims: Collection[Manifest], group: str | None = None
) -> tuple[Retain, ...]:
    """Return a step for each StatefulSet whose PVCs Kubernetes would delete with it, or may still delete."""
    return tuple(_retain(live, group) for live in stateful_sets if deletes_pvcs(live) or _is_pending(live, claims))


def _is_pending(live: Manifest, claims: Collection[Manifest]) -> bool:
    """True when the controller has not observed the latest policy, and may still add owner references."""
    observed = (live.get("status") or {}).get("observedGeneration", 0)
    return bool(observed < live["metadata"].get("generation", 0) and owned_by(claims, [live]))


def _retain(live: Manifest, group: str | None) -> Retain:
    metadata, policy = live["metadata"], {**_policy(live), "whenDeleted": RETAIN}
    # Only this field: a concurrent reconcile may be setting whenScaled.
    path, value = (f"/spec/{_POLICY}/whenDeleted", RETAIN) if _policy(live) else (f"/spec/{_POLICY}", policy)
    patch: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
        {"op": "add", "path": path, "value": value},
    ]
    after = {**live, "spec": {**live["spec"], _POLICY: policy}}
    return Retain(group=group, live=live, after=after, patch=patch, releases=_uids([live]))


def disown(claims: Iterable[Manifest], owners: Collection[Manifest], group: str | None = None) -> tuple[Disown, ...]:
    """Return the steps that remove the references to the owners, for each PVC that has any.

    Kubernetes deletes a PVC with its owner: a StatefulSet, or the resource, if the Go operator created the PVC.
    """
    uids = _uids(owners)
    return tuple(disowned(live, uids, group) for live in owned_by(claims, owners))


def disowned(live: Manifest, uids: frozenset[str], group: str | None = None) -> Disown:
    """Return the step that removes the references to these owners from a PVC."""
    metadata, others = live["metadata"], _references(live, uids)
    patch = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
        {"op": "add", "path": "/metadata/ownerReferences", "value": others},
    ]
    after = {**live, "metadata": {**metadata, "ownerReferences": others}}
    return Disown(group=group, live=live, after=after, patch=patch, releases=uids)


def _policy(live: Manifest) -> dict[str, Any]:
    return live["spec"].get(_POLICY) or {}


def _uids(owners: Collection[Manifest]) -> frozenset[str]:
    return frozenset(uid for live in owners if (uid := live["metadata"].get("uid")))


def _references(live: Manifest, without: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the owner references of the object, except those to these owners."""
    return [each for each in live["metadata"].get("ownerReferences") or () if each["uid"] not in without]
