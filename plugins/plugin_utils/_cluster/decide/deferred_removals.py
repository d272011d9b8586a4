# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removed groups that stay, because other groups are blocked."""

from __future__ import annotations

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import (
    blocked_groups,
    former_group,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def deferred_removals(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each workload of a removed group that stays because of the findings."""
    blocked = blocked_groups(draft.findings)
    if not blocked or None in blocked:
        return ()
    removed = (step for step in draft.candidates if step.removes_group and step.key.kind in WORKLOADS)
    deferred = (step for step in removed if former_group(step) not in blocked)
    return tuple(Finding(reasons.REMOVAL_DEFERRED, _message(step), former_group(step)) for step in deferred)


def _message(step: Step) -> str:
    return (
        f"{step.key}: group {former_group(step)} was removed from the spec. Its deletion is deferred until the other "
        "groups can be applied (it may be a rename); until then all its objects stay. Fix the other problems."
    )
