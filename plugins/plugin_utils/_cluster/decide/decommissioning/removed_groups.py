# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups of Historicals that were removed from the spec: their pods stop without being decommissioned. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decommissioning.settings import (
    HISTORICAL,
    STRATEGY,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS


def removal_warnings(cluster: Cluster, steps: Iterable[Step]) -> Iterator[str]:
    """Yield a warning for each workload of a removed group whose pods serve segments, if the cluster has a strategy."""
    if cluster.spec.get(STRATEGY) is None or cluster.stopped:
        return
    for key in dict.fromkeys(step.key for step in steps if _stops_historicals(step)):
        group = key.name.removeprefix(names.unique_name(cluster.name, ""))
        yield (
            f"{key}: group {group} was removed from the spec, so its Historicals stop without being decommissioned. "
            "To move their segments first, specify the group again with replicas: 0, and remove it when it has no pods."
        )


def _stops_historicals(step: Step) -> bool:
    if not step.removes_group or step.key.kind not in WORKLOADS or step.live is None:
        return False
    labels = step.live["metadata"].get("labels") or {}
    return bool(labels.get(names.COMPONENT_LABEL) == HISTORICAL and replicas(step.live))
