# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods of a cluster are missing, not ready, or not replaced: by name, with the remedy, the worst first. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.missing_pods import (
    not_created,
    unprovisioned,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import (
    LASTING_SECONDS,
    current_pods,
    explanation,
    failing_pods,
    failure,
    unplaced,
    unplaced_since,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import GroupState
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding, seconds_since


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
    problems = [each for each in findings if each.is_problem]
    whole, part = (
        [_of_finding(each) for each in problems if (each.group is None) == is_whole] for is_whole in (True, False)
    )
    groups = [
        (group, state, sorted(observed.pods_of(group), key=_name))
        for group, state in zip(cluster.groups, states, strict=True)
    ]
    pods = [pod for _group, _state, own in groups for pod in own]
    settled = [group for group in cluster.groups if group.key not in restarting]
    current = {_name(pod) for group in settled for pod in current_pods(group, observed)}
    failing = {_name(pod) for group in settled for pod in failing_pods(group, observed, now)}
    are_ready = all(state.ready >= state.desired for state in states)
    return [
        *whole,
        *(
            Cause(reasons.PODS_FAILING, text, _name(pod) in failing)
            for pod in pods
            for text in failure(pod, observed.explanations)
        ),
        *(
            Cause(reasons.PODS_FAILING, text, False)
            for pod in pods
            for text in explanation(pod, observed.explanations, only_causes=True)
        ),
        *(
            each._replace(lasts=each.lasts and group.key not in restarting)
            for group, _state, own in groups
            for each in _not_created(group, own, observed, now)
        ),
        *(
            each._replace(lasts=each.lasts and _name(pod) in current)
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
        for each in not_created(workload, pods, observed):
            yield Cause(reasons.PODS_NOT_CREATED, each.text, seconds_since(each.since, now) >= LASTING_SECONDS)


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


def _name(pod: Manifest) -> str:
    name: str = pod["metadata"]["name"]
    return name
