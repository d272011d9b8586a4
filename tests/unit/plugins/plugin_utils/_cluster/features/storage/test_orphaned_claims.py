# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orphaned PVCs are marked, then deleted; what any pod may use stays, and what a person has unmarked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.orphans import (
    KINDS,
    orphaned_claims,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import orphans, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import answers_of
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.orphans import (
    claim,
    cluster,
    marks,
    orphan_inputs,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import CREATED

Manifest = dict[str, Any]
FIRST, SECOND = "d-druid-c-brokers-0", "d-druid-c-brokers-1"
REMOVED = {"name": "d-druid-c-old-0", "group": "druid-c-old"}
MARK, UNMARK, DELETE = "OrphanedPVCMarked", "OrphanedPVCUnmarked", "OrphanedPVCDeleted"
SCALED = {"hpAutoscaler": orphans.autoscaler("druid-c-brokers", 2)["spec"]}
PVCS = ((SECOND, "druid-c-brokers"), tuple(REMOVED.values()))
SINCE = "druid.apache.org/orphaned-since"
RETAIN = {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Retain"}}


def unmarked(seconds: int = 90) -> Manifest:
    return {"annotations": marks(seconds)["annotations"]}


def of_go(seconds: int = 90, **labels: str) -> Manifest:
    return {"labels": {**marks(seconds)["labels"], **labels}}


def owned(kind: str, name: str) -> Manifest:
    return {"ownerReferences": [{"kind": kind, "name": name, "uid": "u", "apiVersion": "apps/v1"}]}


# The PVC, the cluster, and the expected reason of the step.
CASES: dict[str, tuple[Manifest, Cluster, str | None]] = {
    "needed": (claim(FIRST), cluster(), None),
    "scaled down": (claim(SECOND), cluster(), MARK),
    "of a removed group": (claim(**REMOVED), cluster(), MARK),
    "marked a while ago": (claim(SECOND, **marks(59)), cluster(), None),
    "the grace period is over": (claim(SECOND, **marks(60)), cluster(), DELETE),
    "of a removed group, the grace period is over": (claim(**REMOVED, **marks(60)), cluster(), DELETE),
    "a longer grace period": (claim(SECOND, **marks(60)), cluster(orphanPvcGracePeriodSeconds=61), None),
    "no grace period": (claim(SECOND, **marks(0)), cluster(orphanPvcGracePeriodSeconds=0), DELETE),
    "no grace period, and no mark": (claim(SECOND), cluster(orphanPvcGracePeriodSeconds=0), MARK),
    "marked in the future": (claim(SECOND, **marks(-600)), cluster(), None),
    "a person has postponed it": (claim(SECOND, **marks(-600, annotated=90)), cluster(), None),
    "the Go operator has marked it again": (claim(SECOND, **marks(5, annotated=90)), cluster(), None),
    "a person has removed the labels": (claim(SECOND, **unmarked()), cluster(), None),
    "a person has changed the label": (claim(SECOND, **of_go(toBeDeleted="no")), cluster(), None),
    "it is never orphaned": (claim(SECOND, **marks(90, annotated="never")), cluster(), None),
    "marked by the Go operator": (claim(SECOND, **of_go(3600)), cluster(), MARK),
    "an unreadable time": (claim(SECOND, **marks(90, annotated="yesterday")), cluster(), MARK),
    "a time near the end of time": (
        claim(SECOND, labels={"toBeDeleted": "yes", "deletionTS": "253402300799"}, annotations={SINCE: "2026-01-01"}),
        cluster(),
        None,
    ),
    "before the first year in UTC": (claim(SECOND, **marks(90, annotated="0001-01-01T00:00+12:00")), cluster(), MARK),
    "an unreadable label": (claim(SECOND, **{**marks(90), "labels": {"toBeDeleted": "yes"}}), cluster(), MARK),
    "needed again": (claim(FIRST, **marks(90)), cluster(), UNMARK),
    "marked by the Go operator, and needed": (claim(FIRST, **of_go()), cluster(), UNMARK),
    "switched off": (claim(SECOND), cluster(deleteOrphanPvc=False), None),
    "switched off after the mark": (claim(SECOND, **marks(90)), cluster(deleteOrphanPvc=False), UNMARK),
    "switched off, marked by the Go operator": (claim(SECOND, **of_go()), cluster(deleteOrphanPvc=False), None),
    "not specified": (claim(SECOND), cluster(deleteOrphanPvc=None), None),
    "terminating": (claim(SECOND, **marks(90), deletionTimestamp="now"), cluster(), None),
    "a stopped cluster": (claim(SECOND, **marks(90)), cluster(stopped=True), UNMARK),
    "a stopped cluster, a removed group": (claim(**REMOVED), cluster(stopped=True), None),
    "a stopped group": (claim(SECOND), cluster({"stopped": True}), None),
    "a paused cluster": (claim(SECOND, **marks(90)), cluster(paused=True), None),
    "no replicas": (claim(SECOND, **marks(90)), cluster({"replicas": 0}), UNMARK),
    "Retain": (claim(SECOND, **marks(90)), cluster(RETAIN), UNMARK),
    "an autoscaler of the group": (claim(SECOND), cluster(SCALED), None),
    "above the autoscaler's maximum": (
        claim("d-druid-c-brokers-2"),
        cluster(SCALED),
        MARK,
    ),
    "another kind": (claim(SECOND), cluster({"kind": "Deployment", "volumeClaimTemplates": None}), None),
    "a template that the group does not have": (claim("e-druid-c-brokers-1"), cluster(), None),
    "no ordinal": (claim("d-druid-c-brokers-old"), cluster(), None),
    "not a canonical ordinal": (claim("d-druid-c-brokers-01"), cluster(), None),
    "no template": (claim("druid-c-brokers-1"), cluster(), None),
    "the label of another group": (claim(SECOND, "druid-c-other"), cluster(), None),
    "the label of another cluster": (claim("d-druid-x-old-0", "druid-x-old"), cluster(), None),
    "an app label of others": (claim(SECOND, labels={"app": "mine"}), cluster(), None),
    "created by the Go operator": (claim(SECOND, annotations={"druidOpResourceHash": "x"}), cluster(), None),
    "owned by the resource": (claim(SECOND, **owned("Druid", "c")), cluster(), None),
    "owned by another StatefulSet": (claim(SECOND, **owned("StatefulSet", "other")), cluster(), None),
    "owned by its StatefulSet": (claim(SECOND, **owned("StatefulSet", "druid-c-brokers")), cluster(), MARK),
    "owned by its pod": (claim(SECOND, **owned("Pod", "druid-c-brokers-1")), cluster(), MARK),
    "a group with a longer name": (claim("d-druid-c-brokers-1-0", "druid-c-brokers-1"), cluster(), MARK),
}  # fmt: skip


@pytest.mark.parametrize(("live", "which", "reason"), CASES.values(), ids=CASES)
def test_steps(live: Manifest, which: Cluster, reason: str | None) -> None:
    steps = orphaned_claims(orphan_inputs(which, [live]))
    assert [step.notice.reason for step in steps] == ([] if reason is None else [reason])
    for step in steps:
        assert step.operation.verb == ("delete" if reason == DELETE else "update")
        assert step.is_leaf
        assert step.is_destructive == (reason != UNMARK)


OTHERS: dict[str, Manifest] = {
    "a pod mounts it": orphans.pod("x", SECOND),
    "an autoscaler may need it": orphans.autoscaler("druid-c-brokers", 2),
    "a StatefulSet of the same name and template": orphans.stateful_set("brokers", "d-druid-c"),
    "a StatefulSet whose pods mount it": orphans.stateful_set("x", v={}, persistentVolumeClaim={"claimName": SECOND}),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("of_removed_group", [False, True])
def test_what_others_use_stays(other: Manifest, of_removed_group: bool) -> None:
    which = cluster()
    group = "druid-c-brokers"
    if of_removed_group:
        which = replace(which, spec={**which.spec, "nodes": {"x": which.spec["nodes"]["brokers"]}})
    for seconds, expected in ((None, []), (90, [UNMARK])):
        live = claim(SECOND, group, **({} if seconds is None else marks(seconds)))
        if of_removed_group and other["kind"] == "HorizontalPodAutoscaler":
            continue
        steps = orphaned_claims(orphan_inputs(which, [live], [other]))
        assert [step.notice.reason for step in steps] == expected


def test_nothing_is_lost_while_a_group_is_not_ready() -> None:
    which, claims = cluster(), [claim(SECOND), claim(**REMOVED, **marks(90)), claim(FIRST, **marks(90))]
    live = orphans.observed(which, claims)
    found = next(live.of_kind("StatefulSet"))
    unready = {**found, "status": {**found["status"], "readyReplicas": 0}}
    [step] = orphaned_claims(orphan_inputs(which, claims, live=live.with_objects([unready])))
    assert (step.key.name, step.notice.reason) == (FIRST, UNMARK)


@pytest.mark.parametrize(("created", "is_kept"), [(CREATED, False), ("2026-01-02T03:04:06Z", True)])
def test_pvcs_of_an_earlier_resource_stay(created: str, is_kept: bool) -> None:
    found = orphan_inputs(cluster(), [claim(SECOND), claim(**REMOVED)])
    metadata = {**found.resource["metadata"], "creationTimestamp": created}
    steps = orphaned_claims(replace(found, resource={**found.resource, "metadata": metadata}))
    assert bool(steps) != is_kept


@pytest.mark.parametrize(("created", "is_kept"), [(CREATED, False), ("2026-01-02T03:04:04Z", True)])
@pytest.mark.parametrize("seconds", [None, 90])
def test_pvcs_that_are_older_than_a_cluster_without_a_resource_stay(
    created: str, is_kept: bool, seconds: int | None
) -> None:
    which = replace(cluster(), uid=None)
    mark = {} if seconds is None else marks(seconds)
    live = [claim(name, group, creationTimestamp=created, **mark) for name, group in PVCS]
    steps = orphaned_claims(orphan_inputs(which, live))
    kept, lost = (set(), {MARK}) if seconds is None else ({UNMARK}, {DELETE})
    assert {step.notice.reason for step in steps} == (kept if is_kept else lost)
    assert all(getattr(step, "resource", None) is None for step in steps)


def test_nothing_is_lost_of_a_cluster_of_unknown_age() -> None:
    which = replace(cluster(), uid=None)
    # These have the cluster's label, and another owner.
    others = [{**each, "metadata": {**each["metadata"], "managedFields": []}} for each in _configs(which)]
    live = Observed().with_objects([*others, claim(**REMOVED, **marks(90))])
    [step] = orphaned_claims(orphan_inputs(which, (), live=live))
    assert step.notice.reason == UNMARK


def _configs(which: Cluster) -> list[Manifest]:
    return [*orphans.observed(which, ()).of_kind("ConfigMap")]


def test_a_removed_group_whose_stateful_set_exists() -> None:
    which, claims = cluster(), [claim(**REMOVED, **marks(90))]
    others = [orphans.stateful_set("druid-c-old", "another")]
    [step] = orphaned_claims(orphan_inputs(which, claims, others))
    assert step.notice.reason == UNMARK


def test_ordinals_that_do_not_start_at_zero() -> None:
    which = cluster()
    claims = [claim(f"d-druid-c-brokers-{ordinal}") for ordinal in range(12)]
    live = orphans.observed(which, claims)
    found = next(live.of_kind("StatefulSet"))
    moved = {**found, "spec": {**found["spec"], "ordinals": {"start": 10}}}
    steps = orphaned_claims(orphan_inputs(which, claims, live=live.with_objects([moved, *rolling.ready_pods(moved)])))
    assert [step.key.name for step in steps] == ["d-druid-c-brokers-11"]


def test_the_namespace_is_read_only_before_a_loss() -> None:
    for live, is_needed in ((claim(FIRST), False), (claim(SECOND, **marks(5)), False), (claim(SECOND), True)):
        found = orphan_inputs(cluster(), [live])
        orphaned_claims(found)
        assert answers_of(found).asked == [*KINDS] * is_needed


def test_a_mark_restores_all_parts() -> None:
    [step] = orphaned_claims(orphan_inputs(cluster(), [claim(SECOND, **of_go(3600))]))
    assert step.after is not None
    assert {name: step.after["metadata"]["labels"][name] for name in marks(0)["labels"]} == marks(0)["labels"]
    assert step.after["metadata"]["annotations"] == marks(0)["annotations"]
    [step] = orphaned_claims(orphan_inputs(cluster(), [claim(FIRST, **marks(5))]))
    assert step.after is not None
    assert step.after["metadata"]["labels"] == claim(FIRST)["metadata"]["labels"]
    assert step.after["metadata"]["annotations"] == {}
