# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Workers finish their tasks before their pods are replaced or removed: they are drained, as the spec requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.state import (
    BLOCKED,
    DRAINING,
    STRATEGY,
    WAITING_FOR_POD,
    GroupDrain,
    is_replaced_by_controller,
    is_requested,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.worker_groups import (
    drains,
    is_under_way,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.writes import (
    Post,
    drain_requests,
    with_copies,
    with_drains,
    with_kept_pods,
    without_unrecorded,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import DRUID_SECONDS, Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, Rank
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult

_FIELD = "middleManagerDrain"


class Draining(Feature):
    """Drains the workers of a group, one after the other in a rollout, and all that fewer replicas remove at once."""

    texts = ((_FIELD, "message"),)

    def desired(self, desired: Desired, inputs: Inputs) -> Desired:
        """Return the desired objects, in which StatefulSets keep the pods that are not drained."""
        group_drains = drains(inputs)
        return with_copies(with_drains(desired, group_drains), group_drains, inputs.observed, inputs.admitted)

    def applies(self, steps: Sequence[Apply], inputs: Inputs) -> Iterator[Apply]:
        """Yield the writes; those of drained StatefulSets with the pods that the spec keeps."""
        yield from with_kept_pods(steps, drains(inputs))

    def steps(self, inputs: Inputs) -> Iterator[Post]:
        """Yield the requests to Druid. They follow the write of the StatefulSet, which has the record of them."""
        yield from drain_requests(drains(inputs))

    def after_gate(self, plan: Plan, inputs: Inputs) -> Plan:
        """Return the plan without requests that are not recorded yet, with what the drains wait for, and warnings."""
        group_drains = drains(inputs)
        timeouts = (text for each in group_drains for text in each.drain.warnings)
        return replace(
            plan,
            steps=without_unrecorded(plan.steps, plan.later),
            findings=(*plan.findings, *_findings(group_drains)),
            rollout_warnings=(*plan.rollout_warnings, *_refusals(group_drains), *timeouts),
        )

    def warnings(self, inputs: Inputs) -> Iterator[str]:
        """Yield warnings about groups that are not drained although the spec requests it."""
        yield from _without_effect(inputs.cluster)

    def status(self, result: ClusterResult) -> Mapping[str, Any]:
        """Return the progress of the first drain as the Go operator reports it."""
        return {} if result.inputs is None or result.is_paused else {_FIELD: _document(drains(result.inputs))}

    def requeue(self, status: Mapping[str, Any], now: datetime) -> int | None:
        """Return when to ask Druid again, while a drain goes on; a blocked one waits for its pod."""
        progress = status.get(_FIELD) or {}
        return DRUID_SECONDS if progress and progress.get("phase") != BLOCKED else None


def _findings(group_drains: Iterable[GroupDrain]) -> Iterator[Finding]:
    """Yield what the drains wait for, and why one cannot go on. These findings block nothing."""
    for each in group_drains:
        if each.drain.problem:
            message = f"Group {each.group.key} is not drained any further: {each.drain.problem}"
            yield Finding(reasons.DRAIN_BLOCKED, message, each.group.key)
        elif each.drain.awaited:
            message = f"Draining group {each.group.key}: {join_limited(each.drain.awaited, '; ')}."
            yield Finding(reasons.DRAINING, message, each.group.key, is_problem=False, rank=Rank.IN_DRUID)


def _refusals(group_drains: Iterable[GroupDrain]) -> Iterator[str]:
    """Yield a warning for each group that cannot be drained as specified, since Druid does not permit or support it."""
    for group, workers, _drain in group_drains:
        if workers.is_refused and is_under_way(workers):
            effect = "each of its pods goes only after the drainTimeout, and ends the tasks that run then"
            effect = effect if workers.requests_drain else "those that were disabled stay so"
            yield f"Druid cannot be asked for the workers of group {group.key}, so {effect}: {workers.unreachable}"
        refused = (pod.worker.refusal.rstrip(".") for pod in workers.pods if pod.worker and pod.worker.refusal)
        for text in dict.fromkeys(refused):
            yield f"task groups that the workers of group {group.key} read are not handed off: {text}"


def _without_effect(cluster: Cluster) -> Iterator[str]:
    """Yield a warning for each group of workers that is not drained, or not always, although the spec requests it."""
    for group in cluster.groups:
        if names.DRAIN_ANNOTATION in group.merged("workloadAnnotations"):
            yield f"workloadAnnotations[{names.DRAIN_ANNOTATION}] has no effect: drained workers are recorded there"
        if not is_requested(group):
            continue
        field = f"{STRATEGY} has no effect on group {group.key}"
        if group.is_deployment:
            yield f"{field}: Kubernetes decides which pods of a Deployment it replaces. Use the kind StatefulSet"
        elif not is_replaced_by_controller(group):
            yield f"{field} in a rollout: with the updateStrategy OnDelete, its pods are replaced when they are deleted"
        if group.autoscaled and not group.is_deployment:
            yield f"{field} when its autoscaler lowers its replicas: it does not wait for tasks"


def _document(group_drains: Iterable[GroupDrain]) -> dict[str, Any]:
    """Return the progress of the first drain as the Go operator reports it; empty if there is none."""
    for each in group_drains:
        record = next(iter(sorted(each.drain.records, key=lambda record: not record.released)), None)
        if record is not None:
            phase = DRAINING if not record.released else BLOCKED if each.drain.problem else WAITING_FOR_POD
            return {
                "statefulSet": each.workers.name,
                "phase": phase,
                "podName": record.pod,
                "podOrdinal": int(record.pod.rpartition("-")[2]),
                **({"oldPodUID": record.uid} if record.released else {}),
                "lastTransitionTime": record.released or record.since,
                "message": each.drain.problem or f"{join_limited(each.drain.awaited, '; ') or 'nothing is awaited'}.",
            }
    return {}
