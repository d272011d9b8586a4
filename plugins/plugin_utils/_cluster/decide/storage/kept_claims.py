# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs of a removed group whose persistentVolumeClaimRetentionPolicy was Retain: they are never orphaned.

The policy is deleted with the StatefulSet, so the PVCs have to say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import place_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.orphan_marks import (
    KEEPING,
    mark_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.pvc_updates import updated_claim
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Notice, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.retention_policy import retains_explicitly
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.stateful_sets import template_names
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons


def kept_claims(
    stateful_set: Manifest, group: str | None, cluster: Cluster, claims: Iterable[Manifest]
) -> Iterator[Step]:
    """Yield the step that keeps a PVC, for each PVC of a StatefulSet that is removed with its group."""
    if group is not None or not cluster.deletes_orphans or not retains_explicitly(stateful_set):
        return
    stems = {f"{template}-{stateful_set['metadata']['name']}" for template in template_names(stateful_set)}
    for live in claims:
        place, mark = place_of(live["metadata"]["name"]), mark_of(live)
        if place is not None and place[0] in stems and not (is_terminating(live) or mark.is_marked or mark.is_kept):
            text = "is not orphaned: persistentVolumeClaimRetentionPolicy of its group is Retain"
            yield updated_claim(live, KEEPING, Notice(reasons.PVC_UPDATED, text), None)
