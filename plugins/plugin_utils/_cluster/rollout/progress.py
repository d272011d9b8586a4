# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rollout in progress, as the status of a resource reports it: which group, how far, since when, what follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.druid_health import (
    DRUID_BEFORE,
    ONLY_BLOCKS,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.evictions import outdated_pods
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import (
    GroupState,
    paused_rollout,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    REVISION_LABEL,
    is_draining,
    ordinal_of,
    ordinals,
    replicas,
    template_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest, join_limited

STALLED_SECONDS = 900
# Field of the rollout in the status: the message about a stall, which other problems may precede in the conditions.
STALLED = "stalled"


class Pending(NamedTuple):
    """What is pending until other groups are available: restarts, and deletions of removed groups.

    `started`: the groups that this reconcile restarts, and `causes` why, by group. `not_recovered`: what the next one
    waits for in Druid, and `druid_before` the state of Druid at the start of the rollout, if it was read now.
    `budgets`: PodDisruptionBudgets that do not allow an eviction now.
    """

    restarts: Sequence[str] = ()
    removals: Sequence[str] = ()
    started: Sequence[str] = ()
    not_recovered: str = ""
    druid_before: Mapping[str, int] | None = None
    budgets: Sequence[str] = ()
    causes: Mapping[str, str] = MappingProxyType({})

    @property
    def removals_text(self) -> str:
        """A sentence about the removals, without its end."""
        verb = "is" if len(self.removals) == 1 else "are"
        return f"{join_limited(self.removals)} {verb} deleted" if self.removals else ""

    def __str__(self) -> str:
        verb = "restarts" if len(self.restarts) == 1 else "restart"
        restarts = f"{join_limited(self.restarts)} {verb}" if self.restarts else ""
        return " and ".join(filter(None, (restarts, self.removals_text)))

    @property
    def sentence(self) -> str:
        """What is pending, and until when."""
        if self.not_recovered:
            return f"{self} when Druid has recovered: {self.not_recovered}."
        budgets = f" and PodDisruptionBudget {join_limited(self.budgets)} allows it" if self.budgets else ""
        return f"{self} when all pods are available{budgets}."


NOTHING_PENDING = Pending()


@dataclass(frozen=True)
class Rollout:
    """The group whose pods are being replaced, and those that follow.

    `updated`: pods of the current revision. `outdated`, `ready`: the lowest number of pods of old revisions, and the
    highest number of ready ones of the current revision, with the same `revision` of its workload. `started_at`,
    `progressed_at`: when it was first observed, and when one of these last changed. `only_blocks`: none of its pods is
    being replaced, but they are not available, and others wait for them. `waiting_for`: what the next group waits for
    in Druid, and `druid_before` the state of Druid before the first one. `cause`: why its pods restart, if a reconcile
    is the reason.
    """

    group: str
    updated: int
    outdated: int
    ready: int
    pods: int
    revision: str
    started_at: str
    progressed_at: str
    only_blocks: bool = False
    pending: tuple[str, ...] = ()
    waiting_for: str = ""
    druid_before: Mapping[str, int] | None = None
    cause: str = ""

    @property
    def progress(self) -> str:
        """The group with its updated and all of its pods, as a column shows it."""
        return f"{self.group} {self.updated}/{self.pods}"

    @property
    def document(self) -> dict[str, Any]:
        """The rollout as a field of the status."""
        return {
            "group": self.group,
            "progress": self.progress,
            "updated": self.updated,
            "outdated": self.outdated,
            "ready": self.ready,
            "pods": self.pods,
            "revision": self.revision,
            "startedAt": self.started_at,
            "progressedAt": self.progressed_at,
            **({ONLY_BLOCKS: True} if self.only_blocks else {}),
            **({"cause": self.cause} if self.cause else {}),
            **({"pending": list(self.pending)} if self.pending else {}),
            **({"waitingFor": self.waiting_for} if self.waiting_for else {}),
            **({DRUID_BEFORE: dict(self.druid_before)} if self.druid_before is not None else {}),
        }

    def __str__(self) -> str:
        following = f" Then: {', '.join(self.pending)}." if self.pending else ""
        because = f" ({self.cause})" if self.cause else ""
        updated = f"{self.updated} of {self.pods} pods are updated, since {self.started_at}{because}"
        return f"Group {self.group}: {updated}.{following}"


def current_rollout(
    cluster: Cluster,
    observed: Observed,
    states: Sequence[GroupState],
    pending: Pending,
    previous: Mapping[str, Any],
    now: datetime,
) -> Rollout | None:
    """Return the rollout in progress; None if no pods are being replaced, and none wait for that."""
    before = previous.get("rollout") or {}
    rolling = _rolling(cluster, observed, states, pending, before)
    # A pod of another group that is not ready for a moment does not end the rollout of this one.
    first = min(rolling, key=lambda each: each[0].key != before.get("group"), default=None)
    first = first or _waiting(cluster, observed, pending, before)
    if first is None:
        return None
    group, workload = first
    state = next(each for each in states if each.key == group.key)
    known = pending.druid_before if pending.druid_before is not None else before.get(DRUID_BEFORE)
    rollout = replace(
        _rollout(group, workload, observed, pending, timestamp(now)),
        only_blocks=not (_has_started(group, before) or _starts(group, state, observed, pending)),
        druid_before=known,
    )
    return _since(rollout, before)


def _waiting(
    cluster: Cluster, observed: Observed, pending: Pending, before: Mapping[str, Any]
) -> tuple[Group, Manifest] | None:
    """Return the group that was restarted last, while the next one waits for Druid."""
    if not pending.not_recovered:
        return None
    previous = ((group, observed.workload(group)) for group in cluster.groups if group.key == before.get("group"))
    return next(((group, workload) for group, workload in previous if workload is not None), None)


def _rolling(
    cluster: Cluster,
    observed: Observed,
    states: Sequence[GroupState],
    pending: Pending,
    before: Mapping[str, Any],
) -> Iterator[tuple[Group, Manifest]]:
    """Yield the groups that are in a rollout: with pods of an old revision, or that block the restart of others."""
    for group, state in zip(cluster.groups, states, strict=True):
        workload = observed.workload(group)
        if workload is None or not replicas(workload):
            continue
        is_current = group.key in (*pending.started, before.get("group"))
        if state.is_complete and not (is_current and _is_evicting(group, observed, pending)):
            continue
        if is_current or not state.is_updated or pending.restarts:
            yield group, workload


def _is_evicting(group: Group, observed: Observed, pending: Pending) -> bool:
    """True if a pod of the group has just been evicted, or is about to be: its workload does not show that."""
    return group.key in pending.started or bool(outdated_pods(group, observed))


def _starts(group: Group, state: GroupState, observed: Observed, pending: Pending) -> bool:
    """True if there are pods to be replaced, which is not known before the controller has observed another change."""
    return (state.is_observed and not state.is_updated) or _is_evicting(group, observed, pending)


def _has_started(group: Group, before: Mapping[str, Any]) -> bool:
    return before.get("group") == group.key and not before.get(ONLY_BLOCKS)


def _rollout(group: Group, workload: Manifest, observed: Observed, pending: Pending, now: str) -> Rollout:
    status, evictable = workload.get("status") or {}, len(outdated_pods(group, observed))
    updated = status.get("updatedReplicas", 0) if _is_observed(workload) else 0
    outdated = max(_outdated(workload, observed.pods_of(group)), evictable)
    return Rollout(
        group.key,
        min(updated, max(0, replicas(workload) - evictable)),
        outdated,
        # If an old pod is not ready, there are more.
        max(0, status.get("readyReplicas", 0) - outdated),
        replicas(workload),
        revision_of(workload),
        started_at=now,
        progressed_at=now,
        pending=tuple(key for key in pending.restarts if key != group.key),
        waiting_for=pending.not_recovered,
        cause=pending.causes.get(group.key, ""),
    )


def _is_observed(workload: Manifest) -> bool:
    observed = (workload.get("status") or {}).get("observedGeneration", 0)
    return bool(observed >= workload["metadata"]["generation"])


def _outdated(workload: Manifest, pods: Iterable[Manifest]) -> int:
    """Return the number of pods of old revisions: all until the controller has observed the current one.

    The status of a StatefulSet counts a pod for a moment after its end, as the pods show.
    """
    status = workload.get("status") or {}
    if not _is_observed(workload):
        return max(status.get("replicas", 0), replicas(workload))
    counted: int = status.get("replicas", 0) - status.get("updatedReplicas", 0)
    current = status.get("updateRevision")
    if workload["kind"] != "StatefulSet" or current is None:
        return counted
    return min(counted, sum((pod["metadata"].get("labels") or {}).get(REVISION_LABEL) != current for pod in pods))


def revision_of(workload: Manifest) -> str:
    """Return what identifies the pods that a workload specifies, and which of them its controller may replace."""
    spec = workload["spec"]
    fields = [spec.get(name) for name in ("template", "serviceName", "strategy", "updateStrategy")]
    return digest([*fields, template_names(workload)])[:16]


def _since(rollout: Rollout, before: Mapping[str, Any]) -> Rollout:
    """Return the rollout with the times of the previous status, as far as they are about the same one."""
    if before.get("group") != rollout.group or bool(before.get(ONLY_BLOCKS)) != rollout.only_blocks:
        return rollout
    started = str(before.get("startedAt") or rollout.started_at)
    # While the next group waits for Druid, there is nothing left to progress.
    if before.get("revision") != rollout.revision or (before.get("waitingFor") and not rollout.waiting_for):
        return replace(rollout, started_at=started)
    rollout = replace(rollout, cause=rollout.cause or str(before.get("cause") or ""))
    outdated = min(rollout.outdated, before.get("outdated", rollout.outdated))
    ready = max(rollout.ready, before.get("ready", 0))
    is_same = (outdated, ready) == (before.get("outdated"), before.get("ready"))
    progressed = str(before.get("progressedAt") or rollout.progressed_at) if is_same else rollout.progressed_at
    return replace(rollout, outdated=outdated, ready=ready, started_at=started, progressed_at=progressed)


def stalled(
    cluster: Cluster,
    observed: Observed,
    rollout: Rollout | None,
    states: Sequence[GroupState],
    now: datetime,
    refused_evictions: Sequence[str] = (),
) -> str | None:
    """Return the message about a rollout that has made no progress for longer than its limit; None if it has.

    A drain has its own limits. `refused_evictions`: why pods that have to be evicted are not.
    """
    if rollout is None or rollout.waiting_for:
        return None
    group = next(each for each in cluster.groups if each.key == rollout.group)
    if is_draining(observed.workload(group) or {"metadata": {}}):
        return None
    limit = int(group.first_present("progressDeadlineSeconds") or STALLED_SECONDS)
    # Until then, a ready pod is not available, which is no lack of progress.
    limit += int(group.first_present("minReadySeconds") or 0)
    if _idle_seconds(rollout, observed.pods_of(group), now) < limit:
        return None
    state = next(each for each in states if each.key == rollout.group)
    cause = state.cause or state.unready or _missing(group, observed) or paused_rollout(group, state, observed)
    cause = cause or next((text for text in refused_evictions if group.key in text), "")
    return (
        f"The rollout of group {rollout.group} is stalled: {rollout.updated} of {rollout.pods} pods are updated, "
        f"without progress since {rollout.progressed_at}{f' ({cause})' if cause else ''}. "
        f"{_consequence(state)}"
    )


def _idle_seconds(rollout: Rollout, pods: Iterable[Manifest], now: datetime) -> float:
    """Return the time without progress. It begins at the end of the grace period of a pod that is terminating."""
    ends = (pod["metadata"]["deletionTimestamp"] for pod in pods if is_terminating(pod))
    return min(seconds_since(time, now) for time in (rollout.progressed_at, *ends))


def _missing(group: Group, observed: Observed) -> str:
    """Return the first pod that a StatefulSet does not have. Why the API server rejects it is only in its events."""
    workload = observed.workload(group)
    if workload is None or workload["kind"] != "StatefulSet":
        return ""
    name = workload["metadata"]["name"]
    existing = {ordinal_of(pod, name) for pod in observed.pods_of(group)}
    ordinal = next((number for number in ordinals(workload) if number not in existing), None)
    return "" if ordinal is None else f"pod {name}-{ordinal} does not exist: see the events of StatefulSet {name}"


def _consequence(state: GroupState) -> str:
    """Return what follows from a stall: if all pods are ready, their eviction may be pending, which blocks no group."""
    if state.cause or state.unready or state.ready < state.desired:
        return "No other group whose pods are available restarts until its pods are available."
    return "All of its pods are ready: see the events of its workload and its pods."
