# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions of a cluster: from its pods, its rollout, and findings, whichever feature they are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import blocked_groups
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.progress import (
    NOTHING_PENDING,
    Pending,
    Rollout,
    current_rollout,
    stalled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.readiness import (
    Cause,
    GroupState,
    causes,
    group_states,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import STALLED as STALLED_CONDITION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    Condition,
    condition,
    degraded_condition,
    with_transition_times,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    UNFINISHED,
    Finding,
    Rank,
    of_rank,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

# There are these conditions only while there are warnings.
WARNINGS, ROLLOUT_WARNINGS = "Warnings", "RolloutWarnings"
SEPARATOR = " | "
# Not Ready, but requested by the user: there is nothing to wait for.
REQUESTED = frozenset({reasons.STOPPED, reasons.NO_PODS, reasons.CHANGES_PENDING})


@dataclass(frozen=True)
class ClusterState:
    """What the conditions follow from, and what follows from it first.

    `previous` is the status before. `pending` are restarts and removals, `refused_evictions` PodDisruptionBudgets that
    do not allow an eviction, each with the remedy, and `stored_replicas` the pods of each group for which admission
    stores another number than specified.
    """

    cluster: Cluster
    observed: Observed
    findings: Sequence[Finding]
    previous: Mapping[str, Any]
    now: datetime
    warnings: Sequence[str] = ()
    rollout_warnings: Sequence[str] = ()
    pending: Pending = NOTHING_PENDING
    refused_evictions: Sequence[str] = ()
    stored_replicas: Mapping[str, int] = field(default_factory=dict)

    @property
    def problems(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.is_problem]

    @cached_property
    def states(self) -> Sequence[GroupState]:
        """The groups, compared with what is specified; those of a paused cluster, as they are."""
        is_paused = of_rank(self.findings, Rank.PAUSED) is not None
        return group_states(self.cluster, self.observed, is_paused, self.stored_replicas)

    @cached_property
    def live_states(self) -> Sequence[GroupState]:
        """The groups as they are."""
        return group_states(self.cluster, self.observed, as_it_is=True)

    @property
    def groups_with_kept_pods(self) -> frozenset[str | None]:
        """The groups that have more pods than specified, which is as it should be for now."""
        return frozenset(finding.group for finding in self.findings if finding.rank is Rank.KEEPS_PODS)

    @cached_property
    def changing(self) -> list[str]:
        """The groups whose pods are being changed; in a blocked group only an earlier reconcile can be the cause."""
        blocked = blocked_groups(self.problems)
        current = (
            present if blocked & {None, state.key} else state
            for state, present in zip(self.states, self.live_states, strict=True)
        )
        unsettled = (state.key for state in current if not state.is_settled)
        return [key for key in unsettled if key not in self.groups_with_kept_pods]

    @cached_property
    def rollout(self) -> Rollout | None:
        """The rollout in progress."""
        return current_rollout(self.cluster, self.observed, self.live_states, self.pending, self.previous, self.now)

    @cached_property
    def stall(self) -> str | None:
        """Why it makes no progress, if that has been so for too long."""
        return stalled(self.cluster, self.observed, self.rollout, self.live_states, self.now, self.refused_evictions)

    @cached_property
    def causes(self) -> Sequence[Cause]:
        """Everything that keeps the cluster from its desired state, the worst first."""
        restarting = {*self.pending.started, *self.pending.restarts}
        return causes(
            self.cluster,
            self.observed,
            self.live_states,
            self.findings,
            self.refused_evictions,
            self.stall,
            restarting,
            self.now,
        )


def conditions(state: ClusterState) -> list[Condition]:
    """Return the conditions; those that have not changed keep their times."""
    ready, worst = _ready(state), state.causes
    reported = [
        ready,
        _progressing(state),
        degraded_condition((worst[0].reason, _joined(worst)) if worst else None),
        *_stalled(ready, worst),
        _paused(state.findings),
        *_warnings(WARNINGS, reasons.SPEC_WARNING, state.warnings),
        *_rollout_warnings(state),
    ]
    return with_transition_times(reported, state.previous.get("conditions") or (), state.cluster.generation, state.now)


def _ready(cluster_state: ClusterState) -> Condition:
    causes = cluster_state.causes
    worst = causes[0].reason if causes else None
    if worst and cluster_state.problems:
        return condition("Ready", False, worst, _joined(causes))
    if deleting := of_rank(cluster_state.findings, Rank.DELETING):
        return condition("Ready", False, deleting.reason, deleting.message)
    kept = cluster_state.groups_with_kept_pods
    waiting = [
        state
        for state in cluster_state.states
        if not state.is_ready and not (state.key in kept and state.has_enough_pods)
    ]
    if waiting:
        reason = worst or _reason_of_waiting(waiting, cluster_state.rollout)
        return condition("Ready", False, reason, _waiting_message(waiting, causes))
    if unfinished := of_rank(cluster_state.findings, *UNFINISHED):
        return condition("Ready", False, unfinished.reason, unfinished.message)
    pending, groups = cluster_state.pending, cluster_state.cluster.groups
    if pending.restarts or pending.removals:
        text = f"{pending.sentence} {_joined(causes)}" if causes else pending.sentence
        return condition("Ready", False, worst or reasons.ROLLING_OUT, text)
    if groups and all(group.stopped for group in groups):
        return condition("Ready", False, reasons.STOPPED, "The cluster is stopped (spec.stopped): it has no pods.")
    pods = sum(state.desired for state in cluster_state.states)
    if not pods:
        why = "each group in spec.nodes is stopped, or has replicas: 0" if groups else "spec.nodes has no group"
        return condition("Ready", False, reasons.NO_PODS, f"The cluster has no pods: {why}.")
    return condition("Ready", True, reasons.ALL_PODS_READY, f"All pods are ready and up to date ({pods}/{pods}).")


def _reason_of_waiting(waiting: Iterable[GroupState], rollout: Rollout | None) -> str:
    """Return whether pods were lost, or only those are not ready that are being changed."""
    rolling = rollout.group if rollout is not None and not rollout.only_blocks else None
    has_lost = any(state.is_settled and state.key != rolling for state in waiting)
    return reasons.PODS_NOT_READY if has_lost else reasons.ROLLING_OUT


def _waiting_message(waiting: Sequence[GroupState], causes: Sequence[Cause]) -> str:
    texts = "; ".join(_explained(waiting, causes))
    return f"Waiting for {join_limited(map(str, waiting))}{f' ({texts})' if texts else ''}."


def _explained(waiting: Sequence[GroupState], causes: Sequence[Cause]) -> Sequence[str]:
    """Return why the first pod is not ready, and why one was evicted, which the scheduler does not report."""
    first = causes[0].message if causes else next((state.cause for state in waiting if state.cause), None)
    first = first or next((state.explanation for state in waiting if state.explanation), None)
    evicted = next((text for state in waiting for text in state.evicted), None)
    return [*dict.fromkeys(filter(None, (first, evicted)))]


def _joined(causes: Sequence[Cause]) -> str:
    """Return the messages, and that of a stalled rollout however many there are."""
    stalls = [each.message for each in causes if each.reason == reasons.ROLLOUT_STALLED]
    others = [each.message for each in causes if each.reason != reasons.ROLLOUT_STALLED]
    return " | ".join(filter(None, (join_limited(others, " | "), *stalls)))


def _stalled(ready: Condition, causes: Sequence[Cause]) -> list[Condition]:
    """Return the condition Stalled of the kstatus convention, if the cluster does not become ready by itself."""
    lasting = [each for each in causes if each.lasts]
    if ready["status"] == "True" or not (lasting or ready["reason"] in REQUESTED):
        return []
    reason, text = (lasting[0].reason, _joined(lasting)) if lasting else (ready["reason"], ready["message"])
    return [condition(STALLED_CONDITION, True, reason, text)]


def _progressing(state: ClusterState) -> Condition:
    findings, changing, pending = state.findings, state.changing, state.pending
    awaited = of_rank(findings, Rank.IN_DRUID, Rank.WAITING)
    blocking = of_rank(findings, Rank.PENDING) or next(iter(state.problems), None)
    # Restarts that wait for a blocked group do not go on by themselves.
    goes_on = blocking is None and (pending.restarts or pending.removals)
    if changing or state.rollout is not None or goes_on:
        what = f"Pods are being changed in {join_limited(changing)}." if changing else ""
        removals = f"{pending.removals_text} when all pods are available." if pending.removals else ""
        parts = (what, str(state.rollout or ""), removals, awaited.message if awaited else "")
        return condition("Progressing", True, reasons.ROLLING_OUT, " ".join(filter(None, parts)))
    if blocking is not None:
        message = "No pods are being changed. Some may not be up to date."
        return condition("Progressing", False, blocking.reason, message)
    if goes := of_rank(findings, Rank.DELETING, Rank.IN_DRUID, Rank.UNDER_WAY, Rank.KEEPS_PODS):
        return condition("Progressing", True, goes.reason, goes.message)
    if awaited is not None:
        return condition("Progressing", False, awaited.reason, awaited.message)
    return condition("Progressing", False, reasons.UP_TO_DATE, "All pods are up to date.")


def _paused(findings: Sequence[Finding]) -> Condition:
    pause = of_rank(findings, Rank.PAUSED)
    if pause is None:
        return condition("Paused", False, reasons.NOT_PAUSED, "The resource is reconciled.")
    return condition("Paused", True, pause.reason, pause.message)


def _warnings(kind: str, reason: str, warnings: Sequence[str]) -> list[Condition]:
    return [condition(kind, True, reason, join_limited(warnings, SEPARATOR))] if warnings else []


def _rollout_warnings(state: ClusterState) -> list[Condition]:
    """Return the condition RolloutWarnings, which stays until no pods are being changed."""
    before = state.previous.get("conditions") or ()
    earlier = [each["message"] for each in before if each["type"] == ROLLOUT_WARNINGS] if state.changing else ()
    return _warnings(ROLLOUT_WARNINGS, reasons.ROLLOUT_WARNING, state.rollout_warnings or earlier)
