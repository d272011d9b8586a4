# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The handover of fields: field ownership is rewritten before or after an apply, and no value changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import required_managed_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi

# A rewrite of managedFields needs the current resourceVersion, and controllers update a new object's status often.
PAUSES_SECONDS = (0, 0, 0.1, 0.2, 0.4, 0.8, 1.6)


def settled(
    api: KubernetesApi,
    live: Manifest,
    manifest: Manifest,
    former: Manifest | None = None,
    pauses: Sequence[float] = PAUSES_SECONDS,
) -> Manifest:
    """Return the object with the field ownership that the manifest needs; values do not change.

    `former` is the object that this one replaced, if any. A conflict is retried after each pause.
    """
    managed_fields = required_managed_fields(live, manifest, former)
    if managed_fields is None:
        return live
    try:
        return _write(api, live, managed_fields)
    except ApiError as error:
        later = _reread(api, live, pauses[0]) if error.is_failed_patch_test and pauses else None
        if later is None:
            raise
    return settled(api, later, manifest, former, pauses[1:])


def _reread(api: KubernetesApi, live: Manifest, pause: float) -> Manifest | None:
    """Return the live object after the pause; None if it is deleted or replaced."""
    api.sleep(pause)
    metadata = live["metadata"]
    latest = api.get(live["kind"], metadata["namespace"], metadata["name"])
    return latest if latest is not None and latest["metadata"]["uid"] == metadata["uid"] else None


def _write(api: KubernetesApi, live: Manifest, managed_fields: list[Manifest]) -> Manifest:
    metadata = live["metadata"]
    operations = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
        {"op": "add", "path": "/metadata/managedFields", "value": managed_fields},
    ]
    return api.json_patch(live["kind"], metadata["namespace"], metadata["name"], operations)
