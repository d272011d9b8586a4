# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""State of each group: desired and ready pods, and why pods are missing, not ready, or not replaced. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import (
    not_created,
    unprovisioned,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    LASTING_SECONDS,
    current_pods,
    eviction,
    explanation,
    failing_pods,
    failure,
    is_evicted,
    is_unready,
    unplaced,
    unplaced_since,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    REVISION_LABEL,
    TEMPLATE_LABEL,
    first_ordinal,
    ordinal_of,
    partition,
    pods_to_keep,
    replicas,
    waits_for_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding


@dataclass(frozen=True)
class GroupState:
    """One group: desired and ready pods, whether all run the current template, and problems of its pods.

    `unschedulable` are pods that fit on no node now, or that the API server does not accept; `failures` are containers
    that cannot start, or that have ended and are not ready again. `evicted` are pods that the kubelet has stopped for
    good, and that their controller has not removed. `ready`: as both the workload and the pods show, so that a pod that
    was just deleted is not ready. `is_available`: the pods have been ready for the time that `minReadySeconds`
    specifies. `is_updated`: no pod has an old revision. `unready`: the first pod that is not ready, and since when.
    `is_observed`: the controller has observed the current spec. `has_ready_pods`: as the workload or the pods show, of
    which it may have yet to adopt some. `is_held`: only the partition of a drain keeps pods of an old revision, none is
    being replaced, and all are ready. `explanation`: why a pod whose containers run is not ready, if it is known.
    """

    key: str
    desired: int
    ready: int
    is_settled: bool
    failures: tuple[str, ...] = ()
    unschedulable: tuple[str, ...] = ()
    is_available: bool = True
    is_updated: bool = True
    unready: str = ""
    is_observed: bool = True
    has_ready_pods: bool = False
    evicted: tuple[str, ...] = ()
    is_held: bool = False
    explanation: str = ""

    @property
    def cause(self) -> str | None:
        """Why the first pod of the group is not ready, if Kubernetes reports it."""
        return next(iter((*self.failures, *self.unschedulable, *self.evicted)), None)

    @property
    def is_ready(self) -> bool:
        return self.is_settled and self.ready >= self.desired

    @property
    def has_enough_pods(self) -> bool:
        """True if the desired number of pods is ready, and there may be more."""
        return self.is_observed and self.is_updated and self.ready >= self.desired

    @property
    def is_complete(self) -> bool:
        """True if the pods of another group may restart."""
        return self.is_ready and self.is_available

    @property
    def is_down(self) -> bool:
        """True if the group has pods, and none is ready: a restart interrupts nothing."""
        return self.desired > 0 and not self.has_ready_pods

    @property
    def is_rolling(self) -> bool:
        """True while the controller replaces pods, or may be about to."""
        return not self.is_updated or not self.is_observed

    def __str__(self) -> str:
        remark = " (too many)" if self.ready > self.desired else " (rolling out)" if self.ready == self.desired else ""
        return f"{self.key} {self.ready}/{self.desired}{remark if not self.is_ready else ''}"


def group_states(
    cluster: Cluster, observed: Observed, as_it_is: bool = False, stored: Mapping[str, int] | None = None
) -> tuple[GroupState, ...]:
    """Return the state of each group in rollout order.

    With `as_it_is` the live workloads define the desired number of pods, since the spec is pending. `stored` are the
    numbers, by group, that admission has set instead of those of the spec.
    """
    desired = {**{group.key: group.replicas for group in cluster.groups}, **(stored or {})}
    return tuple(
        _state(group, desired[group.key], observed.workload(group), observed, as_it_is) for group in cluster.groups
    )


