# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads that stay until the pods that replace them are available, with everything else of their group.

A removed group may be one of the others under its earlier name, and a group can change its kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.readiness import GroupState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS


def pending_removals(
    steps: Sequence[Step],
    cluster: Cluster,
    states: Mapping[str, GroupState],
    created: Collection[str | None],
    is_rolling: bool,
) -> frozenset[ObjectKey]:
    """Return the objects whose removal is pending.

    `created`: the groups whose workload is created; `is_rolling`: groups restart now or later.
    """
    if cluster.annotations.get(names.REMOVE_IMMEDIATELY_ANNOTATION) == "true":
        return frozenset()
    is_changing = is_rolling or bool(created) or not all(state.is_complete for state in states.values())
    of_groups = _of_removed_groups(steps) if is_changing else ()
    replaced = (step for step in steps if step.group in states and step.deletes and _runs(step))
    of_kinds = (step for step in replaced if step.group in created or not states[step.group or ""].is_complete)
    return frozenset(step.key for step in (*of_groups, *of_kinds))


def _of_removed_groups(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that remove groups, unless none of them has pods."""
    removals = [step for step in steps if step.is_removal]
    return removals if any(_runs(step) for step in removals) else []


def _runs(step: Step) -> bool:
    return step.key.kind in WORKLOADS and step.live is not None and replicas(step.live) > 0
