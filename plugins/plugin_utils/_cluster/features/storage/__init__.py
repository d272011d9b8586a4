# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs: more storage is requested before their StatefulSets are recreated, they cannot shrink, and only orphans go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import CLAIM, capacity
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.claim_patches import (
    ignored_policies,
    ignored_updates,
    pvc_updates,
    rejected_patches,
    released_claims,
    retains_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.expansion import (
    blocked_expansion,
    expanding_volumes,
    expansion_finding,
    infeasible_expansions,
    not_expandable,
    with_deferred_sizes,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.orphans import (
    next_deletion,
    orphaned_claims,
    orphaned_pvcs,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.size_limits import (
    added_claims,
    may_lack_labels,
    oversized_caches,
    oversized_pvcs,
    shrinking_claims,
    undersized_pvcs,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText
from ansible_collections.druidops.druid.plugins.plugin_utils._values.formats import parse_quantity

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange


class Storage(Feature):
    """The PVCs of all groups."""

    texts = (("expandingVolumes", "awaited"), ("orphanedPvcs", "message"))

    def needs_all_claims(self, inputs: Inputs) -> bool:
        """Return whether a StatefulSet may own PVCs that the cluster retains, or sizes may differ."""
        return retains_claims(inputs.cluster) or may_lack_labels(inputs)

    def desired(self, desired: Desired, inputs: Inputs) -> Desired:
        """Return the desired objects with the present sizes in the templates of groups that grow later."""
        return with_deferred_sizes(desired, inputs)

    def steps(self, inputs: Inputs) -> Iterator[Step]:
        """Yield the patches of PVCs."""
        yield from pvc_updates(inputs)
        yield from released_claims(inputs)

    def removals(self, inputs: Inputs) -> Iterator[Step]:
        """Yield the marks and deletions of orphaned PVCs."""
        yield from orphaned_claims(inputs)

    def judge(self, draft: DraftPlan) -> Iterator[Finding]:
        """Yield findings about PVCs that cannot shrink, grow, or be added to running pods."""
        for rule in (shrinking_claims, not_expandable, added_claims):
            findings = rule(draft)
            draft = draft.with_findings(findings)
            yield from findings

    def judge_results(self, draft: DraftPlan) -> tuple[Finding, ...]:
        """Return the patches that the API server rejects."""
        return rejected_patches(draft)

    def reconsidered(self, draft: DraftPlan) -> Inputs | None:
        """Return the inputs of another decision if the growth of a group is blocked: then the next one grows."""
        blocked = blocked_expansion(draft)
        if blocked is None:
            return None
        return replace(draft.inputs, blocked_expansions=draft.inputs.blocked_expansions | {blocked})

    def after_gate(self, plan: Plan, inputs: Inputs) -> Plan:
        """Return the plan with the PVCs that grow, and those whose driver has given up."""
        findings = (*infeasible_expansions(inputs), *expansion_finding(expanding_volumes(inputs)))
        return replace(plan, findings=(*plan.findings, *findings))

    def warnings(self, inputs: Inputs) -> Iterator[str]:
        """Yield warnings about PVCs that differ from the specification, or are too small, and ignored policies."""
        for rule in (undersized_pvcs, oversized_pvcs, oversized_caches, ignored_updates, ignored_policies):
            yield from rule(inputs)

    def status(self, result: ClusterResult) -> Mapping[str, Any]:
        """Return the PVCs that are orphaned, and those that grow."""
        expanding = () if result.inputs is None else expanding_volumes(result.inputs)
        return {
            "orphanedPvcs": orphaned_pvcs(result.cluster, result.observed, result.is_paused),
            "expandingVolumes": [
                {name: text for name, text in volume._asdict().items() if text} for volume in expanding
            ],
        }

    def events(self, result: ClusterResult, change: StatusChange) -> Iterator[EventText]:
        """Yield one event per PVC that was expanding before, and has a file system of the desired size now."""
        remaining = {volume["name"] for volume in change.after.get("expandingVolumes") or ()}
        for each in change.before.get("expandingVolumes") or ():
            live = result.observed.objects.get(ObjectKey(CLAIM, each["name"]))
            size, desired = None if live is None else capacity(live), parse_quantity(each.get("size"))
            if each["name"] not in remaining and size is not None and desired is not None and size.amount >= desired:
                yield EventText("Normal", reasons.VOLUME_EXPANDED, f"PVC {each['name']} has {size.text}.")

    def requeue(self, status: Mapping[str, Any], now: datetime) -> int | None:
        """Return when the next orphaned PVC may be deleted."""
        deletion = next_deletion(status, now)
        return None if deletion is None else int(deletion) + 1
