# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs of a removed group stay if its policy was Retain."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.claims import mark_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.removal import retain_claims
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, orphans
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    answers_of,
    decided,
    with_answers,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.orphans import (
    claim,
    cluster,
    marks,
    orphan_inputs,
    stateful_set,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import CREATED, entry

NAME = "druid-c-old"
POLICY = "persistentVolumeClaimRetentionPolicy"


def live(manager: str = "druidops", name: str = NAME, **policy: str) -> dict[str, Any]:
    """Return a StatefulSet whose policy a manager has set; Kubernetes sets the rest."""
    found = stateful_set(name)
    fields = {"f:spec": {f"f:{POLICY}": {f"f:{field}": {} for field in policy}}}
    metadata = {**found["metadata"], "creationTimestamp": CREATED, "managedFields": [entry(manager, fields)]}
    whole = {"whenScaled": "Retain", "whenDeleted": "Retain", **policy}
    return {**found, "metadata": metadata, "spec": {**found["spec"], POLICY: whole}}


@pytest.mark.parametrize(
    ("found", "is_kept"),
    [
        (live(whenDeleted="Retain"), True),
        (live(whenScaled="Retain"), True),
        (live(), False),
        (live("another", whenDeleted="Retain"), False),
        (live(whenScaled="Delete"), False),
    ],
)
def test_policies(found: dict[str, Any], is_kept: bool) -> None:
    """Of each claim template that the StatefulSet has or had."""
    claims = [claim(f"d-{NAME}-0", NAME), claim(f"former-{NAME}-0", NAME), claim("d-druid-c-other-0", "druid-c-other")]
    steps = list(retain_claims(found, None, claims))
    assert [step.key.name for step in steps] == [f"d-{NAME}-0", f"former-{NAME}-0"] * is_kept
    for step in steps:
        assert step.is_removal
        assert not step.is_leaf
        assert step.after is not None
        assert mark_of(step.after).is_kept


def test_a_group_that_becomes_a_deployment() -> None:
    """It may be removed later; its StatefulSet is deleted only if its PVCs are kept."""
    steps = list(retain_claims(live(whenDeleted="Retain"), "old", [claim(f"d-{NAME}-0", NAME)]))
    assert [(step.key.name, step.group, step.is_leaf) for step in steps] == [(f"d-{NAME}-0", "old", False)]


def test_a_mark_that_is_not_trusted_is_replaced() -> None:
    """The Go operator marks each PVC without a pod: while deleteOrphanPvc is false, its marks stay."""
    go = {"toBeDeleted": "yes", "deletionTS": "1"}
    [step] = retain_claims(live(whenDeleted="Retain"), None, [claim(f"d-{NAME}-0", NAME, labels=go)])
    assert step.after is not None
    assert mark_of(step.after).is_kept
    assert not go.keys() & step.after["metadata"]["labels"].keys()


def removal(which: Cluster, name: str, stored: dict[str, Any], *labelled: dict[str, Any], **table: Any) -> Inputs:
    """Return the inputs of a decision that removes a StatefulSet with this PVC; `labelled` have the cluster's label."""
    owner = {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", "name": "c", "uid": which.uid}
    removed = live(name=name, whenDeleted="Retain")
    labels = {"app": "druid", "druid_cr": "c", "nodeSpecUniqueStr": name, "component": "broker"}
    metadata = {**removed["metadata"], "uid": "s", "labels": labels, "ownerReferences": [{**owner, "controller": True}]}
    removed = {**removed, "metadata": metadata}
    found = orphan_inputs(which, (), live=orphans.observed(which, labelled).with_objects([removed]))
    return with_answers(found, lists={**answers_of(found).lists, "PersistentVolumeClaim": (stored,)}, **table)


@pytest.mark.parametrize("deletes", [True, False])
def test_a_claim_with_such_a_mark_is_changed_once(deletes: bool) -> None:
    """Its mark is removed with the record, and by no step of its own."""
    marked = claim(f"d-{NAME}-0", NAME, labels={"toBeDeleted": "yes", "deletionTS": "1"})
    plan = decided(removal(cluster(deleteOrphanPvc=deletes), NAME, marked, marked))
    changed = [(step.operation.verb, step.key.kind) for step in plan.steps if NAME in step.key.name]
    assert changed == [("update", "PersistentVolumeClaim"), ("delete", "StatefulSet")]


@pytest.mark.parametrize("is_rejected", [True, False])
def test_a_claim_without_the_label_of_the_cluster_is_judged_before_anything_is_deleted(is_rejected: bool) -> None:
    name = "druid-c-brokers"
    stored = claim(f"d-{name}-0", name)
    del stored["metadata"]["labels"]["druid_cr"]
    rejection = Finding("RejectedByAPIServer", "A policy refuses it.", "brokers") if is_rejected else None
    [step] = retain_claims(live(name=name, whenDeleted="Retain"), "brokers", [stored])
    verdict = Verdict(step, after=None if is_rejected else step.after, rejection=rejection)
    found = removal(druid.cluster({"kind": "Deployment"}), name, stored, verdicts={step.key: verdict})
    plan = decided(found)
    assert [each.key for each in answers_of(found).dry_runs].count(step.key) == 1
    changed = [(each.operation.verb, each.key.kind) for each in plan.steps if name in each.key.name]
    assert changed == ([] if is_rejected else [("update", "PersistentVolumeClaim"), ("delete", "StatefulSet")])
    assert [each.message for each in plan.findings] == ["A policy refuses it."] * is_rejected


def test_not_a_claim_that_is_marked_or_terminating() -> None:
    for mark in (marks(5), marks(5, annotated="never"), {"deletionTimestamp": "now"}):
        marked = [claim(f"d-{NAME}-0", NAME, **mark)]
        assert list(retain_claims(live(whenDeleted="Retain"), None, marked)) == []


def test_not_the_claims_of_other_names() -> None:
    others = [claim(f"d-{NAME}", NAME), claim("d-0", NAME), claim(f"d-{NAME}-0", "druid-c-other")]
    assert list(retain_claims(live(whenDeleted="Retain"), None, others)) == []
