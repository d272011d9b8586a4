# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Common fields of a group's StatefulSet and Deployment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import group_manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def workload(group: Group, selector: Mapping[str, str], template: Mapping[str, Any], **special: Any) -> dict[str, Any]:
    """Return the group's workload; `special` are the fields of its kind."""
    metadata = {
        "name": group.unique_name,
        "labels": names.group_labels(group),
        "annotations": group.merged("workloadAnnotations"),
    }
    spec = {
        "selector": {"matchLabels": selector},
        # The autoscaler owns this field.
        "replicas": None if group.autoscaled else group.replicas,
        "template": template,
        "minReadySeconds": group.node.get("minReadySeconds"),
        "revisionHistoryLimit": group.node.get("revisionHistoryLimit"),
        **special,
    }
    return group_manifest(group, "apps/v1", group.kind, metadata, spec=spec)
