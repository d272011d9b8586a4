# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Scheduler, volume binder and kubelet: pods become ready, fail or stay pending, and terminating ones are removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.pods import condition
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store

# Why the pods of an image are not ready: they run, but their probes fail; they end again and again; the image does not
# exist; or no node has room for them. The last two do not affect pods that run.
Failure = Literal["unready", "crashing", "no image", "no node"]
# As often as a client that looks at it considers enough.
_RESTARTS = 3


def sync(store: Store, failure_of: Callable[[Manifest], Failure | None]) -> None:
    """Take each pod one step further."""
    for pod in store.of_kind("Pod"):
        if is_terminating(pod):
            store.remove_pod(pod)
        elif "nodeName" in pod["spec"]:
            _run(store, pod, failure_of(pod))
        elif failure_of(pod) == "no node":
            _set_status(store, pod, "Pending", ("PodScheduled", "False", "Unschedulable"))
        else:
            _schedule(store, pod)


def _run(store: Store, pod: Manifest, failure: Failure | None) -> None:
    if failure == "no image" and pod["status"]["phase"] == "Pending":
        _set_status(store, pod, "Pending", ("Ready", "False", ""), _containers(pod, "ImagePullBackOff", 0))
    elif failure == "crashing":
        _set_status(store, pod, "Running", ("Ready", "False", ""), _containers(pod, "CrashLoopBackOff", _RESTARTS))
    else:
        _set_status(store, pod, "Running", ("Ready", "False" if failure == "unready" else "True", ""))


def _containers(pod: Manifest, reason: str, restarts: int) -> list[Manifest]:
    name = pod["spec"]["containers"][0].get("name", "")
    return [{"name": name, "restartCount": restarts, "state": {"waiting": {"reason": reason}}}]


def _set_status(
    store: Store, pod: Manifest, phase: str, state: tuple[str, str, str], containers: list[Manifest] | None = None
) -> None:
    """Write the status of a pod, with the time since when the condition has this status."""
    kind, value, reason = state
    before = condition(pod, kind)
    is_same = before.get("status") == value
    since = before.get("lastTransitionTime") if is_same else store.clock.timestamp()
    now = {"type": kind, "status": value, "lastTransitionTime": since, **({"reason": reason} if reason else {})}
    status: dict[str, Any] = {"phase": phase, "conditions": [now]}
    store.update({**pod, "status": {**status, **({"containerStatuses": containers} if containers else {})}})


def _schedule(store: Store, pod: Manifest) -> None:
    """Assign a node if all PVCs exist; a terminating PVC cannot be used by a new pod."""
    claims = [store.get("PersistentVolumeClaim", pod["metadata"]["namespace"], name) for name in claim_names(pod)]
    if any(claim is None or is_terminating(claim) for claim in claims):
        return
    for claim in claims:
        assert claim is not None
        store.update({**claim, "status": {**(claim.get("status") or {}), "phase": "Bound"}})
    scheduled = {**pod, "spec": {**pod["spec"], "nodeName": "node"}, "status": {"phase": "Pending"}}
    store.update(scheduled)


def claim_names(pod: Manifest) -> Iterator[str]:
    """Yield the names of the PVCs that the pod mounts."""
    volumes = pod["spec"].get("volumes") or ()
    return (each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each)
