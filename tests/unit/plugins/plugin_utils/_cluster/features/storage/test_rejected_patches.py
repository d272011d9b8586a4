# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A change of a PVC that the API server rejects blocks its group before anything is written, or only the PVC."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan, dry_runs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.delete.retain import Retain
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.claim_patches import (
    rejected_patches,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.patch import (
    Notice,
    UpdateClaim,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, orphans
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import draft
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.steps_of import step_of

NAME = "d-druid-c-brokers-0"
KEY = ObjectKey("PersistentVolumeClaim", NAME)
LIVE = orphans.claim(NAME)
PATCH = UpdateClaim(group="brokers", live=LIVE, after=LIVE, patch=[], notice=Notice("VolumeExpanding", "expand"))
SET = {"kind": "StatefulSet", "metadata": {"name": "druid-c-brokers", "namespace": "ns"}, "spec": {}}
REFUSAL = Finding("RejectedByAPIServer", "It exceeds a quota. Nothing of group brokers is changed.", "brokers")


def test_patches_are_judged() -> None:
    others = (replace(PATCH, group=None), Retain(live=LIVE, releases=frozenset({"u"})))
    assert dry_runs(draft(druid.cluster(), steps=others)) == ()
    [verdict] = dry_runs(draft(druid.cluster(), steps=[PATCH]))
    assert verdict.step.key == KEY
    assert rejected_patches(judged_draft(verdict)) == ()


def judged_draft(verdict: Verdict, *others: Step) -> DraftPlan:
    return replace(draft(druid.cluster(), steps=[PATCH, *others]), verdicts=(verdict,))


def test_a_rejection_blocks_the_group_whose_stateful_set_is_recreated_or_deleted() -> None:
    """It is deleted when the group becomes a Deployment, after its PVCs are recorded as kept."""
    dependent = [((step_of(operation, SET, "brokers"),), None) for operation in ("recreate", "delete")]
    for others, expected in (*dependent, ((), str(KEY))):
        judged = judged_draft(Verdict(PATCH, rejection=REFUSAL), *others)
        findings = rejected_patches(judged)
        [finding] = findings
        assert (finding.group, finding.object) == ("brokers", expected)
        assert finding.message == (REFUSAL.message if others else "It exceeds a quota. It blocks no other object.")
        assert judged.with_findings(findings).steps == ()