def _state(group: Group, specified: int, workload: Manifest | None, observed: Observed, as_it_is: bool) -> GroupState:
    own = sorted(observed.pods_of(group), key=_name)
    failures = tuple(text for pod in own for text in failure(pod, observed.explanations))
    unschedulable = tuple(text for pod in own for text in (*unprovisioned(pod, observed), *unplaced(pod)))
    if workload is None:
        desired = 0 if as_it_is else specified
        return GroupState(group.key, desired, 0, is_settled=as_it_is, failures=failures, unschedulable=unschedulable)
    unschedulable = (*unschedulable, *(pod.text for pod in not_created(workload, own, observed)))
    desired = workload["spec"].get("replicas", 1) if group.keeps_replicas or as_it_is else specified
    status = workload.get("status") or {}
    ready = min(status.get("readyReplicas", 0), len(_ready_pods(workload, own)))
    is_available = not workload["spec"].get("minReadySeconds") or status.get("availableReplicas", 0) >= desired
    is_updated, is_observed = (
        _is_updated(workload, own, pods_to_keep(workload, group.partition)),
        _is_observed(workload),
    )
    has_settled = is_observed and _has_replicas(workload, desired)
    is_held = has_settled and is_available and ready >= desired and _is_updated(workload, own, partition(workload))
    explained = next((text for pod in own for text in explanation(pod, observed.explanations)), "")
    return GroupState(
        group.key,
        desired,
        ready,
        has_settled and is_updated,
        failures,
        unschedulable,
        is_available,
        is_updated,
        explained or next(map(_unready, filter(is_unready, sorted(own, key=is_evicted))), ""),
        is_observed,
        bool(status.get("readyReplicas")) or not all(map(is_unready, own)),
        tuple(_evicted(own)),
        is_held and not is_updated,
        explained,
    )


def _is_observed(workload: Manifest) -> bool:
    status = workload.get("status") or {}
    return bool(status.get("observedGeneration", 0) >= workload["metadata"]["generation"])


def _has_replicas(workload: Manifest, desired: int) -> bool:
    return bool(workload["spec"].get("replicas", 1) == desired == (workload.get("status") or {}).get("replicas", 0))


def _is_updated(workload: Manifest, pods: Iterable[Manifest], kept: int) -> bool:
    """True if all pods but those that are kept have the current revision."""
    status = workload.get("status") or {}
    if workload["kind"] == "Deployment":
        return bool(status.get("updatedReplicas", 0) == status.get("replicas", 0))
    # Pods that stay at the old revision as the user requested count as up to date.
    if waits_for_deletion(workload):
        return True
    if status.get("currentRevision") == status.get("updateRevision"):
        return not any(_is_old(pod, workload, kept) for pod in pods)
    return bool(kept and status.get("updatedReplicas", 0) >= replicas(workload) - kept)


def _is_old(pod: Manifest, workload: Manifest, kept: int) -> bool:
    """True for a pod that its recreated StatefulSet has yet to replace: the first revision is the current one."""
    ordinals = range(first_ordinal(workload) + kept, first_ordinal(workload) + replicas(workload))
    if ordinal_of(pod, workload["metadata"]["name"]) not in ordinals or is_terminating(pod):
        return False
    revision = (pod["metadata"].get("labels") or {}).get(REVISION_LABEL)
    return revision is not None and revision != (workload.get("status") or {}).get("updateRevision", revision)


def _ready_pods(workload: Manifest, pods: Iterable[Manifest]) -> Sequence[Manifest]:
    """Return the ready pods: the status of the workload may still count one that was deleted.

    While one of a StatefulSet is missing, none beyond its replicas takes its place.
    """
    ready = [pod for pod in pods if not is_unready(pod)]
    if workload["kind"] != "StatefulSet":
        return [pod for pod in ready if _template(pod) is not None]
    first = first_ordinal(workload)
    ordinals = range(first, first + replicas(workload))
    specified = [pod for pod in ready if ordinal_of(pod, workload["metadata"]["name"]) in ordinals]
    return ready if len(specified) == len(ordinals) else specified


def _name(pod: Manifest) -> str:
    name: str = pod["metadata"]["name"]
    return name


def _unready(pod: Manifest) -> str:
    if is_terminating(pod):
        return f"pod {_name(pod)} is terminating, with a grace period until {pod['metadata']['deletionTimestamp']}"
    conditions = (pod.get("status") or {}).get("conditions") or ()
    since = next(
        (condition.get("lastTransitionTime") for condition in conditions if condition["type"] == "Ready"), None
    )
    return f"pod {_name(pod)} is not ready{f', since {since}' if since else ''}"


def _evicted(pods: Sequence[Manifest]) -> Iterator[str]:
    """Yield how the pods of the current template ended, the last one first: Deployments keep them for a long time."""
    by_age = sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp")), reverse=True)
    for pod in filter(is_evicted, by_age):
        if _template(pod) == _template(by_age[0]):
            yield eviction(pod)


def _template(pod: Manifest) -> str | None:
    label: str | None = (pod["metadata"].get("labels") or {}).get(TEMPLATE_LABEL)
    return label


