# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why the API server accepts no pod of a workload, and why the volume of a pod is not provisioned, each with a remedy.

Neither the status of a StatefulSet nor that of a PVC has it: it is in their events. One request reads them, and only
while a pod of a StatefulSet does not exist, or fits on no node and has a PVC without a volume.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.rollout.pod_problems import unplaced
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import ordinal_of, ordinals
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating

EVENT = "Event"
# Pods and ReplicaSets have the most events.
_SELECTOR = "involvedObject.kind!=Pod,involvedObject.kind!=ReplicaSet"
_REJECTED, _CREATED = "FailedCreate", "SuccessfulCreate"
# A part of the message of the API server, or of the controller of volumes, and the remedy.
_REMEDIES = (
    ("exceeded quota", "Raise the quota, or lower what is specified"),
    ("violates PodSecurity", "Specify securityContext and containerSecurityContext accordingly, or relax the label "
     "pod-security.kubernetes.io/enforce of the namespace"),
    ("security context constraint", "Permit a fitting SecurityContextConstraints to the ServiceAccount of the pods"),
    ("calling webhook", "Repair this webhook, or exclude the namespace from it"),
    ("service account", "Create this ServiceAccount, or specify another one"),
    ("storageclass", "Create this StorageClass, or specify another storageClassName"),
    ("no storage class is set", "Specify storageClassName, or make a StorageClass the default one"),
)  # fmt: skip
_REMEDY = "Change what rejects it, or the specification"


class NotCreated(NamedTuple):
    """Why a pod of a workload does not exist, and since when, as Kubernetes reports it."""

    text: str
    since: str


def events_of_missing_pods(inputs: Inputs) -> tuple[Manifest, ...]:
    """Return the events of the namespace, if a pod is missing whose absence only they explain."""
    live = inputs.observed
    pods_of_groups = (
        (workload, [*live.pods_of(group)]) for group in inputs.cluster.groups if (workload := live.workload(group))
    )
    is_needed = any(
        next(_missing(workload, pods), None) or any(next(_unbound_claims(pod, live), None) for pod in pods)
        for workload, pods in pods_of_groups
    )
    return inputs.reads.list_objects(EVENT, field_selector=_SELECTOR) if is_needed else ()


def not_created(workload: Manifest, pods: Iterable[Manifest], observed: Observed) -> Iterator[NotCreated]:
    """Yield why a pod could not be created: of a Deployment its condition, of a StatefulSet the latest event."""
    head = f"{workload['kind']} {workload['metadata']['name']}"
    for each in (workload.get("status") or {}).get("conditions") or ():
        if (each["type"], each["status"]) == ("ReplicaFailure", "True"):
            text = ": ".join((head, *filter(None, (each.get("reason"), each.get("message")))))
            yield NotCreated(_with_remedy(text), each.get("lastTransitionTime") or "")
    for pod in _missing(workload, pods):
        about = [each for each in _events_about(workload, observed) if f"Pod {pod} " in (each.get("message") or "")]
        latest = max(about, key=_precedence, default={})
        if latest.get("reason") == _REJECTED:
            text = latest["message"].partition("failed error: ")[2] or latest["message"]
            yield NotCreated(_with_remedy(f"{head}: {_REJECTED}: {text}"), latest.get("firstTimestamp") or "")
            return


def unprovisioned(pod: Manifest, observed: Observed) -> Iterator[str]:
    """Yield why a PVC of a pod that fits on no node has no volume: no such class, an error of its driver."""
    for claim in _unbound_claims(pod, observed):
        about = [each for each in _events_about(claim, observed) if _is_failure(each)]
        latest = max(about, key=_precedence, default=None)
        if latest is not None:
            name, storage_class = claim["metadata"]["name"], claim["spec"].get("storageClassName")
            which = f" of StorageClass {storage_class}" if storage_class else ""
            texts = filter(None, (latest.get("reason"), latest.get("message")))
            yield _with_remedy(": ".join((f"PVC {name}{which} has no volume", *texts)))


def _is_failure(event: Manifest) -> bool:
    """False if the volume is provisioned when a pod is scheduled, or by another provisioner."""
    return event.get("type") == "Warning" or event.get("reason") == "FailedBinding"


def _missing(workload: Manifest, pods: Iterable[Manifest]) -> Iterator[str]:
    """Yield the names of the pods that a StatefulSet does not have although its controller has observed it."""
    observed = (workload.get("status") or {}).get("observedGeneration", 0)
    if workload["kind"] == "StatefulSet" and not is_terminating(workload) and observed:
        name = workload["metadata"]["name"]
        existing = {ordinal_of(pod, name) for pod in pods}
        yield from (f"{name}-{number}" for number in ordinals(workload) if number not in existing)


def _unbound_claims(pod: Manifest, observed: Observed) -> Iterator[Manifest]:
    if next(unplaced(pod), None) is None:
        return
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        claim = observed.objects.get(ObjectKey(CLAIM, name)) if name else None
        if claim is not None and (claim.get("status") or {}).get("phase") == "Pending":
            yield claim


def _events_about(live: Manifest, observed: Observed) -> Iterator[Manifest]:
    uid = live["metadata"].get("uid")
    return (event for event in observed.of_kind(EVENT) if (event.get("involvedObject") or {}).get("uid") == uid)


def _precedence(event: Manifest) -> tuple[str, bool]:
    """Return the time of the event, in seconds; within one, a PVC is created before its pod is rejected."""
    return event.get("lastTimestamp") or event.get("eventTime") or "", event.get("reason") != _CREATED


def _with_remedy(text: str) -> str:
    lower = text.lower()
    remedy = next((remedy for part, remedy in _REMEDIES if part.lower() in lower), _REMEDY)
    return f"{text.rstrip('.')}. {remedy}"
