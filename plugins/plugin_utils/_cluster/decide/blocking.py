# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What blocks steps: findings block whole groups, an outdated resource what is irreversible. The order of the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import (
    WORKLOADS,
    Manifest,
    is_terminating,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, pause_finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan


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


def outdated_resource(draft: DraftPlan) -> tuple[Finding, ...]:
    """Return a finding if the plan needs the latest resource, which was changed or deleted since it was read.

    The latest resource is needed for that; it must be read after the workloads. Not in check mode: nothing is written.
    """
    inputs = draft.inputs
    if inputs.check_mode or inputs.cluster.uid is None or not any(step.needs_latest for step in draft.steps):
        return ()
    if is_latest(inputs):
        return ()
    message = f"{names.KIND} {inputs.cluster.name} was modified concurrently, so nothing was written. Retry."
    return (Finding(reasons.APPLY_FAILED, message),)


def is_latest(inputs: Inputs) -> bool:
    """True if the specification of the resource is still the latest one, and is still to be carried out."""
    return is_current(inputs.resource, inputs.reads.get(names.KIND, inputs.cluster.name))


def is_current(resource: Manifest, latest: Manifest | None) -> bool:
    """True if the latest resource has the same specification, and is not being deleted."""
    return latest is not None and _version(latest) == _version(resource)


def _version(resource: Manifest) -> tuple[str | None, int | None, bool, bool]:
    """Return what identifies the specification; an annotation that pauses the cluster is no part of a generation."""
    metadata = resource["metadata"]
    is_paused = pause_finding(metadata.get("annotations") or {}, resource.get("spec") or {}) is not None
    return metadata.get("uid"), metadata.get("generation"), is_terminating(resource), is_paused
