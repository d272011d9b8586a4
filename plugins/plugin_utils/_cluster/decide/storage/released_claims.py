# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs that a StatefulSet still owns although its policy retains them.

The StatefulSet controller removes its owner reference only from PVCs that have a pod: not from those of a stopped
group or of a scaled-down replica. Kubernetes would delete these with the StatefulSet.
"""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import desired_objects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete import retain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import is_ours
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.retention_policy import (
    deletion_is_disabled,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating


def retains_claims(cluster: Cluster) -> bool:
    """True if the cluster retains PVCs that a StatefulSet may own: it deletes them whatever their labels."""
    return any(map(deletion_is_disabled, cluster.groups))


def released_claims(inputs: Inputs) -> tuple[Step, ...]:
    """Return the steps that separate retained PVCs from the StatefulSets of groups that stay."""
    claims = list(inputs.live_and_all_claims.of_kind(retain.CLAIM))
    return tuple(step for live, group in _retaining_sets(inputs) for step in _released(live, claims, group))


def _released(live: Manifest, claims: list[Manifest], group: str | None) -> tuple[Step, ...]:
    if not retain.owned_by(claims, [live]):
        return ()
    # A controller that has not observed the policy may still add owner references: then this waits for it.
    return retain.retain([live], claims, group) or retain.disown(claims, [live], group)


def _retaining_sets(inputs: Inputs) -> Iterator[tuple[Manifest, str | None]]:
    """Yield the StatefulSets whose policy is and stays Retain. The step that sets Retain releases the PVCs itself."""
    for group, manifest in desired_objects(inputs.desired):
        live = inputs.live.objects.get(key_of(manifest)) if manifest["kind"] == "StatefulSet" else None
        if live is None or is_terminating(live) or not is_ours(live, inputs.cluster):
            continue
        if not retain.deletes_pvcs(live) and not retain.deletes_pvcs(manifest):
            yield live, group
