# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render the objects of a cluster from its spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import (
    common_config_map,
    configuration_hash,
    node_config_map,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.group_objects import (
    horizontal_pod_autoscaler,
    ingress,
    named_target_ports,
    persistent_volume_claims,
    pod_disruption_budget,
    services,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import (
    without_duplicates,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.pod import (
    pod_template,
    restart_warnings,
    restarted_at,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import (
    Preserved,
    selector,
    template_labels,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import (
    deletion_is_disabled,
    workload,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

Manifest = dict[str, Any]

_NOTHING: Mapping[str, Preserved] = MappingProxyType({})


@dataclass(frozen=True)
class Desired:
    """All desired objects of a cluster, per group in the order of the apply.

    `verbatim` are workloads by group: with the duplicate merge keys that the spec has in their pod template. `groups`
    has the same workloads without duplicates.
    """

    common: tuple[Manifest, ...]
    groups: Mapping[str, tuple[Manifest, ...]]
    warnings: tuple[str, ...]
    verbatim: Mapping[str, Manifest] = field(default_factory=dict)

    @property
    def objects(self) -> tuple[Manifest, ...]:
        """Every object, in the order of the apply."""
        return (*self.common, *(manifest for group in self.groups.values() for manifest in group))


def render(cluster: Cluster, preserved: Mapping[str, Preserved] = _NOTHING) -> Desired:
    """Return the objects of the cluster; `preserved` are values of running groups that must not change."""
    groups: dict[str, tuple[Manifest, ...]] = {}
    warnings: list[str] = []
    verbatim: dict[str, Manifest] = {}
    for group in cluster.groups:
        kept = preserved.get(group.key, Preserved())
        template = _template(group, kept)
        thinned, found = without_duplicates(template, named_target_ports(group))
        groups[group.key] = _group_objects(group, kept, thinned)
        verbatim.update({group.key: workload(group, template, kept)} if found else {})
        warnings += [f"spec.nodes[{group.key}]: {warning}" for warning in (*found, *_warnings(group, kept))]
    return Desired((common_config_map(cluster),), groups, tuple(warnings), verbatim)


def _template(group: Group, preserved: Preserved) -> Manifest:
    live_hash = configuration_hash(group, preserved.configuration_hash)
    labels, restarted = template_labels(group, preserved), restarted_at(group, preserved)
    return pod_template(group, labels, live_hash, preserved.has_empty_affinity, restarted)


def _group_objects(group: Group, preserved: Preserved, template: Manifest) -> tuple[Manifest, ...]:
    selected = selector(group, preserved)
    return (
        node_config_map(group),
        *services(group, selected),
        *persistent_volume_claims(group),
        workload(group, template, preserved),
        *ingress(group),
        *pod_disruption_budget(group, selected),
        *horizontal_pod_autoscaler(group),
    )


def _warnings(group: Group, preserved: Preserved) -> list[str]:
    warnings = restart_warnings(group)
    if group.keeps_replicas and not group.autoscaled and preserved.replicas == 0:
        warnings.append("replicas is not set, so the group keeps its number of pods, which is 0")
    if names.REPLICAS_BEFORE_STOP_ANNOTATION in group.merged("workloadAnnotations"):
        warnings.append(
            f"workloadAnnotations[{names.REPLICAS_BEFORE_STOP_ANNOTATION}] has no effect: the number of pods before a "
            "stop is recorded there. Remove it, and set replicas to define the number of pods"
        )
    if group.node.get("replicas") is not None and group.autoscaled and group.foreign_autoscaler:
        warnings.append(
            f"replicas has no effect: HorizontalPodAutoscaler {group.foreign_autoscaler}, which is not part of the "
            "resource, scales the group. Define it as hpAutoscaler, delete it, or remove replicas, which keeps the "
            "current number of pods"
        )
    if group.left_replicas is not None:
        warnings.append(
            f"replicas has no effect: a HorizontalPodAutoscaler that does not exist any more set {group.left_replicas} "
            f"pods, and {group.replicas} are specified. The pods stay, in case the autoscaler is being replaced. "
            f"To stop {group.left_replicas - group.replicas} of them, run kubectl scale {group.kind.lower()} "
            f"{group.unique_name} --namespace {group.cluster.namespace} --replicas {group.replicas}"
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
