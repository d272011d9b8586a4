# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a workload specifies: the number, ordinals and claim templates of its pods, and their image. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The label of a pod with the revision of its StatefulSet.
REVISION_LABEL = "controller-revision-hash"
# The label of the pods of a Deployment that have the same template.
TEMPLATE_LABEL = "pod-template-hash"
# The record of a drain without a worker.
NOTHING_DRAINED = "[]"
_ORDINAL = re.compile("[0-9]{1,9}")


def replicas(workload: Manifest) -> int:
    """Return the replicas of a workload, also of a Deployment; Kubernetes defaults to 1."""
    return int(workload["spec"].get("replicas", 1))


def first_ordinal(stateful_set: Manifest) -> int:
    """Return the ordinal of the first pod."""
    return int((stateful_set["spec"].get("ordinals") or {}).get("start") or 0)


def partition(stateful_set: Manifest) -> int:
    """Return how many pods a rolling update leaves unchanged, counted from the first one."""
    strategy = stateful_set["spec"].get("updateStrategy") or {}
    return int((strategy.get("rollingUpdate") or {}).get("partition") or 0)


def pods_below_partition(stateful_set: Manifest) -> int:
    """Return how many pods a rolling update leaves at an old revision, counted from the first: all with OnDelete."""
    return replicas(stateful_set) if waits_for_deletion(stateful_set) else partition(stateful_set)


def pods_to_keep(stateful_set: Manifest, requested: int) -> int:
    """Return how many pods a rollout leaves at their revision in the end: the partition of a drain is temporary."""
    kept = partition(stateful_set)
    return kept if record_of_drain(stateful_set) is None else min(kept, requested)


def is_draining(stateful_set: Manifest) -> bool:
    """True while pods are drained: how long that may take has limits of its own."""
    return record_of_drain(stateful_set) not in (None, "", NOTHING_DRAINED)


def record_of_drain(manifest: Manifest | None) -> str | None:
    """Return the record of the drain of a StatefulSet; `NOTHING_DRAINED` if only its partition is that of a drain."""
    record: str | None = ((manifest or {}).get("metadata", {}).get("annotations") or {}).get(names.DRAIN_ANNOTATION)
    return record


def released_pods(before: Manifest, after: Manifest, kept: int | None = None) -> int:
    """Return how many pods of an old revision the update strategy keeps before a write, and replaces afterwards.

    `kept`: how many it keeps in the end, if those that it keeps after the write are replaced later.
    """
    kept = pods_below_partition(after) if kept is None else kept
    if kept >= pods_below_partition(before):
        return 0
    # With a partition, they are the first ones; with OnDelete, they can be any.
    skipped = kept if pods_below_partition(before) == partition(before) else 0
    return max(0, min(_outdated_pods(before) - skipped, replicas(after) - kept))


def waits_for_deletion(workload: Manifest | None) -> bool:
    """Return whether the pods of a workload are replaced only once they are deleted (OnDelete)."""
    strategy = (workload or {}).get("spec", {}).get("updateStrategy") or {}
    return bool(strategy.get("type") == "OnDelete")


def _outdated_pods(stateful_set: Manifest) -> int:
    """Return how many pods may have an old revision: all until the controller has observed the current one."""
    status = stateful_set.get("status") or {}
    is_observed = status.get("observedGeneration", 0) >= stateful_set["metadata"].get("generation", 0)
    return int(status.get("replicas") or 0) - int((status.get("updatedReplicas") if is_observed else 0) or 0)


def ordinals(stateful_set: Manifest) -> range:
    """Return the ordinals of all pods."""
    return range(first_ordinal(stateful_set), first_ordinal(stateful_set) + replicas(stateful_set))


def updated_ordinals(stateful_set: Manifest) -> range:
    """Return the ordinals of the pods that a rolling update replaces."""
    return ordinals(stateful_set)[partition(stateful_set) :]


def ordinal_of(pod: Manifest, name: str) -> int | None:
    """Return the ordinal of a pod of the StatefulSet with this name; None for any other pod."""
    of_set, _dash, number = pod["metadata"]["name"].rpartition("-")
    return int(number) if of_set == name and _ORDINAL.fullmatch(number) else None


def template_names(stateful_set: Manifest) -> list[str]:
    """Return the names of the volume claim templates."""
    return [template["metadata"]["name"] for template in stateful_set["spec"].get("volumeClaimTemplates") or ()]


def missing_volumes(pod: Manifest, stateful_set: Manifest) -> list[str]:
    """Return the claim templates for which the pod has no volume."""
    volumes = (pod.get("spec") or {}).get("volumes") or ()
    with_volume = {volume["name"] for volume in volumes if volume.get("persistentVolumeClaim")}
    return [name for name in template_names(stateful_set) if name not in with_volume]


def subdomain(pod: Manifest) -> str:
    """Return the name of the Service that the name of the pod in DNS belongs to."""
    service: str = (pod.get("spec") or {}).get("subdomain") or ""
    return service


_VERSION = re.compile(r"v?([0-9]{1,6}(?:\.[0-9]{1,6})*)(?![0-9])")


def main_image(workload: Mapping[str, Any]) -> str:
    """Return the image of the main container, which has the name of its workload."""
    containers = workload["spec"]["template"]["spec"]["containers"]
    named = (container for container in containers if container["name"] == workload["metadata"]["name"])
    return str(next(named, containers[0]).get("image") or "")


def image_tag(image: str) -> str:
    """Return the tag of the image, empty if it has none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def image_digest(image: str) -> str:
    """Return the hexadecimal digits of the digest, empty if it has none."""
    return image.partition("@")[2].partition(":")[2]


def druid_version(image: str) -> tuple[int, ...] | None:
    """Return the numbers at the start of the tag without trailing zeros; None if the tag is not a version."""
    version = _VERSION.match(image_tag(image))
    if version is None:
        return None
    numbers = [int(part) for part in version[1].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
