# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a StatefulSet specifies about its pods: their number, their ordinals, and their claim templates. Pure."""

from __future__ import annotations

import re

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

# The label of a pod with the revision of its StatefulSet.
REVISION_LABEL = "controller-revision-hash"


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


def updated_ordinals(stateful_set: Manifest) -> range:
    """Return the ordinals of the pods that a rolling update replaces."""
    first = first_ordinal(stateful_set)
    return range(first + partition(stateful_set), first + replicas(stateful_set))


def ordinal_of(pod: Manifest, name: str) -> int | None:
    """Return the ordinal of a pod of the StatefulSet with this name; None for any other pod."""
    found = re.fullmatch(rf"{re.escape(name)}-([0-9]{{1,9}})", pod["metadata"]["name"])
    return int(found[1]) if found else None


def template_names(stateful_set: Manifest) -> list[str]:
    """Return the names of the volume claim templates."""
    return [template["metadata"]["name"] for template in stateful_set["spec"].get("volumeClaimTemplates") or ()]
