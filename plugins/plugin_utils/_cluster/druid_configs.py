# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations of Druid that a resource specifies, those of the groups merged into the cluster's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import shown

COORDINATOR, OVERLORD, BROKER, TASK_RUNNER = "coordinator", "overlord", "broker", "kubernetesTaskRunner"
KINDS = (COORDINATOR, OVERLORD, BROKER, TASK_RUNNER)
# The Go operator identifies the groups middlemanagers and coordinators by key; they have these node types.
_KIND_OF_NODE_TYPE: Mapping[str, str] = {
    "coordinator": COORDINATOR,
    "overlord": OVERLORD,
    "middleManager": OVERLORD,
    "indexer": OVERLORD,
    "broker": BROKER,
}

Config = Mapping[str, Any]


@dataclass(frozen=True)
class SpecifiedConfigs:
    """The specified configuration by kind, findings about others, and warnings."""

    configs: Mapping[str, Config] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()


def specified(cluster: Cluster) -> SpecifiedConfigs:
    """Return the specified configurations, without a kind for which two groups contradict each other."""
    configs: dict[str, Config] = {}
    findings: list[Finding] = []
    for kind in KINDS:
        groups = [group for group in cluster.groups if _KIND_OF_NODE_TYPE.get(group.node_type) == kind]
        contradictions = tuple(_contradictions(kind, groups))
        if not contradictions:
            configs[kind] = {**_of_cluster(cluster, kind), **_of_groups(groups)}
        findings += contradictions
    desired = {kind: config for kind, config in configs.items() if config}
    return SpecifiedConfigs(desired, tuple(findings), tuple(_warnings(cluster)))


def _of_cluster(cluster: Cluster, kind: str) -> Config:
    config: Config = (cluster.get("dynamicConfig") or {}).get(kind) or {}
    return config


def _of_group(group: Group) -> Config:
    config: Config = group.node.get("dynamicConfig") or {}
    return config


def _of_groups(groups: Iterable[Group]) -> dict[str, Any]:
    return {name: value for group in groups for name, value in _of_group(group).items()}


def _contradictions(kind: str, groups: Iterable[Group]) -> Iterator[Finding]:
    first: dict[str, Group] = {}
    for group in groups:
        for name, value in _of_group(group).items():
            other = first.setdefault(name, group)
            if _text(_of_group(other)[name]) != _text(value):
                yield _contradiction(kind, name, other, group)


def _contradiction(kind: str, name: str, *groups: Group) -> Finding:
    values = ((group.key, shown(_text(_of_group(group)[name]))) for group in groups)
    places = (f"spec.nodes[{key}].dynamicConfig.{name} ({text})" for key, text in values)
    return Finding(
        reasons.INVALID_SPEC,
        f"{' and '.join(places)} contradict each other: Druid has one dynamic configuration of {kind}. Set it in "
        f"one of them, or in spec.dynamicConfig.{kind}. It is not written before that.",
    )


def _warnings(cluster: Cluster) -> Iterator[str]:
    for name in sorted((cluster.get("dynamicConfig") or {}).keys() - {*KINDS}):
        yield f"spec.dynamicConfig.{name} has no effect: the supported fields are {', '.join(KINDS)}."
    for group in cluster.groups:
        if _of_group(group) and group.node_type not in _KIND_OF_NODE_TYPE:
            where = f"spec.nodes[{group.key}].dynamicConfig"
            yield f"{where} has no effect: Druid has no dynamic configuration for a {group.node_type}. Remove it."


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
