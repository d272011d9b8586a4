# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Claim templates that are added although pods stay: Kubernetes cannot add a volume to a pod.

The controller would fail to update these pods, and create and replace none.
"""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.evictions import missing_volumes
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import (
    first_ordinal,
    ordinal_of,
    partition,
    waits_for_deletion,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited


def added_claims(draft: Draft) -> tuple[Finding, ...]:
    """Return a finding for each StatefulSet whose update strategy keeps pods that lack the volume of a template."""
    inputs = draft.inputs
    sets = (
        (group, manifest)
        for group in inputs.cluster.groups
        for manifest in inputs.desired.groups[group.key]
        if manifest["kind"] == "StatefulSet" and not group.stopped
    )
    found = ((group.key, manifest, [*_kept(manifest, group, inputs.live)]) for group, manifest in sets)
    lacking = ((key, each, [pod for pod in pods if missing_volumes(pod, each)]) for key, each, pods in found)
    return tuple(_finding(key, manifest, pods) for key, manifest, pods in lacking if pods)


def _kept(stateful_set: Manifest, group: Group, observed: Observed) -> Iterator[Manifest]:
    """Yield the pods that the update strategy of the StatefulSet excludes."""
    first = first_ordinal(observed.workload(group) or stateful_set) + partition(stateful_set)
    for pod in observed.pods_of(group):
        ordinal = ordinal_of(pod, stateful_set["metadata"]["name"])
        if ordinal is not None and (waits_for_deletion(stateful_set) or ordinal < first):
            yield pod


def _finding(group: str, stateful_set: Manifest, pods: list[Manifest]) -> Finding:
    names = join_limited(sorted(pod["metadata"]["name"] for pod in pods))
    message = (
        f"{key_of(stateful_set)}: volumeClaimTemplates {', '.join(missing_volumes(pods[0], stateful_set))} cannot be "
        f"added while the updateStrategy keeps pods ({names}): Kubernetes cannot add a volume to a pod, and its "
        "controller would neither replace nor create any. Specify RollingUpdate without a partition, or stop the group "
        f"first (stopped: true). Nothing of group {group} is changed."
    )
    return Finding(reasons.INVALID_SPEC, message, group)
