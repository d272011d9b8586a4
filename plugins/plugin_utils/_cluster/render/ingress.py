# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Ingress of a group."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import group_manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def ingress(group: Group) -> list[dict[str, Any]]:
    """Return the group's Ingress, if it is specified."""
    spec = group.node.get("ingress")
    if spec is None:
        return []
    metadata = {
        "name": group.unique_name,
        "labels": names.cluster_labels(group.cluster.name),
        "annotations": group.node.get("ingressAnnotations"),
    }
    return [group_manifest(group, "networking.k8s.io/v1", "Ingress", metadata, spec=spec)]
