# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decommissioning of Historicals writes: its record, replicas that are held, and names in Druid's list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import exists_since
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.outdated_resource import is_latest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.decision import (
    Decommission,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.groups import (
    LIST,
    decommission_of,
    live_replicas,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import (
    annotations_of,
    record_of,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.reports import (
    decommission_findings,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.steps import ChangeList
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import ObjectKey
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import Desired
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.effects import with_effects
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, annotated
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.change import ListChange, entries_of
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import COORDINATOR_CONFIG
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest


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
    config = inputs.reads.druid.answers.get(COORDINATOR_CONFIG)
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
    found: dict[str, str] = {}
    for entry in decided.record:
        if entry.server:
            found.setdefault(entry.server, entry.group)
    return {key: frozenset(name for name, group in found.items() if group == key) for key in found.values()}


def _title(change: ListChange) -> str:
    verbs = (("add", "to", change.added), ("remove", "from", change.removed))
    texts = (f"{verb} {', '.join(sorted(found))} {where} {LIST}" for verb, where, found in verbs if found)
    return " and ".join(texts)
