# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pods whose subdomain is a former first Service of their group.

A pod gets its subdomain when it is created, and a changed serviceName is not a new revision of a StatefulSet: its
controller never replaces these pods. So they are evicted, one at a time, like the pods of a rolling update.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.scale_down import ordinal_of, replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey, Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Restart, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)


def evictions(inputs: Inputs, others: Iterable[Step]) -> tuple[Step, ...]:
    """Return the eviction of the next pod of each group, unless one of the other steps replaces its pods."""
    replaced = {step.group for step in others if _replaces_pods(step)}
    groups = (group for group in inputs.cluster.groups if group.key not in replaced)
    found = ((group, [*former_pods(group, inputs.live)]) for group in groups)
    return tuple(_eviction(group, pods, inputs.live) for group, pods in found if pods)


def former_pods(group: Group, observed: Observed) -> Iterator[Manifest]:
    """Yield the pods that have another subdomain than new ones, the one with the highest ordinal first."""
    name = ((observed.workload(group) or {}).get("spec") or {}).get("serviceName") or ""
    return (pod for pod in _replaceable(group, observed) if subdomain(pod) != name)


def _replaceable(group: Group, observed: Observed) -> Iterator[Manifest]:
    """Yield the pods of a StatefulSet but those that stay as its update strategy requests, and terminating ones."""
    workload = observed.workload(group)
    if workload is None or workload["kind"] != "StatefulSet" or is_terminating(workload):
        return
    strategy, name = workload["spec"].get("updateStrategy") or {}, workload["metadata"]["name"]
    if strategy.get("type") == "OnDelete":
        return
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    pods = {ordinal_of(pod, name): pod for pod in observed.pods_of(group) if not is_terminating(pod)}
    yield from (pods[number] for number in reversed(range(partition, replicas(workload))) if number in pods)


def exhausted_budgets(steps: Iterable[Step], observed: Observed) -> Iterator[str]:
    """Yield a warning for each eviction that a PodDisruptionBudget never allows, although all pods are healthy."""
    for step in steps:
        if step.restart is not None and step.restart.budget is not None:
            status = observed.objects[step.restart.budget]["status"]
            if status.get("currentHealthy", 0) >= status.get("expectedPods", 0):
                yield (
                    f"{step.restart.budget} does not allow the eviction of any pod, so {step.restart.pods} of group "
                    f"{step.group} keep the names in DNS that they have: they restart when it allows it, or when they "
                    "are deleted"
                )


def subdomain(pod: Manifest) -> str:
    """Return the name of the Service that the name of the pod in DNS belongs to."""
    found: str = (pod.get("spec") or {}).get("subdomain") or ""
    return found


def _replaces_pods(step: Step) -> bool:
    is_recreated = step.operation == "recreate" and step.key.kind in WORKLOADS
    return is_recreated or step.key.kind == "Pod" or bool(step.restarted_pods)


def _eviction(group: Group, pods: list[Manifest], observed: Observed) -> Step:
    workload = observed.workload(group) or {}
    cause = f"subdomain: {subdomain(pods[0])} -> {workload['spec'].get('serviceName') or '(none)'}"
    has_begun = len(pods) < len([*_replaceable(group, observed)])
    restart = Restart(len(pods), key_of(workload), cause, _budget(group, observed), has_begun)
    return Step("delete", pods[0], group.key, pods[0], restart=restart)


def _budget(group: Group, observed: Observed) -> ObjectKey | None:
    """Return the PodDisruptionBudget of the group if it does not allow the eviction now."""
    key = ObjectKey("PodDisruptionBudget", group.unique_name)
    allowed = ((observed.objects.get(key) or {}).get("status") or {}).get("disruptionsAllowed")
    return key if allowed == 0 else None
