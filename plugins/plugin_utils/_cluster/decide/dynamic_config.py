# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The dynamic configurations that a resource specifies: those of the groups merged into the cluster's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding

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
# The node types that serve a kind: the first one that exists (a Coordinator can also be the Overlord).
_SERVERS: Mapping[str, tuple[str, ...]] = {
    COORDINATOR: ("coordinator",),
    BROKER: ("coordinator",),
    OVERLORD: ("overlord", "coordinator"),
    TASK_RUNNER: ("overlord", "coordinator"),
}
_ROUTER = ("router",)
_MAX_VALUE_CHARACTERS = 80

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


def due(cluster: Cluster, observed: Observed) -> SpecifiedConfigs:
    """Return the configurations that can be compared now; a finding that is not a problem names the others."""
    desired = specified(cluster)
    waits = awaited(cluster, observed, desired.configs)
    if not waits:
        return desired
    ready = {kind: config for kind, config in desired.configs.items() if kind not in waits}
    return replace(desired, configs=ready, findings=(*desired.findings, waiting(waits)))


def awaited(cluster: Cluster, observed: Observed, kinds: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, by kind, the groups that need a ready pod first.

    The state of groups outside the resource is unknown, so they are not waited for.
    """
    waits = ((kind, (_ROUTER, _SERVERS[kind])) for kind in kinds)
    found = {
        kind: tuple(key for types in needed for key in _unready(cluster, observed, types)) for kind, needed in waits
    }
    return {kind: groups for kind, groups in found.items() if groups}


def unready_routers(cluster: Cluster, observed: Observed) -> list[str]:
    """Return the router groups if none of them has a ready pod."""
    return _unready(cluster, observed, _ROUTER)


def waiting(kinds: Mapping[str, tuple[str, ...]]) -> Finding:
    """Return the finding for kinds that wait for a pod of these groups. It is not a problem."""
    groups = dict.fromkeys(key for keys in kinds.values() for key in keys)
    message = f"The dynamic configuration of {', '.join(kinds)} waits for a ready pod in {', '.join(groups)}."
    return Finding(reasons.WAITING_FOR_DRUID, message, is_problem=False)


def _of_cluster(cluster: Cluster, kind: str) -> Config:
    found: Config = (cluster.get("dynamicConfig") or {}).get(kind) or {}
    return found


def _of_group(group: Group) -> Config:
    found: Config = group.node.get("dynamicConfig") or {}
    return found


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
    places = (f"spec.nodes[{group.key}].dynamicConfig.{name} ({_shown(_of_group(group)[name])})" for group in groups)
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


def _unready(cluster: Cluster, observed: Observed, types: Iterable[str]) -> list[str]:
    """Return the keys of the groups of the first existing type, if none of them has a ready pod."""
    by_type = ([group for group in cluster.groups if group.node_type == kind] for kind in types)
    groups: list[Group] = next((groups for groups in by_type if groups), [])
    is_ready = any(_ready_pods(group, observed) for group in groups)
    return [] if is_ready else [group.key for group in groups]


def _ready_pods(group: Group, observed: Observed) -> int:
    workload = observed.workload(group)
    return int(((workload or {}).get("status") or {}).get("readyReplicas", 0))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _shown(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[: _MAX_VALUE_CHARACTERS - 3]}..."
