# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdicts of the API server: a dry run confirms a candidate, shows that it changes nothing, or is rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import DryRun, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.compare import same_object
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding


def rejections(draft: Draft) -> tuple[Finding, ...] | DryRun:
    """Return the rejections by the API server; the dry runs of all applies are needed."""
    verdicts = draft.inputs.verdicts
    if verdicts is None:
        return DryRun(draft.applies) if draft.applies else ()
    found = (verdicts.get(step.key) for step in draft.applies)
    return tuple(verdict.rejection for verdict in found if verdict is not None and verdict.rejection is not None)


def confirmed(candidates: Iterable[Step], verdicts: Mapping[ObjectKey, Verdict] | None) -> tuple[Step, ...]:
    """Return the candidates with the results of their dry runs, without those that would change nothing."""
    found = (_confirmed(step, (verdicts or {}).get(step.key)) for step in candidates)
    return tuple(step for step in found if step is not None)


def _confirmed(candidate: Step, verdict: Verdict | None) -> Step | None:
    if verdict is None or verdict.after is None:
        return candidate
    step = replace(verdict.step, after=verdict.after)
    return step if _changes(step, verdict.after) else None


def _changes(step: Step, after: dict[str, object]) -> bool:
    if step.operation != "update" or step.managed_fields is not None:
        return True
    return step.live is None or not same_object(step.live, after)
