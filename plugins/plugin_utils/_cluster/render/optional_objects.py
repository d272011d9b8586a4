# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects of a group that exist only if the spec has them: PVCs, Ingress, PodDisruptionBudget, autoscaler."""

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


def pod_disruption_budget(group: Group, selector: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the group's disruption budget, if it is specified; it always selects the group's pods."""
    budget = group.node.get("podDisruptionBudgetSpec")
    if budget is None:
        return []
    metadata = {"name": group.unique_name, "labels": names.group_labels(group)}
    spec = {**budget, "selector": {"matchLabels": selector}}
    return [group_manifest(group, "policy/v1", "PodDisruptionBudget", metadata, spec=spec)]


def horizontal_pod_autoscaler(group: Group) -> list[dict[str, Any]]:
    """Return the group's autoscaler, if it is specified."""
    spec = group.node.get("hpAutoscaler")
    if spec is None:
        return []
    metadata = {"name": group.unique_name, "labels": names.cluster_labels(group.cluster.name)}
    return [group_manifest(group, "autoscaling/v2", "HorizontalPodAutoscaler", metadata, spec=spec)]
