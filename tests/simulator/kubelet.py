# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Scheduler, volume binder and kubelet: pods become ready, and terminating pods are removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.pods import is_ready
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store

_READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
_UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}


def sync(store: Store, is_broken: Callable[[Manifest], bool]) -> None:
    """Take each pod one step further. A broken pod runs, but is never ready."""
    for pod in store.of_kind("Pod"):
        if is_terminating(pod):
            store.remove_pod(pod)
        elif "nodeName" not in pod["spec"]:
            _schedule(store, pod)
        elif is_ready(pod) == is_broken(pod) or pod["status"]["phase"] == "Pending":
            store.update({**pod, "status": _UNREADY if is_broken(pod) else _READY})


def _schedule(store: Store, pod: Manifest) -> None:
    """Assign a node if all PVCs exist; a terminating PVC cannot be used by a new pod."""
    claims = [store.get("PersistentVolumeClaim", pod["metadata"]["namespace"], name) for name in claim_names(pod)]
    if any(claim is None or is_terminating(claim) for claim in claims):
        return
    for claim in claims:
        assert claim is not None
        store.update({**claim, "status": {**(claim.get("status") or {}), "phase": "Bound"}})
    store.update({**pod, "spec": {**pod["spec"], "nodeName": "node"}})


def claim_names(pod: Manifest) -> Iterator[str]:
    """Yield the names of the PVCs that the pod mounts."""
    volumes = pod["spec"].get("volumes") or ()
    return (each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each)