class Cause(NamedTuple):
    """Reason and message, as the conditions report them; `lasts`: it does not end by itself."""

    reason: str
    message: str
    lasts: bool


def causes(
    cluster: Cluster,
    observed: Observed,
    states: Sequence[GroupState],
    findings: Iterable[Finding],
    refused_evictions: Sequence[str],
    stall: str | None,
    restarting: Collection[str],
    now: datetime,
) -> list[Cause]:
    """Return everything that keeps the cluster from its desired state, the worst first.

    That is what blocks the whole cluster, then pods that fail or are missing, then what blocks a part of it. `states`
    are the groups as they are. A change that is under way may solve what is wrong with pods of an earlier revision, and
    with those of the `restarting` groups.
    """
    problems = [finding for finding in findings if finding.is_problem]
    whole, part = (
        [_of_finding(problem) for problem in problems if (problem.group is None) == is_whole]
        for is_whole in (True, False)
    )
    groups = [
        (group, state, sorted(observed.pods_of(group), key=_pod_name))
        for group, state in zip(cluster.groups, states, strict=True)
    ]
    pods = [pod for _group, _state, own in groups for pod in own]
    settled = [group for group in cluster.groups if group.key not in restarting]
    current = {_pod_name(pod) for group in settled for pod in current_pods(group, observed)}
    failing = {_pod_name(pod) for group in settled for pod in failing_pods(group, observed, now)}
    are_ready = all(state.ready >= state.desired for state in states)
    return [
        *whole,
        *(
            Cause(reasons.PODS_FAILING, text, _pod_name(pod) in failing)
            for pod in pods
            for text in failure(pod, observed.explanations)
        ),
        *(
            Cause(reasons.PODS_FAILING, text, False)
            for pod in pods
            for text in explanation(pod, observed.explanations, only_causes=True)
        ),
        *(
            pod._replace(lasts=pod.lasts and group.key not in restarting)
            for group, _state, own in groups
            for pod in _not_created(group, own, observed, now)
        ),
        *(
            each._replace(lasts=each.lasts and _pod_name(pod) in current)
            for pod in pods
            for each in _not_placed(pod, observed, now)
        ),
        *part,
        *(each for group, state, _own in groups for each in _paused(group, state, observed)),
        # Otherwise, a PodDisruptionBudget rightly waits for the pods.
        *(Cause(reasons.EVICTION_REFUSED, text, True) for text in refused_evictions if are_ready),
        *([Cause(reasons.ROLLOUT_STALLED, stall, True)] if stall else ()),
    ]


def paused_rollout(group: Group, state: GroupState, observed: Observed) -> str:
    """Return why a Deployment replaces no pods although they are of an old revision; empty if it does."""
    workload = observed.workload(group)
    if workload is None or not workload["spec"].get("paused") or state.is_updated:
        return ""
    name, namespace = workload["metadata"]["name"], group.cluster.namespace
    return (
        f"Deployment {name} is paused (spec.paused), so its pods are not replaced. "
        f"Run kubectl rollout resume deployment/{name} --namespace {namespace}"
    )


def _of_finding(finding: Finding) -> Cause:
    return Cause(finding.reason, finding.message, finding.reason not in reasons.TRANSIENT_OF_DRUID)


def _not_created(group: Group, pods: Sequence[Manifest], observed: Observed, now: datetime) -> Iterator[Cause]:
    workload = observed.workload(group)
    if workload is not None:
        for pod in not_created(workload, pods, observed):
            yield Cause(reasons.PODS_NOT_CREATED, pod.text, seconds_since(pod.since, now) >= LASTING_SECONDS)


def _not_placed(pod: Manifest, observed: Observed, now: datetime) -> Iterator[Cause]:
    """Yield what keeps a pod from a node: a volume that cannot be provisioned at once, anything else after a while.

    Until then, a node may be added, and a volume provisioned.
    """
    lasts = seconds_since(unplaced_since(pod), now) >= LASTING_SECONDS
    texts = [*unprovisioned(pod, observed)] or ([*unplaced(pod)] if lasts else [])
    yield from (Cause(reasons.PODS_NOT_SCHEDULED, text, lasts) for text in texts)


def _paused(group: Group, state: GroupState, observed: Observed) -> Iterator[Cause]:
    if text := paused_rollout(group, state, observed):
        yield Cause(reasons.ROLLOUT_PAUSED, text, True)


def _pod_name(pod: Manifest) -> str:
    name: str = pod["metadata"]["name"]
    return name
