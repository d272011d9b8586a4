# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVC protection: a PVC that is deleted stays, terminating, until no scheduled pod mounts it."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.kubelet import claim_names
from ansible_collections.druidops.druid.tests.simulator.store import PVC_PROTECTION, Store


def sync(store: Store) -> None:
    """Remove the finalizer of each terminating PVC that no scheduled pod mounts."""
    pods = store.of_kind("Pod")
    used = {name for pod in pods if "nodeName" in pod["spec"] for name in claim_names(pod)}
    for claim in store.of_kind("PersistentVolumeClaim"):
        finalizers = claim["metadata"].get("finalizers") or []
        if is_terminating(claim) and PVC_PROTECTION in finalizers and claim["metadata"]["name"] not in used:
            store.update_metadata(claim, finalizers=[each for each in finalizers if each != PVC_PROTECTION])
