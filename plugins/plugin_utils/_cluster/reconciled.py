# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a reconcile of a cluster found and did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import Rank, of_rank
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Result


@dataclass(frozen=True)
class Reconciled:
    """State, plan and (not in check mode) results of a reconcile.

    `inputs` is what was decided on, None if nothing was. `stored_replicas`: the pods of each group for which admission
    stores another number than specified.
    """

    resource: Manifest
    cluster: Cluster
    observed: Observed
    plan: Plan
    results: tuple[Result[Step], ...] = ()
    inputs: Inputs | None = None
    stored_replicas: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_paused(self) -> bool:
        """True if the resource is paused: nothing is written."""
        return of_rank(self.plan.findings, Rank.PAUSED) is not None


def predicted(observed: Observed, steps: Iterable[Step]) -> Observed:
    """Return the predicted state after the steps, from the results of the dry runs."""
    for step in steps:
        observed = step.observed_after(observed, step.after)
    return observed
