# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a feature can do in a reconcile: hooks, each of which does nothing by default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.draft import DraftPlan
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import SpecifiedConfigs
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.reads import ClusterReads
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
    from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.masking import TextPath
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import EventText
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange

NOTHING = Plan()
# Until Druid is asked again: no event announces that it has recovered, that a task has ended, or that a worker exists.
DRUID_SECONDS = 10


class Feature:
    """A capability of the cluster. It is one file or one package of `features/`, and one entry of its list.

    The hooks are called in this order, each for all features in the order of the list. All of them only read:
    `inputs.observed` has the live objects, `inputs.reads` reads others (equal reads are answered once), and
    `inputs.ask` asks Druid. A feature has no state: what two of its hooks need follows from the inputs again.

    1. Observe (`reads.py`): `specified`.
    2. Decide (`decide/decision.py`): `refuse`, `prepared`, `needs_all_claims`; `desired`, `applies`, `steps`,
       `removals`; `judge`. Then the API server is asked about the steps that are not blocked, and `judge_results` has
       its verdicts. From `desired` on, it is decided again if one is `reconsidered`. Then `rollout/` delays
       restarts, and `warnings` and `after_gate` follow.
    3. Act. When Kubernetes has been written: `desired_in_druid`, `in_druid`.
    4. Report (`kind.py`), after the steps were carried out, or in check mode would be: `status`, `events`, `requeue`;
       `restart_causes` and `without_records` for the plan, too.

    A feature does not import the inside of another one. What they share is outside of `features/`: no module that a
    feature imports may import a feature.
    """

    # Kinds that may be read, but need not: what the operator cannot do without the permission, as "to ...".
    optional_reads: ClassVar[Mapping[str, str]] = {}
    # Texts in its fields of the status, which may have values of Secrets.
    texts: ClassVar[tuple[TextPath, ...]] = ()
    # What it refuses is not even written to the resource itself: its finalizer stays as it is.
    refuses_finalizer: ClassVar[bool] = False

    def specified(self, cluster: Cluster, observed: Observed, reads: ClusterReads) -> Cluster:
        """Return what is specified, as what is live changes it, before the desired objects are rendered from it."""
        return cluster

    def refuse(self, inputs: Inputs) -> Iterable[Finding]:
        """Return why the specification as a whole cannot be reconciled: then nothing is written, and nothing asked."""
        return ()

    def prepared(self, inputs: Inputs) -> Inputs:
        """Return the inputs with what all features have to know before they decide, such as other desired objects."""
        return inputs

    def needs_all_claims(self, inputs: Inputs) -> bool:
        """Return whether PVCs of the namespace count that do not have the label of the cluster."""
        return False

    def desired(self, desired: Desired, inputs: Inputs) -> Desired:
        """Return the desired objects as this feature changes them; `desired` has the changes of those before it.

        A change of the pod template restarts the pods of the group, through the scheduler like every restart.
        """
        return desired

    def applies(self, steps: Sequence[Apply], inputs: Inputs) -> Iterable[Apply]:
        """Return the writes of the desired objects with what this feature knows of the pods that they replace."""
        return steps

    def steps(self, inputs: Inputs) -> Iterable[Step]:
        """Return steps besides those that apply the desired objects."""
        return ()

    def removals(self, inputs: Inputs) -> Iterable[Step]:
        """Return steps that come after all others; of two features that change an object, the first one does."""
        return ()

    def judge(self, draft: DraftPlan) -> Iterable[Finding]:
        """Return findings about the steps that are not blocked yet, before the API server is asked about them.

        A finding blocks the steps of its group, or of its object, or all steps if it has no group.
        """
        return ()

    def judge_results(self, draft: DraftPlan) -> Iterable[Finding]:
        """Return findings about steps that have the results of their dry runs."""
        return ()

    def reconsidered(self, draft: DraftPlan) -> Inputs | None:
        """Return other inputs if this feature desires something else because of findings: all is decided again.

        None if it does not. It must do so only a few times.
        """
        return None

    def after_gate(self, plan: Plan, inputs: Inputs) -> Plan:
        """Return the plan with more findings that block nothing, warnings about its steps, and progress."""
        return plan

    def warnings(self, inputs: Inputs) -> Iterable[str]:
        """Return warnings about the specification and the live state, which last until these change."""
        return ()

    def desired_in_druid(self, desired: SpecifiedConfigs, inputs: Inputs) -> SpecifiedConfigs:
        """Return the desired dynamic configurations of Druid as this feature changes them."""
        return desired

    def in_druid(self, result: ClusterResult, desired: SpecifiedConfigs, reads: ClusterReads) -> Plan:
        """Return steps in Druid that are decided after the writes in Kubernetes: no repair waits for its timeouts.

        `desired` are Druid's dynamic configurations. Not called if the whole cluster is blocked or stopped.
        """
        return NOTHING

    def restart_causes(self, before: Manifest, after: Manifest) -> Iterable[str]:
        """Return why a write of a workload restarts its pods, if that is not in the fields of its template."""
        return ()

    def without_records(self, workload: Manifest) -> Manifest:
        """Return the workload without what this feature records in its template: that is no cause of a restart."""
        return workload

    def status(self, result: ClusterResult) -> Mapping[str, Any]:
        """Return fields of the status by name; one that is empty or None is removed, one that is not named stays."""
        return {}

    def events(self, result: ClusterResult, change: StatusChange) -> Iterable[EventText]:
        """Return the events that follow from the difference between the previous status and this one."""
        return ()

    def requeue(self, status: Mapping[str, Any], now: datetime) -> int | None:
        """Return the seconds until the feature needs the next reconcile, None if the regular period is enough."""
        return None
