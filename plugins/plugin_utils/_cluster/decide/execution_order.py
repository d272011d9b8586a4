# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of the writes: shared objects, PVCs, group by group, removals last except those of autoscalers."""

from __future__ import annotations

from collections.abc import Collection

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step


def in_order(writes: Collection[Step], removals: Collection[Step]) -> tuple[Step, ...]:
    """Return all steps in the order of execution; both arguments are in rollout order."""
    shared = (step for step in writes if step.group is None)
    grouped = sorted((step for step in writes if step.group is not None), key=lambda step: not step.prepares)
    first = (step for step in removals if _comes_first(step))
    last = (step for step in removals if not _comes_first(step))
    return (*shared, *first, *grouped, *last)


def _comes_first(step: Step) -> bool:
    """True for the removed autoscaler of a group that stays: it would revert the replicas of the group."""
    return step.key.kind == "HorizontalPodAutoscaler" and step.group is not None
