# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletions that the API server would reject: then nothing of the cluster is deleted."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.dry_run import DryRuns
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Finding


def refusals(reads: DryRuns, planned: Iterable[Step]) -> tuple[Finding, ...]:
    """Return why the API server rejects planned deletions, as a dry run of each of them shows."""
    verdicts = (reads.dry_run(step) for step in planned if step.deletes)
    found = (
        Finding(each.rejection.reason, f"{_cause(each.rejection)} Nothing of the cluster is deleted.{_way(each.step)}")
        for each in verdicts
        if each.rejection is not None
    )
    return tuple(dict.fromkeys(found))


def _cause(rejection: Finding) -> str:
    """Return the message without the consequence for a group that goes on."""
    return rejection.message.removesuffix(" No object of a removed group is deleted.")


def _way(step: Step) -> str:
    """Return how the cluster can be deleted without a PVC, which a policy may protect while pods use it."""
    way = " To delete the cluster and keep its PVCs, set disablePVCDeletionFinalizer: true."
    return way if step.deletes_claim else ""
