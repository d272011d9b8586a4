# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of a Druid resource: standard conditions, the fields of the Go operator, and when to reconcile again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.conditions import (
    REQUESTED,
    ROLLOUT_WARNINGS,
    SEPARATOR,
    WARNINGS,
    ClusterState,
    conditions,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import FEATURES
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import DRUID_SECONDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.progress import STALLED
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import (
    image_digest,
    image_tag,
    main_image,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import (
    MIN_BACKOFF_SECONDS,
    Condition,
    backoff_since,
    is_ready,
    is_settled,
    with_short_messages,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import STALLED as STALLED_CONDITION
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding, first_finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import digest

# More are not recorded, and none of those is an event.
MAX_HIDDEN = 100
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


def status(cluster_state: ClusterState, fields: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the whole status: fields of others stay, ours are computed; `fields` are those of the features."""
    previous, states, rollout = cluster_state.previous, cluster_state.states, cluster_state.rollout
    reported = conditions(cluster_state)
    ours = {
        "observedGeneration": cluster_state.cluster.generation or 0,
        "conditions": reported,
        "nodes": f"{sum(state.ready for state in states)}/{sum(state.desired for state in states)}",
        "rollout": {**rollout.document, **({STALLED: cluster_state.stall} if cluster_state.stall else {})}
        if rollout
        else None,
        "version": _versions(cluster_state.cluster, cluster_state.observed),
        "reason": _reason(reported),
        "hiddenWarnings": _hidden(cluster_state, reported),
        **(fields or {}),
        **_go_fields(cluster_state.observed, reported, cluster_state.findings, previous),
    }
    foreign = {name: value for name, value in previous.items() if name not in ours}
    return {**foreign, **{name: value for name, value in ours.items() if value not in (None, "", [], {})}}


def _hidden(state: ClusterState, conditions: Sequence[Condition]) -> list[str]:
    """Return the digests of the warnings that the conditions do not show: beyond the fifth, or too long.

    While pods are being changed, the condition RolloutWarnings stays, and so do the earlier digests.
    """
    messages = warning_messages(with_short_messages({"conditions": conditions})).values()
    shown = {text for message in messages for text in shown_warnings(message)}
    warnings = (*state.warnings, *state.rollout_warnings)
    hidden = (digest_of_warning(text) for text in warnings if text not in shown)
    return [*dict.fromkeys((*hidden, *(hidden_warnings(state.previous) if state.changing else ())))][:MAX_HIDDEN]


def hidden_warnings(document: Mapping[str, Any]) -> Sequence[str]:
    """Return the digests of the warnings that the conditions in a status do not show."""
    return document.get("hiddenWarnings") or ()


def digest_of_warning(text: str) -> str:
    """Return what identifies a warning in a status."""
    return digest(text)[:16]


def warning_messages(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the messages of the conditions about warnings in a status, by type."""
    of_warnings = (
        condition for condition in document.get("conditions") or () if condition["type"] in (WARNINGS, ROLLOUT_WARNINGS)
    )
    return {each["type"]: each["message"] for each in of_warnings}


def shown_warnings(message: str) -> list[str]:
    """Return the warnings in the message of such a condition: the first ones."""
    return message.split(SEPARATOR)


def _reason(conditions: Iterable[Condition]) -> str | None:
    ready = next(condition for condition in conditions if condition["type"] == "Ready")
    return None if ready["status"] == "True" else ready["reason"]


def _versions(cluster: Cluster, observed: Observed) -> str:
    """Return the versions of the running workloads, which can differ from the spec."""
    workloads = (observed.workload(group) for group in cluster.groups)
    images = (main_image(workload) for workload in workloads if workload is not None)
    return ", ".join(sorted({_version(image) for image in images if image}))


def _version(reference: str) -> str:
    """Return the tag of the image, or else the beginning of the digest."""
    return image_tag(reference) or image_digest(reference)[:12] or "latest"


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
    by_type = {condition["type"]: condition for condition in conditions}
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


# Pods of a deleted workload are terminating within a second, unless the garbage collector is busy.
DELETION_SECONDS = 1
# The next reconcile replaces the regular one, so that it must not be later: that is the default of RECONCILE_WAIT.
MAX_SECONDS = 60


def requeue_after(document: Mapping[str, Any], now: datetime, has_changed: bool = False) -> int | None:
    """Return the seconds until the next reconcile, given the status; None (the regular period) if it is settled.

    After a reconcile that wrote something or read a new generation (`has_changed`), it is the minimum: the time that
    the cluster was not ready before has no relation to the result. A deletion continues when the pods are terminating.
    """
    by_type = {condition["type"]: condition for condition in document["conditions"]}
    if by_type["Ready"].get("reason") == reasons.DELETING:
        waited = min(backoff_since(by_type["Ready"]["lastTransitionTime"], now), MAX_SECONDS)
        return DELETION_SECONDS if has_changed else waited
    if has_changed:
        return MIN_BACKOFF_SECONDS
    if by_type["Paused"]["status"] == "True":
        return None
    is_moving = not is_settled(by_type.values(), REQUESTED)
    waited = backoff_since(by_type["Ready"]["lastTransitionTime"], now)
    return min(
        (
            *((waited,) if is_moving else ()),
            *((DRUID_SECONDS,) if (document.get("rollout") or {}).get("waitingFor") else ()),
            *(
                min(seconds, MAX_SECONDS)
                for feature in FEATURES
                if (seconds := feature.requeue(document, now)) is not None
            ),
        ),
        default=None,
    )
