# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-alone PVCs of a group: one for each entry of `persistentVolumeClaim`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import group_manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def persistent_volume_claims(group: Group) -> list[dict[str, Any]]:
    """Return the group's stand-alone PVCs."""
    return [_claim(group, entry) for entry in group.node.get("persistentVolumeClaim") or []]


def _claim(group: Group, entry: Mapping[str, Any]) -> dict[str, Any]:
    metadata = entry.get("metadata") or {}
    identity = {
        **metadata,
        "name": metadata.get("name") or group.unique_name,
        "labels": {**(metadata.get("labels") or {}), **names.group_labels(group)},
    }
    return group_manifest(group, "v1", "PersistentVolumeClaim", identity, spec=entry.get("spec") or {})
