# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a Druid resource: standard conditions, and the fields of the Go operator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import image
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.causes import Cause, causes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.group_blocking import blocked_groups
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.readiness import (
    GroupState,
    group_states,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reconciled import PAUSES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout_status import (
    NOTHING_PENDING,
    STALLED,
    Pending,
    Rollout,
    current_rollout,
    stalled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    STALLED as STALLED_CONDITION,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    Condition,
    condition,
    degraded_condition,
    is_ready,
    with_short_messages,
    with_transition_times,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding, first_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest, join_limited

# There are these conditions only while there are warnings.
WARNINGS, ROLLOUT_WARNINGS = "Warnings", "RolloutWarnings"
_SEPARATOR = " | "
# More are not recorded, and none of those is an event.
MAX_HIDDEN = 100
# Not Ready, but requested by the user: there is nothing to wait for.
REQUESTED = frozenset({reasons.STOPPED, reasons.NO_PODS, reasons.CHANGES_PENDING})
# Not Ready although all pods are: findings that are not a problem, the most important one first.
_UNFINISHED = (
    reasons.CHANGES_PENDING,
    reasons.DRAINING,
    reasons.EXPANDING_VOLUMES,
    reasons.DECOMMISSIONING_HISTORICALS,
)
# Field of the Go operator's status -> the kind whose names it lists.
_NAME_LISTS = {
    "statefulSets": "StatefulSet",
    "deployments": "Deployment",
    "services": "Service",
    "configMaps": "ConfigMap",
    "podDisruptionBudgets": "PodDisruptionBudget",
    "ingress": "Ingress",
    "hpAutoscalers": "HorizontalPodAutoscaler",
    "pods": "Pod",
    "persistentVolumeClaims": "PersistentVolumeClaim",
}


def status(
    cluster: Cluster,
    observed: Observed,
    findings: Sequence[Finding],
    previous: Mapping[str, Any],
    now: datetime,
    warnings: Sequence[str] = (),
    rollout_warnings: Sequence[str] = (),
    pending: Pending = NOTHING_PENDING,
    refused_evictions: Sequence[str] = (),
    stored_replicas: Mapping[str, int] | None = None,
    fields: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the whole status: fields of others stay, ours are computed; `fields` are those of the features."""
    is_paused = any(finding.reason in PAUSES for finding in findings)
    states = group_states(cluster, observed, is_paused, stored_replicas)
    as_they_are = group_states(cluster, observed, as_it_is=True)
    changing = _changing_groups(as_they_are, states, findings)
    held = decommissioned_groups(findings)
    changing = [key for key in changing if key not in held]
    rollout = current_rollout(cluster, observed, as_they_are, pending, previous, now)
    stall = stalled(cluster, observed, rollout, as_they_are, now, refused_evictions)
    restarting = {*pending.started, *pending.restarts}
    found = causes(cluster, observed, as_they_are, findings, refused_evictions, stall, restarting, now)
    ready = _ready(cluster, states, findings, pending, found, rollout)
    conditions = with_transition_times(
        [
            ready,
            _progressing(changing, findings, rollout, pending),
            degraded_condition((found[0].reason, _joined(found)) if found else None),
            *_stalled(ready, found),
            _paused(findings),
            *_warnings(WARNINGS, reasons.SPEC_WARNING, warnings),
            *_rollout_warnings(rollout_warnings, bool(changing), previous),
        ],
        previous.get("conditions") or (),
        cluster.generation,
        now,
    )
    ours = {
        "observedGeneration": cluster.generation or 0,
        "conditions": conditions,
        "nodes": f"{sum(state.ready for state in states)}/{sum(state.desired for state in states)}",
        "rollout": {**rollout.document, **({STALLED: stall} if stall else {})} if rollout else None,
        "version": _versions(cluster, observed),
        "reason": _reason(conditions),
        "hiddenWarnings": _hidden((*warnings, *rollout_warnings), conditions, bool(changing), previous),
        **(fields or {}),
        **_go_fields(observed, conditions, findings, previous),
    }
    foreign = {name: value for name, value in previous.items() if name not in ours}
    return {**foreign, **{name: value for name, value in ours.items() if value not in (None, "", [], {})}}


def decommissioned_groups(findings: Iterable[Finding]) -> frozenset[str | None]:
    """Return the groups whose pods stay until they have no segments."""
    return frozenset(each.group for each in findings if each.reason == reasons.DECOMMISSIONING_HISTORICALS)


def _changing_groups(
    as_they_are: Sequence[GroupState], states: Sequence[GroupState], findings: Sequence[Finding]
) -> list[str]:
    """Return the groups whose pods are being changed; in a blocked group only an earlier reconcile can be the cause."""
    blocked = blocked_groups(finding for finding in findings if finding.is_problem)
    current = (
        present if blocked & {None, state.key} else state for state, present in zip(states, as_they_are, strict=True)
    )
    return [state.key for state in current if not state.is_settled]


def _problems(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_problem]


def _ready(
    cluster: Cluster,
    states: Sequence[GroupState],
    findings: Sequence[Finding],
    pending: Pending,
    found: Sequence[Cause],
    rollout: Rollout | None,
) -> Condition:
    worst = found[0].reason if found else None
    if worst and _problems(findings):
        return condition("Ready", False, worst, _joined(found))
    deleting = first_finding(findings, reasons.DELETING)
    if deleting is not None:
        return condition("Ready", False, deleting.reason, deleting.message)
    held = decommissioned_groups(findings)
    waiting = [state for state in states if not state.is_ready and not (state.key in held and state.has_enough_pods)]
    if waiting:
        reason = worst or _reason_of_waiting(waiting, rollout)
        return condition("Ready", False, reason, _waiting_message(waiting, found))
    unfinished = next((each for reason in _UNFINISHED if (each := first_finding(findings, reason))), None)
    if unfinished is not None:
        return condition("Ready", False, unfinished.reason, unfinished.message)
    if pending.restarts or pending.removals:
        text = f"{pending.sentence} {_joined(found)}" if found else pending.sentence
        return condition("Ready", False, worst or reasons.ROLLING_OUT, text)
    if cluster.groups and all(group.stopped for group in cluster.groups):
        return condition("Ready", False, reasons.STOPPED, "The cluster is stopped (spec.stopped): it has no pods.")
    pods = sum(state.desired for state in states)
    if not pods:
        why = "each group in spec.nodes is stopped, or has replicas: 0" if cluster.groups else "spec.nodes has no group"
        return condition("Ready", False, reasons.NO_PODS, f"The cluster has no pods: {why}.")
    return condition("Ready", True, reasons.ALL_PODS_READY, f"All pods are ready and up to date ({pods}/{pods}).")


def _reason_of_waiting(waiting: Iterable[GroupState], rollout: Rollout | None) -> str:
    """Return whether pods were lost, or only those are not ready that are being changed."""
    rolling = rollout.group if rollout is not None and not rollout.only_blocks else None
    has_lost = any(state.is_settled and state.key != rolling for state in waiting)
    return reasons.PODS_NOT_READY if has_lost else reasons.ROLLING_OUT


def _waiting_message(waiting: Sequence[GroupState], found: Sequence[Cause]) -> str:
    texts = "; ".join(_explained(waiting, found))
    return f"Waiting for {join_limited(map(str, waiting))}{f' ({texts})' if texts else ''}."


def _explained(waiting: Sequence[GroupState], found: Sequence[Cause]) -> Sequence[str]:
    """Return why the first pod is not ready, and why one was evicted, which the scheduler does not report."""
    first = found[0].message if found else next((state.cause for state in waiting if state.cause), None)
    first = first or next((state.explanation for state in waiting if state.explanation), None)
    evicted = next((text for state in waiting for text in state.evicted), None)
    return [*dict.fromkeys(filter(None, (first, evicted)))]


def _joined(found: Sequence[Cause]) -> str:
    """Return the messages, and that of a stalled rollout however many there are."""
    stalls = [each.message for each in found if each.reason == reasons.ROLLOUT_STALLED]
    others = [each.message for each in found if each.reason != reasons.ROLLOUT_STALLED]
    return " | ".join(filter(None, (join_limited(others, " | "), *stalls)))


def _stalled(ready: Condition, found: Sequence[Cause]) -> list[Condition]:
    """Return the condition Stalled of the kstatus convention, if the cluster does not become ready by itself."""
    lasting = [each for each in found if each.lasts]
    if ready["status"] == "True" or not (lasting or ready["reason"] in REQUESTED):
        return []
    reason, text = (lasting[0].reason, _joined(lasting)) if lasting else (ready["reason"], ready["message"])
    return [condition(STALLED_CONDITION, True, reason, text)]


def _progressing(
    changing: Sequence[str], findings: Sequence[Finding], rollout: Rollout | None, pending: Pending
) -> Condition:
    awaited = first_finding(findings, reasons.DRAINING, reasons.WAITING_FOR_DRUID)
    blocking = first_finding(findings, reasons.CHANGES_PENDING) or next(iter(_problems(findings)), None)
    deleting = first_finding(findings, reasons.DELETING)
    # Restarts that wait for a blocked group do not go on by themselves.
    goes_on = blocking is None and (pending.restarts or pending.removals)
    if changing or rollout is not None or goes_on:
        what = f"Pods are being changed in {join_limited(changing)}." if changing else ""
        removals = f"{pending.removals_text} when all pods are available." if pending.removals else ""
        message = " ".join(filter(None, (what, str(rollout or ""), removals, awaited.message if awaited else "")))
        return condition("Progressing", True, reasons.ROLLING_OUT, message)
    if blocking is not None:
        message = "No pods are being changed. Some may not be up to date."
        return condition("Progressing", False, blocking.reason, message)
    if deleting is not None:
        return condition("Progressing", True, deleting.reason, deleting.message)
    under_way = first_finding(
        findings, reasons.DRAINING, reasons.EXPANDING_VOLUMES, reasons.DECOMMISSIONING_HISTORICALS
    )
    if under_way is not None:
        return condition("Progressing", True, under_way.reason, under_way.message)
    if awaited is not None:
        return condition("Progressing", False, awaited.reason, awaited.message)
    return condition("Progressing", False, reasons.UP_TO_DATE, "All pods are up to date.")


def _paused(findings: Sequence[Finding]) -> Condition:
    pause = first_finding(findings, *PAUSES)
    if pause is None:
        return condition("Paused", False, reasons.NOT_PAUSED, "The resource is reconciled.")
    return condition("Paused", True, pause.reason, pause.message)


def _warnings(kind: str, reason: str, warnings: Sequence[str]) -> list[Condition]:
    return [condition(kind, True, reason, join_limited(warnings, _SEPARATOR))] if warnings else []


def _rollout_warnings(warnings: Sequence[str], is_changing: bool, previous: Mapping[str, Any]) -> list[Condition]:
    """Return the condition RolloutWarnings, which stays until no pods are being changed."""
    earlier = [each["message"] for each in previous.get("conditions") or () if each["type"] == ROLLOUT_WARNINGS]
    return _warnings(ROLLOUT_WARNINGS, reasons.ROLLOUT_WARNING, warnings or (earlier if is_changing else ()))


def _hidden(
    warnings: Iterable[str], conditions: Sequence[Condition], is_changing: bool, previous: Mapping[str, Any]
) -> list[str]:
    """Return the digests of the warnings that the conditions do not show: beyond the fifth, or too long.

    While pods are being changed, the condition RolloutWarnings stays, and so do the earlier digests.
    """
    messages = warning_messages(with_short_messages({"conditions": conditions})).values()
    shown = {text for message in messages for text in shown_warnings(message)}
    found = (digest_of_warning(text) for text in warnings if text not in shown)
    return [*dict.fromkeys((*found, *(hidden_warnings(previous) if is_changing else ())))][:MAX_HIDDEN]


def hidden_warnings(document: Mapping[str, Any]) -> Sequence[str]:
    """Return the digests of the warnings that the conditions in a status do not show."""
    return document.get("hiddenWarnings") or ()


def digest_of_warning(text: str) -> str:
    """Return what identifies a warning in a status."""
    return digest(text)[:16]


def warning_messages(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the messages of the conditions about warnings in a status, by type."""
    found = (each for each in document.get("conditions") or () if each["type"] in (WARNINGS, ROLLOUT_WARNINGS))
    return {each["type"]: each["message"] for each in found}


def shown_warnings(message: str) -> list[str]:
    """Return the warnings in the message of such a condition: the first ones."""
    return message.split(_SEPARATOR)


def _reason(conditions: Iterable[Condition]) -> str | None:
    ready = next(each for each in conditions if each["type"] == "Ready")
    return None if ready["status"] == "True" else ready["reason"]


def _versions(cluster: Cluster, observed: Observed) -> str:
    """Return the versions of the running workloads, which can differ from the spec."""
    workloads = (observed.workload(group) for group in cluster.groups)
    images = (image.main_image(workload) for workload in workloads if workload is not None)
    return ", ".join(sorted({_version(each) for each in images if each}))


def _version(reference: str) -> str:
    """Return the tag of the image, or else the beginning of the digest."""
    return image.tag(reference) or image.digest(reference)[:12] or "latest"


def _go_fields(
    observed: Observed,
    conditions: Sequence[Condition],
    findings: Sequence[Finding],
    previous: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the fields of the Go operator; they stay unchanged while it writes them itself."""
    if first_finding(findings, reasons.CONFLICTING_OPERATOR) is not None:
        return {field: previous[field] for field in ("druidNodeStatus", *_NAME_LISTS) if field in previous}
    return {"druidNodeStatus": go_status(conditions, _unready_pod(observed)), **_name_lists(observed)}


def go_status(conditions: Iterable[Mapping[str, Any]], pod: str) -> dict[str, str]:
    """Return the Go operator's single condition, from which tools such as Argo CD tell the state of the cluster.

    It is an error if the cluster does not become ready by itself. One that is stopped is as desired: there is no better
    state for it. `pod` is the first one that is not ready, or "All".
    """
    by_type = {each["type"]: each for each in conditions}
    is_stalled = STALLED_CONDITION in by_type
    kind = "DruidNodeErrorState" if is_stalled else "DruidNodeRollingUpdate"
    as_desired = by_type["Ready"]["status"] == "True" or by_type["Ready"]["reason"] == reasons.STOPPED
    return {
        "druidNode": "All" if as_desired else pod,
        "druidNodeConditionStatus": "True",
        "druidNodeConditionType": "DruidClusterReady" if as_desired else kind,
        "reason": by_type["Ready"]["message"],
    }


def after_failed_read(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a status whose conditions report a failed read, so that the Go operator's condition agrees with them."""
    pod = (document.get("druidNodeStatus") or {}).get("druidNode", "All")
    return {**document, "druidNodeStatus": go_status(document["conditions"], pod)}


def _unready_pod(observed: Observed) -> str:
    unready = (pod["metadata"]["name"] for pod in observed.of_kind("Pod") if not _is_ready_pod(pod))
    return min(unready, default="All")


def _is_ready_pod(pod: Manifest) -> bool:
    return is_ready((pod.get("status") or {}).get("conditions") or ())


def _name_lists(observed: Observed) -> dict[str, list[str]]:
    return {
        field: sorted(live["metadata"]["name"] for live in observed.of_kind(kind))
        for field, kind in _NAME_LISTS.items()
    }
