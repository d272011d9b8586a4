# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Warnings about steps that make a part of Druid unavailable, since no step waits for the pods of another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.scale_down import replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def rollout_warnings(steps: Sequence[Step], inputs: Inputs) -> tuple[str, ...]:
    """Return the warnings about these steps of a plan."""
    return (*_restarts(steps, inputs), *_removals(steps))


def _restarts(steps: Sequence[Step], inputs: Inputs) -> Iterator[str]:
    groups = [step.group for step in steps if step.restarts_pods and not step.waits_for_deletion and _runs(step)]
    if len(groups) > 1 and inputs.cluster.spec.get("rollingDeploy"):
        yield (
            f"the groups {join_limited(map(str, groups))} restart at the same time: rollingDeploy has no effect yet. "
            "To keep Druid available, change one group, wait until it is ready, then change the next one"
        )


def _removals(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if step.removes_group and step.key.kind in WORKLOADS and _runs(step):
            yield (
                f"{step.key} is deleted without waiting for the pods of other groups, even if one of them replaces it. "
                "To keep Druid available, add the new group first, wait until it is ready, then remove this one"
            )


def _runs(step: Step) -> bool:
    return step.live is not None and replicas(step.live) > 0
