# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The storage driver: a volume gets the size that its PVC requests, if the storage class allows it."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.simulator.store import Store


def sync(store: Store) -> None:
    """Give each bound PVC its capacity."""
    classes = {each["metadata"]["name"] for each in store.of_kind("StorageClass") if each["allowVolumeExpansion"]}
    for claim in store.of_kind("PersistentVolumeClaim"):
        status, requests = claim.get("status") or {}, claim["spec"]["resources"]["requests"]
        is_first = "capacity" not in status
        may_grow = is_first or claim["spec"].get("storageClassName") in classes
        if status.get("phase") == "Bound" and may_grow and (status.get("capacity") or {}) != requests:
            store.update({**claim, "status": {**status, "capacity": dict(requests)}})
