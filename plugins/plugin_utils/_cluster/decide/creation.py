# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Objects that can be created after a read from the operator's cache, although it may be stale.

Each is created on condition that it does not exist. If it does, or is rejected, the reconcile is repeated on the API
server, which then names the owner, or the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.dynamic_config import specified
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import degraded
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import pause_finding


def can_create(inputs: Inputs) -> bool:
    """True unless the plan is only shown, or a known problem would be found again, or Druid is changed as well."""
    cluster = inputs.cluster
    is_paused = pause_finding(cluster.annotations, cluster.spec) is not None
    has_problem = degraded(inputs.resource.get("status") or {}) is not None
    return not (inputs.check_mode or cluster.uid is None or is_paused or has_problem or specified(cluster).configs)


def only_creates(inputs: Inputs, steps: Iterable[Step]) -> bool:
    """True if each step creates an object that does not depend on other live objects, or sets the finalizer."""
    return all(step.key.kind == names.KIND or _creates(inputs, step) for step in steps)


def _creates(inputs: Inputs, step: Step) -> bool:
    """True for a creation; the replicas of a workload may depend on its pods, or on a former workload."""
    if step.operation != "create" or step.initial is not None or step.former is not None:
        return False
    if step.key.kind not in WORKLOADS:
        return True
    groups = {group.key: group for group in inputs.cluster.groups}
    group = groups[step.group or ""]
    return inputs.live.replicas(group) is None and not any(inputs.live.pods_of(group))


def judged_before(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps whose rejection must be known before the first write of their group.

    Not the first one itself: if it is rejected, nothing of the group is written. Nor a leaf, which only blocks itself.
    """
    begun: set[str | None] = set()
    for step in steps:
        if step.is_leaf:
            continue
        if step.group in begun:
            yield step
        begun.add(step.group)
