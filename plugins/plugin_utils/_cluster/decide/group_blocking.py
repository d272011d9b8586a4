# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What belongs together travels together: a group is written whole or not at all, and what it replaces goes last."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def drop_blocked(steps: Iterable[Step], findings: Iterable[Finding]) -> tuple[Step, ...]:
    """Return the steps that may be carried out.

    None of a group with a finding, none at all if all groups share it; and as long as there is any finding, no removal
    of a group that is gone: under another name it may be the group that cannot be written.
    """
    blocked = {finding.group for finding in findings}
    if None in blocked:
        return ()
    return tuple(step for step in steps if not _is_blocked(step, blocked))


def _is_blocked(step: Step, blocked: Collection[str | None]) -> bool:
    return bool(blocked) if step.removes_group else step.group in blocked


def unchanged_message(group: str | None) -> str:
    """Return what a refusal means for the rest of its group; None is what all groups share."""
    return f"Nothing of group {group} is changed." if group else "Nothing is changed."


def deferred_removals(removals: Iterable[Step], findings: Collection[Finding]) -> tuple[Finding, ...]:
    """Return a finding for each workload of a group that is gone, when it stays because of the findings."""
    if not findings or None in {finding.group for finding in findings}:
        return ()
    deferred = (step for step in removals if step.removes_group and step.key.kind in WORKLOADS)
    return tuple(Finding(reasons.REMOVAL_DEFERRED, _words(step), _former_group(step)) for step in deferred)


def _words(step: Step) -> str:
    return (
        f"{step.key} is of group {_former_group(step)}, which the specification has no longer. It stays, with all that "
        "belongs to it, until nothing is in the way of the other groups: one of them may be to replace it."
    )


def _former_group(step: Step) -> str:
    labels = step.manifest["metadata"]["labels"]
    return step.key.name.removeprefix(names.unique_name(labels[names.CLUSTER_LABEL], ""))
