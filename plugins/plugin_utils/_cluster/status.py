# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a Druid resource: standard conditions, and the Go operator's fields kept true beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.readiness import GroupState, group_states
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observe import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._conditions import Condition, condition, settle

PAUSES = frozenset({reasons.PAUSED, reasons.IGNORED})
MAX_SHOWN = 5
# Field of the Go operator's status -> the kind whose names it lists.
_NAME_LISTS = {
    "statefulSets": "StatefulSet",
    "deployments": "Deployment",
    "services": "Service",
    "configMaps": "ConfigMap",
    "podDisruptionBudgets": "PodDisruptionBudget",
    "ingress": "Ingress",
    "hpAutoscalers": "HorizontalPodAutoscaler",
    "pods": "Pod",
    "persistentVolumeClaims": "PersistentVolumeClaim",
}


def status(
    cluster: Cluster, observed: Observed, findings: Sequence[Finding], previous: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Return the whole status: what others keep there stays, what we keep is made anew."""
    states = group_states(cluster, observed)
    conditions = settle(
        _conditions(cluster, states, findings), previous.get("conditions") or (), cluster.generation, now
    )
    ours = {
        "observedGeneration": cluster.generation or 0,
        "conditions": conditions,
        "nodes": f"{sum(state.ready for state in states)}/{sum(state.wanted for state in states)}",
        "version": _versions(cluster),
        "reason": _reason(conditions),
        "druidNodeStatus": _go_status(states, conditions),
        **_name_lists(observed),
    }
    foreign = {name: value for name, value in previous.items() if name not in ours}
    return {**foreign, **{name: value for name, value in ours.items() if value not in (None, "", [])}}


def unreadable(message: str, previous: Mapping[str, Any], generation: int | None, now: datetime) -> list[Condition]:
    """Return the conditions of a cluster that could not be read: not Ready, Degraded, the others as they were."""
    before = previous.get("conditions") or ()
    told = [condition(kind, kind == "Degraded", reasons.CLUSTER_UNREADABLE, message) for kind in ("Ready", "Degraded")]
    others = [each for each in before if each["type"] not in ("Ready", "Degraded")]
    return [*settle(told, before, generation, now), *others]


def is_ready(conditions: Iterable[Mapping[str, Any]]) -> bool:
    """True when the condition Ready is."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _conditions(cluster: Cluster, states: Sequence[GroupState], findings: Sequence[Finding]) -> list[Condition]:
    problems = [finding for finding in findings if finding.is_problem]
    return [
        _ready(cluster, states, findings, problems),
        _progressing(states),
        _degraded(states, problems),
        _paused(findings),
    ]


def _ready(
    cluster: Cluster, states: Sequence[GroupState], findings: Sequence[Finding], problems: Sequence[Finding]
) -> Condition:
    if problems:
        return condition("Ready", False, problems[0].reason, _listed([problem.message for problem in problems]))
    deleting = next((finding for finding in findings if finding.reason == reasons.DELETING), None)
    if deleting is not None:
        return condition("Ready", False, deleting.reason, deleting.message)
    waiting = [state for state in states if not state.is_ready]
    if waiting:
        return condition(
            "Ready", False, reasons.NOT_READY, f"Waiting for {_listed([str(state) for state in waiting], ', ')}."
        )
    if cluster.groups and all(group.stopped for group in cluster.groups):
        return condition("Ready", False, reasons.STOPPED, "The cluster is stopped (spec.stopped): no pods are wanted.")
    nodes = sum(state.wanted for state in states)
    return condition("Ready", True, reasons.READY, f"All {nodes} nodes are ready and up to date.")


def _progressing(states: Sequence[GroupState]) -> Condition:
    moving = [state.key for state in states if not state.is_settled]
    if moving:
        return condition(
            "Progressing", True, reasons.ROLLING_OUT, f"Pods are being changed in {_listed(moving, ', ')}."
        )
    return condition("Progressing", False, reasons.UP_TO_DATE, "All pods are as the specification wants them.")


def _degraded(states: Sequence[GroupState], problems: Sequence[Finding]) -> Condition:
    if problems:
        return condition("Degraded", True, problems[0].reason, _listed([problem.message for problem in problems]))
    trouble = [text for state in states for text in state.trouble]
    if trouble:
        return condition("Degraded", True, reasons.PODS_FAILING, _listed(trouble))
    return condition("Degraded", False, reasons.AS_EXPECTED, "Nothing is in the way.")


def _paused(findings: Sequence[Finding]) -> Condition:
    pause = next((finding for finding in findings if finding.reason in PAUSES), None)
    if pause is None:
        return condition("Paused", False, reasons.NOT_PAUSED, "The resource is reconciled.")
    return condition("Paused", True, pause.reason, pause.message)


def _listed(texts: Sequence[str], separator: str = " | ") -> str:
    shown = separator.join(texts[:MAX_SHOWN])
    return shown if len(texts) <= MAX_SHOWN else f"{shown}{separator}and {len(texts) - MAX_SHOWN} more"


def _reason(conditions: Iterable[Condition]) -> str | None:
    ready = next(each for each in conditions if each["type"] == "Ready")
    return None if ready["status"] == "True" else ready["reason"]


def _versions(cluster: Cluster) -> str:
    images = [group.first_non_empty("image") for group in cluster.groups]
    return ", ".join(sorted({_tag(image) for image in images if image}))


def _tag(image: str) -> str:
    """Return what follows the image's name: the tag, or else the beginning of the digest."""
    name, _at, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return tag or digest.partition(":")[2][:12] or "latest"


def _go_status(states: Sequence[GroupState], conditions: Sequence[Condition]) -> dict[str, str]:
    ready = next(each for each in conditions if each["type"] == "Ready")
    if ready["status"] == "True":
        kind, node = "DruidClusterReady", "All"
    else:
        waiting = next((state for state in states if not state.is_ready), None)
        failing = any(each["type"] == "Degraded" and each["status"] == "True" for each in conditions)
        kind = "DruidNodeErrorState" if failing or waiting is None else "DruidNodeRollingUpdate"
        node = waiting.key if waiting else "All"
    return {
        "druidNode": node,
        "druidNodeConditionStatus": "True",
        "druidNodeConditionType": kind,
        "reason": ready["message"],
    }


def _name_lists(observed: Observed) -> dict[str, list[str]]:
    return {
        field: sorted(live["metadata"]["name"] for live in observed.of_kind(kind))
        for field, kind in _NAME_LISTS.items()
    }
