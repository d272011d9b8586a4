# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Claim templates that are added although pods stay: Kubernetes cannot add a volume to a pod.

The controller would fail to update these pods, and create and replace none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.evictions import missing_volumes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.scale_down import ordinal_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def added_claims(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each StatefulSet whose update strategy keeps pods that do not have a new volume."""
    groups, live = {group.key: group for group in draft.inputs.cluster.groups}, draft.inputs.live
    recreated = (step for step in draft.applies if step.operation == "recreate" and step.key.kind == "StatefulSet")
    found = ((step, [*_kept(step, live.pods_of(groups[step.group or ""]))]) for step in recreated)
    lacking = ((step, [pod for pod in pods if missing_volumes(pod, step.manifest)]) for step, pods in found)
    return tuple(_finding(step, pods) for step, pods in lacking if pods)


def _kept(step: Step, pods: Iterator[Manifest]) -> Iterator[Manifest]:
    """Yield the pods that the update strategy of the new StatefulSet excludes."""
    strategy = step.manifest["spec"].get("updateStrategy") or {}
    partition = (strategy.get("rollingUpdate") or {}).get("partition") or 0
    for pod in pods:
        ordinal = ordinal_of(pod, step.key.name)
        if ordinal is not None and (strategy.get("type") == "OnDelete" or ordinal < partition):
            yield pod


def _finding(step: Step, pods: list[Manifest]) -> Finding:
    names = join_limited(sorted(pod["metadata"]["name"] for pod in pods))
    message = (
        f"{step.key}: volumeClaimTemplates {', '.join(missing_volumes(pods[0], step.manifest))} cannot be added while "
        f"the updateStrategy keeps pods ({names}): Kubernetes cannot add a volume to a pod, and its controller would "
        "neither replace nor create any. Specify RollingUpdate without a partition, or stop the group first "
        f"(stopped: true). Nothing of group {step.group} is changed."
    )
    return Finding(reasons.INVALID_SPEC, message, step.group)
