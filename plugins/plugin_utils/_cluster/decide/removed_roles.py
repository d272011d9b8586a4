# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removed groups that others need: the last one of a role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


class _Role(NamedTuple):
    """Node types one of which is needed by others, and what happens without one."""

    types: tuple[str, ...]
    needed_by: tuple[str, ...]
    consequence: str


_WORKERS = ("middleManager", "indexer")
_ROLES = (
    _Role(("coordinator",), ("historical", "broker", "overlord", *_WORKERS), "segments are neither loaded nor moved"),
    _Role(("overlord",), _WORKERS, "no task starts"),
    _Role(("broker",), ("historical", "router", *_WORKERS), "no query is answered"),
    _Role(("historical",), ("broker",), "queries do not find the segments any more"),
    _Role(_WORKERS, ("overlord",), "no task runs"),
)
_AS_OVERLORD, _RUNNER = "druid.coordinator.asOverlord.enabled", "druid.indexer.runner.type"
# Runners of tasks that need workers; without the property, Druid has the first one.
_REMOTE = ("httpRemote", "remote")


def lost_roles(step: Step, cluster: Cluster) -> Iterator[str]:
    """Yield what the deletion of a workload with pods takes from the groups that stay: its role has no other group."""
    if not step.removes_group or step.key.kind not in WORKLOADS or step.live is None or not replicas(step.live):
        return
    if not cluster.groups:
        yield "no group of the cluster is left"
    removed = (step.live["metadata"].get("labels") or {}).get(names.COMPONENT_LABEL)
    types = _served_types(cluster)
    for role in _ROLES:
        needing = sorted(group.key for group in cluster.groups if types.get(group.key, set()) & {*role.needed_by})
        if removed in role.types and needing and not any({*role.types} & served for served in types.values()):
            lost = " or ".join(role.types)
            yield f"no group of nodeType {lost} is left for {join_limited(needing)}: {role.consequence}"


def role_warnings(cluster: Cluster, steps: Iterable[Step]) -> Iterator[str]:
    """Yield a warning for each role that the steps remove."""
    for step in steps:
        for text in lost_roles(step, cluster):
            yield f"{step.key} is deleted, and {text}. If that is not intended, specify the group again"


def _served_types(cluster: Cluster) -> Mapping[str, set[str]]:
    """Return the node types that each group is: a Coordinator can be an Overlord, and an Overlord have no workers."""
    return {group.key: {*_types(group)} for group in cluster.groups}


def _types(group: Group) -> Iterator[str]:
    specified = group.properties
    yield group.node_type
    is_overlord = group.node_type == "overlord" or specified.get(_AS_OVERLORD) == "true"
    if group.node_type == "coordinator" and is_overlord:
        yield "overlord"
    if is_overlord and specified.get(_RUNNER, _REMOTE[0]) not in _REMOTE:
        yield from _WORKERS
