# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values of a running group that are preserved, so that a takeover restarts nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import strategic_merge
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import REVISION_LABEL
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.field_ownership import owned_fields
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import below

# The value of a persistentVolumeClaimRetentionPolicy that is not the default.
DELETE = "Delete"
_WHEN_DELETED = ("f:spec", "f:persistentVolumeClaimRetentionPolicy", "f:whenDeleted")
# Python refuses to convert thousands of digits, which any client can write into an annotation.
_NUMBER = re.compile(r"[0-9]{1,10}")
# Labels that controllers add to the pods of a template.
_LABELS_OF_CONTROLLERS = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        REVISION_LABEL,
        "pod-template-hash",
        "statefulset.kubernetes.io/pod-name",
    }
)


@dataclass(frozen=True)
class Preserved:
    """Values of the live workload: matchLabels of its selector, labels of its template, its hash.

    `has_empty_affinity`: its pods have an empty affinity if none is specified, as the Go operator writes it.
    `retains_scaled_pvcs`: its `whenScaled` is not Delete. `ready_replicas`: the number of its replicas if exactly these
    are ready, else None. `sets_when_deleted`: its `whenDeleted` is Delete, set by any client, or is our value.
    `replicas`: the number of pods of the group, or before its stop. `restarted_at`: the time of the last requested
    restart.
    """

    selector: Mapping[str, str] | None = None
    template_labels: Mapping[str, str] | None = None
    configuration_hash: str | None = None
    has_empty_affinity: bool = True
    retains_scaled_pvcs: bool = False
    ready_replicas: int | None = None
    sets_when_deleted: bool = False
    replicas: int | None = None
    restarted_at: str | None = None

    @classmethod
    def from_workload(cls, workload: Mapping[str, Any]) -> Preserved:
        """Return the preserved values of a live StatefulSet or Deployment."""
        spec = workload["spec"]
        return cls(
            selector=spec.get("selector", {}).get("matchLabels"),
            template_labels=spec["template"].get("metadata", {}).get("labels"),
            configuration_hash=configuration_hash_of(workload),
            has_empty_affinity=spec["template"]["spec"].get("affinity") == {},
            retains_scaled_pvcs=not deletes_scaled_pvcs(workload),
            ready_replicas=_ready_replicas(workload),
            sets_when_deleted=_sets_when_deleted(workload),
            restarted_at=_restarted_at(spec["template"]),
        )


def kept_replicas(workload: Mapping[str, Any]) -> int:
    """Return the number of replicas of a live workload; of a stopped one the number before."""
    return int(workload["spec"].get("replicas", 1)) or replicas_before_stop(workload)


def replicas_before_stop(workload: Mapping[str, Any]) -> int:
    """Return the number of replicas that a workload had before it was stopped; 0 if that is unknown."""
    number = (workload["metadata"].get("annotations") or {}).get(names.REPLICAS_BEFORE_STOP_ANNOTATION, "")
    return int(number) if _NUMBER.fullmatch(number) else 0


def deletes_scaled_pvcs(workload: Mapping[str, Any]) -> bool:
    """True when the StatefulSet controller deletes the PVCs of pods that a smaller number of replicas removes."""
    policy = workload["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return bool(policy.get("whenScaled") == DELETE)


def _sets_when_deleted(workload: Mapping[str, Any]) -> bool:
    policy = workload["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    if not policy:
        return False
    return policy.get("whenDeleted") == DELETE or bool(below(owned_fields(dict(workload)), *_WHEN_DELETED))


def _restarted_at(template: Mapping[str, Any]) -> str | None:
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    restarted_at: str | None = annotations.get(names.RESTARTED_AT_ANNOTATION)
    return restarted_at


def _ready_replicas(workload: Mapping[str, Any]) -> int | None:
    status = workload.get("status") or {}
    replicas: int = workload["spec"].get("replicas", 1)
    is_observed = status.get("observedGeneration", 0) >= workload["metadata"].get("generation", 0)
    are_ready = replicas == status.get("replicas", 0) == status.get("readyReplicas", 0)
    return replicas if is_observed and are_ready else None


def from_pod(pod: Mapping[str, Any], unique_name: str) -> Preserved:
    """Return the preserved values of an orphaned pod, for the workload that should adopt it.

    The PVCs of stopped pods are retained until the workload is ready: the number of pods before is not known for sure.
    """
    labels = pod["metadata"].get("labels") or {}
    own = {name: value for name, value in labels.items() if name not in _LABELS_OF_CONTROLLERS}
    return Preserved(
        template_labels=own,
        configuration_hash=_hash_in(pod["spec"], unique_name),
        has_empty_affinity=pod["spec"].get("affinity") == {},
        retains_scaled_pvcs=True,
        restarted_at=_restarted_at(pod),
    )


def template_labels(group: Group, preserved: Preserved) -> dict[str, str]:
    """Return the labels of the group's pods; a podTemplate cannot change the four identifying ones."""
    labels = {**_recommended(group, preserved), **names.group_labels(group)}
    desired = ((group.node.get("podTemplate") or {}).get("metadata") or {}).get("labels") or {}
    return {**strategic_merge(labels, desired), **names.fixed_labels(group)}


def selector(group: Group, preserved: Preserved) -> dict[str, str]:
    """Return the selector of the group's workload: the live one as long as the pods' labels match it."""
    labels = template_labels(group, preserved)
    kept = preserved.selector
    if kept and all(labels.get(key) == value for key, value in kept.items()):
        return dict(kept)
    return names.fixed_labels(group)


def _recommended(group: Group, preserved: Preserved) -> dict[str, str]:
    labels = names.recommended_labels(group.cluster.name, group.node_type)
    if preserved.template_labels is None:
        return labels
    # A new label on the template would restart every pod of a group that runs.
    return {key: value for key, value in labels.items() if key in preserved.template_labels}


def configuration_hash_of(workload: Mapping[str, Any]) -> str | None:
    """Return the hash of both ConfigMaps in the pod template of a workload."""
    return _hash_in(workload["spec"]["template"]["spec"], workload["metadata"]["name"])


def _hash_in(pod: Mapping[str, Any], unique_name: str) -> str | None:
    for container in pod.get("containers") or []:
        if container.get("name") == unique_name:
            return _variable(container.get("env") or [], names.CONFIGURATION_HASH_VARIABLE)
    return None


def _variable(variables: list[Mapping[str, Any]], name: str) -> str | None:
    values = [variable.get("value") for variable in variables if variable.get("name") == name]
    return values[-1] if values else None
