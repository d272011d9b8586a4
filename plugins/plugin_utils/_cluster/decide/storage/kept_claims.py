# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs of a StatefulSet that is deleted, and whose persistentVolumeClaimRetentionPolicy was Retain: never orphaned.

The policy is deleted with the StatefulSet, so the PVCs have to say it: also while deleteOrphanPvc is false, which may
change later, and if the group becomes a Deployment, because it may be removed later. So do the PVCs of claim templates
that the StatefulSet no longer has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.claim_update import (
    Notice,
    UpdateClaim,
    updated_claim,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.group_claims import place_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.storage.orphan_marks import (
    KEEPING,
    mark_of,
    unmarking,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.object_ownership import group_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.retention_policy import retains_explicitly
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons


def kept_claims(stateful_set: Manifest, group: str | None, claims: Iterable[Manifest]) -> Iterator[UpdateClaim]:
    """Yield the step that keeps a PVC, for each PVC of a StatefulSet that is deleted.

    `group` is None if the group was removed from the spec. A PVC that was orphaned before stays so; a mark that is not
    trusted, such as that of the Go operator, does not show that.
    """
    if not retains_explicitly(stateful_set):
        return
    workload = stateful_set["metadata"]["name"]
    for live in claims:
        mark = mark_of(live)
        is_orphaned = mark.since is not None
        if _is_of(live, workload) and not (is_terminating(live) or is_orphaned or mark.is_kept):
            text = "is not orphaned: persistentVolumeClaimRetentionPolicy of its group is Retain"
            yield updated_claim(live, {**unmarking(live), **KEEPING}, Notice(reasons.PVC_UPDATED, text), group)


def _is_of(claim: Manifest, workload: str) -> bool:
    """True for a PVC that may be orphaned with this workload: by its label and its name."""
    place = place_of(claim["metadata"]["name"])
    return group_of(claim) == workload and place is not None and place[0].endswith(f"-{workload}")
