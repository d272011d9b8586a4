# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failing pods that block the update of a StatefulSet: with OrderedReady, the controller waits until they are ready.

So it does, whatever the policy, while pods do not have the volume of a claim template. And of several failing pods that
the group does not need any more, it stops none.

A pod of the current revision that the group needs is never deleted, so each pod is deleted at most once per revision;
and only after the scheduler and the kubelet have tried for a minute, or the kubelet several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import is_stuck
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    LASTING_SECONDS,
    MIN_RESTARTS,
    is_failing,
    is_unschedulable,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    REVISION_LABEL,
    first_ordinal,
    ordinal_of,
    replicas,
    updated_ordinals,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since


def failing_pods(inputs: Inputs) -> tuple[Delete, ...]:
    """Return the deletion of the first failing pod of each group that blocks the update of its group."""
    if not inputs.cluster.get("forceDeleteStsPodOnError"):
        return ()
    groups = (group for group in inputs.cluster.groups if not group.is_deployment)
    found = ((group, next(_blocking(group, inputs.observed, inputs.now), None)) for group in groups)
    return tuple(Delete(group=group.key, live=pod) for group, pod in found if pod is not None)


def _blocking(group: Group, observed: Observed, now: datetime) -> Iterator[Manifest]:
    workload = observed.workload(group)
    if workload is None or not (_is_ordered(workload) or is_stuck(group, observed)) or not _waits(workload):
        return
    name, revision = workload["metadata"]["name"], workload["status"]["updateRevision"]
    pods = ((ordinal_of(pod, name), pod) for pod in observed.pods_of(group) if not is_terminating(pod))
    found = sorted((each for each in pods if each[0] is not None), key=lambda each: each[0] or 0)
    failing = [(ordinal, pod) for ordinal, pod in found if _cannot_start(pod) and _has_been_tried(pod, now)]
    for ordinal, pod in failing:
        is_old = (pod["metadata"].get("labels") or {}).get(REVISION_LABEL) != revision
        if ordinal in updated_ordinals(workload) and is_old:
            yield pod
    end = first_ordinal(workload) + replicas(workload)
    surplus = [pod for ordinal, pod in failing if (ordinal or 0) >= end]
    if len(surplus) > 1:
        yield surplus[-1]


def _cannot_start(pod: Manifest) -> bool:
    return is_failing(pod) or is_unschedulable(pod)


def _has_been_tried(pod: Manifest, now: datetime) -> bool:
    """True if a start can no longer be expected: the first attempt can fail for a reason that passes."""
    status = pod.get("status") or {}
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    is_old = seconds_since(pod["metadata"].get("creationTimestamp") or "", now) >= LASTING_SECONDS
    return is_old or any(each.get("restartCount", 0) >= MIN_RESTARTS for each in containers)


def _is_ordered(workload: Manifest) -> bool:
    """True if the controller updates the pods one by one."""
    return bool(workload["spec"].get("podManagementPolicy", "OrderedReady") == "OrderedReady")


def _waits(workload: Manifest) -> bool:
    """True if the controller updates the pods, and has observed the current spec."""
    spec, status = workload["spec"], workload.get("status") or {}
    rolls = (spec.get("updateStrategy") or {}).get("type", "RollingUpdate") == "RollingUpdate"
    is_observed = status.get("observedGeneration", 0) >= workload["metadata"]["generation"]
    return rolls and is_observed and bool(status.get("updateRevision"))
