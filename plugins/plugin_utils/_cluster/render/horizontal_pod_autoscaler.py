# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HorizontalPodAutoscaler of a group."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import group_manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def horizontal_pod_autoscaler(group: Group) -> list[dict[str, Any]]:
    """Return the group's autoscaler, if it is specified."""
    spec = group.node.get("hpAutoscaler")
    if spec is None:
        return []
    metadata = {"name": group.unique_name, "labels": names.cluster_labels(group.cluster.name)}
    return [group_manifest(group, "autoscaling/v2", "HorizontalPodAutoscaler", metadata, spec=spec)]
