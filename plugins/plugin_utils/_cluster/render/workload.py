# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Common fields of a group's StatefulSet and Deployment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.metadata import group_manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import Preserved
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group


def workload(
    group: Group, selector: Mapping[str, str], template: Mapping[str, Any], preserved: Preserved, **special: Any
) -> dict[str, Any]:
    """Return the group's workload; `special` are the fields of its kind."""
    metadata = {
        "name": group.unique_name,
        "labels": names.group_labels(group),
        "annotations": {**_specified_annotations(group), **_before_stop(group, preserved)},
    }
    spec = {
        "selector": {"matchLabels": selector},
        # An autoscaler, or another client that scales the group, owns this field.
        "replicas": None if group.keeps_replicas else group.replicas,
        "template": template,
        "minReadySeconds": group.first_present("minReadySeconds"),
        "revisionHistoryLimit": group.node.get("revisionHistoryLimit"),
        **special,
    }
    return group_manifest(group, "apps/v1", group.kind, metadata, spec=spec)


def _specified_annotations(group: Group) -> dict[str, str]:
    """Return the workloadAnnotations without those that are records of the live state."""
    specified, records = (
        group.merged("workloadAnnotations"),
        (names.REPLICAS_BEFORE_STOP_ANNOTATION, names.DRAIN_ANNOTATION, names.DECOMMISSION_ANNOTATION),
    )
    return {key: value for key, value in specified.items() if key not in records}


def _before_stop(group: Group, preserved: Preserved) -> dict[str, str]:
    """Return the annotation with which a stopped group later resumes, if the spec does not set its replicas then."""
    if not group.stopped:
        return {}
    replicas = group.first_replicas if preserved.replicas is None else preserved.replicas
    return {names.REPLICAS_BEFORE_STOP_ANNOTATION: str(replicas)}
