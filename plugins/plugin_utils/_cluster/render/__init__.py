# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Render the objects of a cluster from its spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

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
    restarted_at,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.preserved import (
    Preserved,
    selector,
    template_labels,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.workloads import (
    workload,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group

Manifest = dict[str, Any]

_NOTHING: Mapping[str, Preserved] = MappingProxyType({})


@dataclass(frozen=True)
class Desired:
    """All desired objects of a cluster, per group in the order of the apply.

    `verbatim` are workloads by group: with the duplicate merge keys that the spec has in their pod template. `groups`
    has the same workloads without duplicates, and `duplicates` is what these lack, for people.
    """

    common: tuple[Manifest, ...]
    groups: Mapping[str, tuple[Manifest, ...]]
    verbatim: Mapping[str, Manifest] = field(default_factory=dict)
    duplicates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def objects(self) -> tuple[Manifest, ...]:
        """Every object, in the order of the apply."""
        return (*self.common, *(manifest for group in self.groups.values() for manifest in group))


def render(cluster: Cluster, preserved: Mapping[str, Preserved] = _NOTHING) -> Desired:
    """Return the objects of the cluster; `preserved` are values of running groups that must not change."""
    groups: dict[str, tuple[Manifest, ...]] = {}
    verbatim: dict[str, Manifest] = {}
    duplicates: dict[str, tuple[str, ...]] = {}
    for group in cluster.groups:
        kept = preserved.get(group.key, Preserved())
        template = _template(group, kept)
        thinned, removed = without_duplicates(template, named_target_ports(group))
        groups[group.key] = _group_objects(group, kept, thinned)
        if removed:
            verbatim[group.key], duplicates[group.key] = workload(group, template, kept), removed
    return Desired((common_config_map(cluster),), groups, verbatim, duplicates)


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
