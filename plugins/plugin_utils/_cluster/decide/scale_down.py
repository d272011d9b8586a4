# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pods and PVCs that a StatefulSet has above a number of replicas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating


def replicas(workload: Manifest) -> int:
    """Return the replicas of a workload; Kubernetes defaults to 1."""
    return int(workload["spec"].get("replicas", 1))


def first_ordinal(stateful_set: Manifest) -> int:
    """Return the ordinal of the first pod."""
    return int((stateful_set["spec"].get("ordinals") or {}).get("start") or 0)


def updated_ordinals(stateful_set: Manifest) -> range:
    """Return the ordinals of the pods that a rolling update replaces: the partition counts from the first one."""
    strategy = stateful_set["spec"].get("updateStrategy") or {}
    first, partition = first_ordinal(stateful_set), (strategy.get("rollingUpdate") or {}).get("partition") or 0
    return range(first + partition, first + replicas(stateful_set))


def pods_above(name: str, ordinal: int, observed: Observed) -> Iterator[int]:
    """Yield the ordinals of the pods of the StatefulSet from `ordinal` on."""
    for pod in observed.of_kind("Pod"):
        found = ordinal_of(pod, name)
        if found is not None and found >= ordinal:
            yield found


def ordinal_of(pod: Manifest, name: str) -> int | None:
    """Return the ordinal of a pod of the StatefulSet with this name; None for any other pod."""
    found = re.fullmatch(rf"{re.escape(name)}-([0-9]{{1,9}})", pod["metadata"]["name"])
    return int(found[1]) if found else None


def template_names(stateful_set: Manifest) -> list[str]:
    """Return the names of the volume claim templates."""
    return [template["metadata"]["name"] for template in stateful_set["spec"].get("volumeClaimTemplates") or ()]


def pvcs_above(name: str, templates: Iterable[str], ordinal: int, observed: Observed) -> list[str]:
    """Return the names of the PVCs of the StatefulSet's pods from `ordinal` on, except terminating ones."""
    stems = "|".join(map(re.escape, templates))
    pattern = re.compile(rf"(?:{stems})-{re.escape(name)}-([0-9]+)")
    matches = (
        pattern.fullmatch(live["metadata"]["name"])
        for live in observed.of_kind("PersistentVolumeClaim")
        if not is_terminating(live)
    )
    found = [match for match in matches if match is not None and int(match[1]) >= ordinal]
    return [match[0] for match in sorted(found, key=lambda match: (int(match[1]), match[0]))]
