# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes of PVCs that the API server rejects in a dry run, such as an expansion beyond a quota."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def rejected_patches(draft: Draft) -> tuple[Finding, ...]:
    """Return the rejections of patches of PVCs by the API server.

    A rejection blocks the group if its StatefulSet is recreated for the same change, or deleted: a PVC that is to be
    kept must be recorded before. Otherwise it blocks only the PVC.
    """
    verdicts = draft.inputs.dry_runs.patches
    dependent = {step.group for step in draft.steps if _depends_on_claims(step)}
    found = ((step, verdicts.get(step.key)) for step in draft.steps if step.verdicts == "patches")
    rejected = ((step, verdict.rejection) for step, verdict in found if verdict and verdict.rejection)
    return tuple(finding if step.group in dependent else _of_object(step, finding) for step, finding in rejected)


def _depends_on_claims(step: Step) -> bool:
    return step.recreates or (step.deletes and step.key.kind == "StatefulSet")


def _of_object(step: Step, finding: Finding) -> Finding:
    message = finding.message.removesuffix(f"Nothing of group {step.group} is changed.")
    return replace(finding, message=f"{message}It blocks no other object.", object=str(step.key))
