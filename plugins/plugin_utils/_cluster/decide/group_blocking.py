# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All-or-nothing writes per group: a finding blocks the group, and any finding defers the removal of groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def drop_blocked(steps: Iterable[Step], findings: Iterable[Finding]) -> tuple[Step, ...]:
    """Return the steps that are not blocked.

    A finding blocks its group, or all groups if it has none. Any finding also blocks the removal of groups: a removed
    group may be a blocked one under its old name.
    """
    blocked = {finding.group for finding in findings}
    if None in blocked:
        return ()
    return tuple(step for step in steps if not _is_blocked(step, blocked))


def _is_blocked(step: Step, blocked: Collection[str | None]) -> bool:
    return bool(blocked) if step.removes_group or step.prepares_removal else step.group in blocked


def unchanged_message(group: str | None) -> str:
    """Return the consequence of a rejection for its group; None are the objects that all groups share."""
    return f"Nothing of group {group} is changed." if group else "Nothing is changed."


def deferred_removals(removals: Iterable[Step], findings: Collection[Finding]) -> tuple[Finding, ...]:
    """Return a finding for each workload of a removed group that stays because of the findings."""
    if not findings or None in {finding.group for finding in findings}:
        return ()
    deferred = (step for step in removals if step.removes_group and step.key.kind in WORKLOADS)
    return tuple(Finding(reasons.REMOVAL_DEFERRED, _message(step), _former_group(step)) for step in deferred)


def _message(step: Step) -> str:
    return (
        f"{step.key}: group {_former_group(step)} was removed from the spec. Its deletion is deferred until the other "
        "groups can be applied (it may be a rename); until then all its objects stay. Fix the other problems."
    )


def _former_group(step: Step) -> str:
    labels = step.manifest["metadata"]["labels"]
    return step.key.name.removeprefix(names.unique_name(labels[names.CLUSTER_LABEL], ""))
