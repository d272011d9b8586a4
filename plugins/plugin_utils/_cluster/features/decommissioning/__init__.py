# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Historicals are decommissioned before their number decreases: Druid moves their segments, and then they stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    HISTORICAL,
    ListChange,
    entries_of,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import COORDINATOR_CONFIG
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import exists_since
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import is_latest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.druid_configs import SpecifiedConfigs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.decommission import (
    Decommission,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    FIELD,
    annotations_of,
    record_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.reports import (
    decommission_events,
    decommission_findings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.shrinking_groups import (
    LIST,
    decommission_of,
    druid_state,
    live_replicas,
    with_names,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import STRATEGY
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.feature import Feature
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster, Group
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.druid_request import DruidRequest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import with_effects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, annotated
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.workloads import replicas
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import WORKLOADS, Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import backoff_since
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import Context, EventText, StepResult

if TYPE_CHECKING:
    from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import ClusterResult
    from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.report import StatusChange


class Decommissioning(Feature):
    """Keeps the pods of Historicals until they have no segments, and their names in a list of the Coordinator."""

    def desired(self, desired: Desired, inputs: Inputs) -> Desired:
        """Return the desired objects, in which StatefulSets have the record, and keep the pods that must not stop."""
        return with_held_replicas(desired, inputs)

    def after_gate(self, plan: Plan, inputs: Inputs) -> Plan:
        """Return the plan with names in Druid, what comes later, findings, and warnings about removed groups."""
        plan = with_decommission(plan, inputs)
        return plan.with_warnings(removal_warnings(inputs.cluster, (*plan.steps, *plan.later)))

    def warnings(self, inputs: Inputs) -> Iterator[str]:
        """Yield warnings about strategies without effect."""
        yield from strategy_warnings(inputs.cluster)

    def desired_in_druid(self, desired: SpecifiedConfigs, inputs: Inputs) -> SpecifiedConfigs:
        """Return the specified configurations with the names that have to be in the list because of us."""
        return with_names(desired, decommission_of(inputs).ours)

    def status(self, result: ClusterResult) -> Mapping[str, Any]:
        """Return the record with its progress."""
        if result.inputs is None or result.is_paused:
            return {}
        record = decommission_of(result.inputs).record
        return {FIELD: [entry.document for entry in record]} if record or record_of(result.inputs) else {}

    def events(self, result: ClusterResult, change: StatusChange) -> Iterator[EventText]:
        """Yield an event for each Historical whose decommissioning has begun or ended."""
        yield from decommission_events(change, result.observed)

    def requeue(self, status: Mapping[str, Any], now: datetime) -> int | None:
        """Return when to ask again, while there is a record."""
        ready = next(condition for condition in status["conditions"] if condition["type"] == "Ready")
        return backoff_since(ready["lastTransitionTime"], now) if status.get(FIELD) else None


def strategy_warnings(cluster: Cluster) -> Iterator[str]:
    """Yield a warning for each group whose strategy, or whose annotation with the name of the record, has no effect."""
    for group in cluster.groups:
        if names.DECOMMISSION_ANNOTATION in group.merged("workloadAnnotations"):
            field = f"workloadAnnotations[{names.DECOMMISSION_ANNOTATION}]"
            yield f"spec.nodes[{group.key}]: {field} has no effect: decommissioned pods are recorded there"
        reason = _without_effect(group)
        if reason is not None:
            yield f"spec.nodes[{group.key}]: {STRATEGY} has no effect: {reason}"


def _without_effect(group: Group) -> str | None:
    if group.node.get(STRATEGY) is not None and group.node_type != HISTORICAL:
        return f"nodeType is {group.node_type}. Remove it"
    if group.decommission_strategy is None or group.node_type != HISTORICAL:
        return None
    if group.is_deployment:
        return "the pods of a Deployment stop in no order. Its pods are not decommissioned; use a StatefulSet"
    if group.autoscaled:
        return "an autoscaler sets the number of pods. They are not decommissioned"
    if group.keeps_replicas:
        return "replicas is not set. Pods that another client stops are not decommissioned"
    if group.cluster.uid is None:
        return "a cluster without a resource has no status to record the progress in. Its pods are not decommissioned"
    return None


def removal_warnings(cluster: Cluster, steps: Iterable[Step]) -> Iterator[str]:
    """Yield a warning for each workload of a removed group whose pods serve segments, if the cluster has a strategy."""
    if cluster.spec.get(STRATEGY) is None or cluster.stopped:
        return
    for key in dict.fromkeys(step.key for step in steps if _stops_historicals(step)):
        group = key.name.removeprefix(names.unique_name(cluster.name, ""))
        yield (
            f"{key}: group {group} was removed from the spec, so its Historicals stop without being decommissioned. "
            "To move their segments first, specify the group again with replicas: 0, and remove it when it has no pods."
        )


def _stops_historicals(step: Step) -> bool:
    if not step.removes_group or step.key.kind not in WORKLOADS or step.live is None:
        return False
    labels = step.live["metadata"].get("labels") or {}
    return bool(labels.get(names.COMPONENT_LABEL) == HISTORICAL and replicas(step.live))


def with_held_replicas(desired: Desired, inputs: Inputs) -> Desired:
    """Return the desired objects, in which a StatefulSet has the record, and keeps the pods that must not stop yet."""
    decided = decommission_of(inputs)
    records = annotations_of(decided.record)
    if not decided.replicas and not records:
        return desired

    def held(key: str, manifest: Manifest) -> Manifest:
        if manifest["kind"] != "StatefulSet":
            return manifest
        kept = _with_replicas(manifest, decided.replicas.get(key))
        return kept if key not in records else annotated(kept, {names.DECOMMISSION_ANNOTATION: records[key]})

    groups = {key: tuple(held(key, each) for each in manifests) for key, manifests in desired.groups.items()}
    verbatim = {key: held(key, manifest) for key, manifest in desired.verbatim.items()}
    return replace(desired, groups=groups, verbatim=verbatim)


def _with_replicas(manifest: Manifest, number: int | None) -> Manifest:
    return manifest if number is None else {**manifest, "spec": {**manifest["spec"], "replicas": number}}


def with_decommission(plan: Plan, inputs: Inputs) -> Plan:
    """Return the plan with the names in Druid, what comes later, and findings."""
    decided = decommission_of(inputs)
    if not decided.record and not record_of(inputs):
        return plan
    is_written = bool(decided.added) and not inputs.check_mode
    if is_written and not is_latest(inputs):
        # A later reconcile, of the later version, decides.
        decided = replace(decided, added=frozenset())
    # A blocker of the whole cluster blocks this, too.
    is_blocked = any(finding.is_problem and finding.group is None for finding in plan.findings)
    since = exists_since(inputs)
    later = with_effects([*_later(decided, inputs)], inputs.with_all_claims, inputs.cluster, since)
    return replace(
        plan,
        steps=(*plan.steps, *(() if is_blocked else _in_druid(decided, inputs))),
        findings=(*plan.findings, *decommission_findings(decided, inputs)),
        later=(*plan.later, *later),
    )


def _later(decided: Decommission, inputs: Inputs) -> Iterator[Step]:
    """Yield the change of each StatefulSet that has to have fewer replicas later."""
    for group in inputs.cluster.groups:
        live = inputs.observed.workload(group)
        if live is None or decided.replicas.get(group.key, group.replicas) <= group.replicas:
            continue
        if live_replicas(group, inputs) > group.replicas:
            after = {**live, "spec": {**live["spec"], "replicas": group.replicas}}
            yield Apply(manifest=after, group=group.key, live=live, after=after)


def _in_druid(decided: Decommission, inputs: Inputs) -> Iterator[ChangeList]:
    """Yield the change of Druid's list by each group: a failed write of one does not block another one.

    In check mode, the record counts as written.
    """
    config = druid_state(inputs).answers.get(COORDINATOR_CONFIG)
    if not isinstance(config, Mapping):
        return
    what, before = ObjectKey("dynamic configuration", "coordinator"), sorted(entries_of(config, LIST))
    added = decided.due if inputs.check_mode else decided.added
    for key, own in _names_by_group(decided).items():
        change = ListChange(LIST, added & own, decided.removed & own)
        if change.added or change.removed:
            after = change.applied(before)
            yield ChangeList(
                group=key,
                what=what,
                action=_title(change),
                path=COORDINATOR_CONFIG.path,
                change=change,
                states=({LIST: before}, {LIST: after}),
            )
            before = after


def _names_by_group(decided: Decommission) -> dict[str, frozenset[str]]:
    """Return the names by group, each of them once, in the order of the record."""
    groups: dict[str, str] = {}
    for entry in decided.record:
        if entry.server:
            groups.setdefault(entry.server, entry.group)
    return {key: frozenset(name for name, group in groups.items() if group == key) for key in groups.values()}


def _title(change: ListChange) -> str:
    verbs = (("add", "to", change.added), ("remove", "from", change.removed))
    texts = (f"{verb} {', '.join(sorted(found))} {where} {LIST}" for verb, where, found in verbs if found)
    return " and ".join(texts)


@dataclass(frozen=True, kw_only=True)
class ChangeList(DruidRequest):
    """A change of single entries of a list, which is read before the write and read back after it."""

    path: str
    change: ListChange

    def send(self, client: Any, _context: Context) -> StepResult[Step]:
        from ansible_collections.druidops.druid.plugins.module_utils._resources.config_list import change_list

        change_list(client, self.path, self.change, self.action)
        return StepResult(self)
