# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render the objects of a cluster from its spec."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import (
    common_config_map,
    configuration_hash,
    node_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.deployment import deployment
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.duplicate_merge_keys import (
    without_duplicates,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.horizontal_pod_autoscaler import (
    horizontal_pod_autoscaler,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.ingress import ingress
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.persistent_volume_claim import (
    persistent_volume_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.pod import pod_template
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.pod_disruption_budget import (
    pod_disruption_budget,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import (
    Preserved,
    selector,
    template_labels,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.retention_policy import (
    deletion_is_disabled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.service import named_target_ports, services
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.stateful_set import stateful_set
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

__all__ = ["Desired", "render", "without_duplicates"]

Manifest = dict[str, Any]

_NOTHING: Mapping[str, Preserved] = MappingProxyType({})


@dataclass(frozen=True)
class Desired:
    """All desired objects of a cluster, per group in the order of the apply.

    `deduplicated` are the keys of the groups whose pod template has duplicate merge keys; `verbatim` are whole
    workloads that keep such a template, which the manifests of their groups omit.
    """

    common: tuple[Manifest, ...]
    groups: Mapping[str, tuple[Manifest, ...]]
    warnings: tuple[str, ...]
    deduplicated: frozenset[str] = frozenset()
    verbatim: tuple[Manifest, ...] = ()

    @property
    def objects(self) -> tuple[Manifest, ...]:
        """Every object, in the order of the apply."""
        return (*self.common, *(manifest for group in self.groups.values() for manifest in group))


def render(
    cluster: Cluster,
    preserved: Mapping[str, Preserved] = _NOTHING,
    keep_duplicates: Collection[str] = frozenset(),
) -> Desired:
    """Return the objects of the cluster; `preserved` are values of running groups that must not change."""
    groups: dict[str, tuple[Manifest, ...]] = {}
    warnings: list[str] = []
    deduplicated = set()
    for group in cluster.groups:
        kept = preserved.get(group.key, Preserved())
        template, found = _template(group, kept, group.key in keep_duplicates)
        groups[group.key] = _group_objects(group, kept, template)
        deduplicated.update([group.key] if found else [])
        warnings += [f"spec.nodes[{group.key}]: {warning}" for warning in (*found, *_warnings(group))]
    return Desired((common_config_map(cluster),), groups, tuple(warnings), frozenset(deduplicated))


def _template(group: Group, preserved: Preserved, keep_duplicates: bool) -> tuple[Manifest, tuple[str, ...]]:
    live_hash = configuration_hash(group, preserved.configuration_hash)
    template = pod_template(group, template_labels(group, preserved), live_hash, preserved.has_empty_affinity)
    return (template, ()) if keep_duplicates else without_duplicates(template, named_target_ports(group))


def _group_objects(group: Group, preserved: Preserved, template: Manifest) -> tuple[Manifest, ...]:
    selected = selector(group, preserved)
    return (
        node_config_map(group),
        *services(group, selected),
        *persistent_volume_claims(group),
        deployment(group, selected, template)
        if group.is_deployment
        else stateful_set(group, selected, template, preserved),
        *ingress(group),
        *pod_disruption_budget(group, selected),
        *horizontal_pod_autoscaler(group),
    )


def _warnings(group: Group) -> list[str]:
    warnings = []
    if group.node.get("replicas") is None and not group.autoscaled and not group.stopped:
        warnings.append("replicas is not set, so the group has no pods")
    if group.node.get("replicas") is not None and group.autoscaled and group.foreign_autoscaler:
        warnings.append(
            f"replicas has no effect: HorizontalPodAutoscaler {group.foreign_autoscaler}, which is not part of the "
            "resource, scales the group. Define it as hpAutoscaler, delete it, or remove replicas"
        )
    if not group.is_deployment and deletion_is_disabled(group):
        warnings.append(
            "persistentVolumeClaimRetentionPolicy.whenDeleted: Delete has no effect while disablePVCDeletionFinalizer "
            "is true: the PVCs are retained"
        )
    target = (group.node.get("hpAutoscaler") or {}).get("scaleTargetRef") or {}
    if target and (target.get("kind"), target.get("name")) != (group.kind, group.unique_name):
        warnings.append(
            f"hpAutoscaler.scaleTargetRef does not name the group's workload, {group.kind} {group.unique_name}"
        )
    return warnings
