# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdicts of the API server: a dry run confirms a candidate, shows that it changes nothing, or is rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import Draft
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.immutable import immutable_part
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import DryRuns, Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.admission import Override, overrides
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.masking import masked_pair
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited, shown

_Step = TypeVar("_Step", bound=Step)


def dry_runs(draft: Draft) -> DryRuns:
    """Return the dry runs of all applies and deletions, and of all patches of PVCs, that no finding blocks."""
    inputs = draft.inputs
    writes = inputs.reads.dry_run(step for step in draft.steps if step.verdicts == "writes")
    patches = inputs.reads.dry_run(step for step in draft.steps if step.verdicts == "patches")
    return replace(inputs.dry_runs, writes=writes, patches=patches)


def with_later_patches(draft: Draft) -> DryRuns:
    """Return the dry runs with those of patches that only the other dry runs, or all PVCs, have shown."""
    known = draft.inputs.dry_runs
    later = [step for step in draft.steps if step.verdicts == "patches" and step.key not in known.patches]
    return replace(known, patches={**known.patches, **draft.inputs.reads.dry_run(later)}) if later else known


def rejections(draft: Draft) -> tuple[Finding, ...]:
    """Return the rejections by the API server."""
    verdicts = draft.inputs.dry_runs.writes
    found = (verdicts.get(step.key) for step in draft.steps if step.verdicts == "writes")
    return tuple(verdict.rejection for verdict in found if verdict is not None and verdict.rejection is not None)


def confirmed(candidates: Iterable[_Step], verdicts: Mapping[ObjectKey, Verdict]) -> tuple[_Step, ...]:
    """Return the candidates with the results of their dry runs, without those that would change nothing."""
    found = (_confirmed(step, verdicts.get(step.key)) for step in candidates)
    return tuple(step for step in found if step is not None)


def _confirmed(candidate: _Step, verdict: Verdict | None) -> _Step | None:
    if verdict is None or verdict.after is None:
        return candidate
    step = replace(cast(_Step, verdict.step), after=verdict.after)
    return step if step.has_effect(verdict.after) else None


def overridden_values(inputs: Inputs) -> tuple[str, ...]:
    """Return a warning for each object whose values admission overrides: its fields, with both values."""
    return tuple(
        f"{key}: {join_limited(map(_shown, found), '; ')}. A mutating webhook or policy overrides what is specified, "
        "and the stored value counts: change the specification, or the policy"
        for key, found in _overrides(inputs).items()
    )


def stored_replicas(inputs: Inputs) -> dict[str, int]:
    """Return the number of pods of each group for which admission stores another one than specified, by group."""
    found = ((verdict.step.group or "", verdict) for verdict in inputs.dry_runs.writes.values())
    return {
        group: verdict.after["spec"]["replicas"]
        for group, verdict in found
        if verdict.step.key.kind in WORKLOADS and verdict.after is not None and _overrides_replicas(verdict)
    }


def _overrides_replicas(verdict: Verdict) -> bool:
    specified = verdict.step.manifest["spec"].get("replicas")
    return specified is not None and (verdict.after or {})["spec"].get("replicas") != specified


def _overrides(inputs: Inputs) -> dict[ObjectKey, list[Override]]:
    """Return the overridden fields of each object; those that only a recreation could change, from its dry run."""
    recreated = ((immutable_part(each.step.manifest), each) for each in inputs.dry_runs.recreations.values())
    written = ((each.step.manifest, each) for each in inputs.dry_runs.writes.values())
    found: dict[ObjectKey, dict[str, Override]] = {}
    for manifest, verdict in (*recreated, *written):
        # The search for secrets takes long, and most objects are stored as specified.
        if verdict.after is not None and any(overrides(manifest, verdict.after)):
            masked = masked_pair(manifest, verdict.after)
            found.setdefault(verdict.step.key, {}).update({each.path: each for each in overrides(*masked)})
    return {key: [*each.values()] for key, each in found.items()}


def _shown(override: Override) -> str:
    specified, stored = map(shown, override[1:])
    return f"{override.path}: specified {specified}, stored {stored}"
