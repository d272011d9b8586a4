# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All-or-nothing writes per group: a finding blocks the group, and defers the removal of groups.

An Ingress, PodDisruptionBudget or HorizontalPodAutoscaler is applied by itself: nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding


def drop_blocked(steps: Iterable[Step], findings: Collection[Finding]) -> tuple[Step, ...]:
    """Return the steps that are not blocked.

    A finding blocks its object, or else its group, or else all groups. A finding about a group also blocks the removal
    of groups: a removed group may be a blocked one under its old name.
    """
    blocked = blocked_groups(findings)
    if None in blocked:
        return ()
    objects = {finding.object for finding in findings}
    return tuple(step for step in steps if not _is_blocked(step, blocked) and str(step.key) not in objects)


def blocked_groups(findings: Iterable[Finding]) -> frozenset[str | None]:
    """Return the keys of the groups that the findings block, None for all of them."""
    return frozenset(finding.group for finding in findings if finding.object is None)


def _is_blocked(step: Step, blocked: Collection[str | None]) -> bool:
    return bool(blocked) if step.is_removal else step.group in blocked


def rejection(step: Step, reason: str, message: str) -> Finding:
    """Return the finding that blocks a step and what depends on it; the message ends with the consequence."""
    is_alone = step.group is not None and (step.is_leaf or step.key.kind == "Pod")
    if is_alone or step.is_of_orphan:
        return Finding(reason, f"{message} It blocks no other object.", step.group, object=str(step.key))
    if step.removes_group:
        return Finding(reason, f"{message} No object of a removed group is deleted.", former_group(step))
    unchanged = f"Nothing of group {step.group} is changed." if step.group else "Nothing is changed."
    return Finding(reason, f"{message} {unchanged}", step.group)


def former_group(step: Step) -> str:
    """Return the key of the removed group that the object belonged to."""
    labels = (step.live or step.manifest)["metadata"].get("labels") or {}
    name: str = labels.get(names.GROUP_LABEL, step.key.name)
    return name.removeprefix(names.unique_name(labels.get(names.CLUSTER_LABEL, ""), ""))


def deferred_removals(candidates: Iterable[Step], findings: Collection[Finding]) -> tuple[Finding, ...]:
    """Return a finding for each workload of a removed group that stays because of the findings."""
    blocked = blocked_groups(findings)
    if not blocked or None in blocked:
        return ()
    removed = (step for step in candidates if step.removes_group and step.key.kind in WORKLOADS)
    deferred = (step for step in removed if former_group(step) not in blocked)
    return tuple(Finding(reasons.REMOVAL_DEFERRED, _deferral(step), former_group(step)) for step in deferred)


def _deferral(step: Step) -> str:
    return (
        f"{step.key}: group {former_group(step)} was removed from the spec. Its deletion is deferred until the other "
        "groups can be applied (it may be a rename); until then all its objects stay. Fix the other problems."
    )
