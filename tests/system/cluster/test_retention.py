# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What becomes of PVCs (persistentVolumeClaimRetentionPolicy) when a cluster is stopped or deleted."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_reached, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.small_cluster import KEYS, resource, spec

CLAIM = "PersistentVolumeClaim"
POLICY = "persistentVolumeClaimRetentionPolicy"
FINALIZER = "deletepvc.finalizers.druid.apache.org"
BOTH = {"whenScaled": "Delete", "whenDeleted": "Delete"}


def retaining(policy: dict[str, str] | None = None, replicas: int = 2, **more: Any) -> dict[str, Any]:
    """Return the specification of a cluster whose groups have a retention policy."""
    created = spec(replicas=replicas, **more)
    for node in created["nodes"].values():
        node[POLICY] = policy or BOTH
    return created


def lasting_claims(live: NamespaceClient) -> dict[str, str]:
    """Return name and uid of each PVC that is not being deleted."""
    found = (each["metadata"] for each in live.list(CLAIM) if not each["metadata"].get("deletionTimestamp"))
    return {each["name"]: each["uid"] for each in found}


def policies(live: NamespaceClient) -> list[str]:
    """Return `whenScaled` of each StatefulSet."""
    return [each["spec"][POLICY]["whenScaled"] for each in live.list("StatefulSet")]


def owners(claim: Manifest) -> set[str]:
    return {each["kind"] for each in claim["metadata"].get("ownerReferences") or ()}


@pytest.mark.parametrize("stop", ["cluster", "groups"])
def test_pvcs_of_a_stopped_cluster_are_retained(live: NamespaceClient, stop: str) -> None:
    live.create(resource("c", retaining()))
    until_ready(live, "c")
    before = lasting_claims(live)
    assert len(before) == 2 * len(KEYS)

    def patch(value: bool | None) -> Manifest:
        stopped = {"stopped": value}
        return {"spec": stopped if stop == "cluster" else {"nodes": dict.fromkeys(KEYS, stopped)}}

    live.merge("Druid", "c", patch(True))
    until_reached(live, "c")
    eventually(lambda: live.names("Pod") == set())
    assert policies(live) == ["Retain"] * len(KEYS)
    assert lasting_claims(live) == before
    assert not one_pass(live, "c").changed
    # none has a pod as owner either, which would delete it
    assert [owners(claim) - {"StatefulSet"} for claim in live.list(CLAIM)] == [set()] * len(before)

    live.merge("Druid", "c", patch(None))
    assert one_pass(live, "c").changed
    assert policies(live) == ["Retain"] * len(KEYS)
    until_ready(live, "c")
    assert policies(live) == ["Delete"] * len(KEYS)
    assert not one_pass(live, "c").changed
    assert lasting_claims(live) == before


def test_pvcs_of_pods_that_a_smaller_number_of_replicas_removes_are_deleted_as_specified(live: NamespaceClient) -> None:
    live.create(resource("c", retaining()))
    until_ready(live, "c")
    before = lasting_claims(live)
    live.merge("Druid", "c", {"spec": {"nodes": {KEYS[0]: {"replicas": 1}}}})
    until_ready(live, "c")
    assert eventually(lambda: before.keys() - lasting_claims(live).keys()) == {f"data-druid-c-{KEYS[0]}-1"}


def test_pvcs_of_an_autoscaled_group_are_retained_while_it_is_stopped(live: NamespaceClient) -> None:
    specification = retaining()
    target = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": f"druid-c-{KEYS[0]}"}
    specification["nodes"][KEYS[0]]["hpAutoscaler"] = {"minReplicas": 2, "maxReplicas": 4, "scaleTargetRef": target}
    live.create(resource("c", specification))
    until_ready(live, "c")
    before = lasting_claims(live)
    live.merge("Druid", "c", {"spec": {"stopped": True}})
    until_reached(live, "c")
    eventually(lambda: live.names("Pod") == set())
    assert lasting_claims(live) == before
    live.merge("Druid", "c", {"spec": {"stopped": None}})
    until_ready(live, "c")
    eventually(lambda: not one_pass(live, "c").changed)
    assert policies(live) == ["Delete"] * len(KEYS)
    assert lasting_claims(live) == before


def owned_by_stateful_sets(live: NamespaceClient, **request: Any) -> dict[str, str]:
    """Return the PVCs when the controller has made the StatefulSets their owners."""
    until_ready(live, "c", **request)
    eventually(lambda: [owners(claim) for claim in live.list(CLAIM)] == [{"StatefulSet"}] * 2 * len(KEYS))
    return lasting_claims(live)


def nothing_else_is_left(live: NamespaceClient, claims: dict[str, str]) -> None:
    """Wait until only these PVCs exist, and nothing can delete them any more."""
    eventually(lambda: live.created_objects() == {(CLAIM, name) for name in claims} and not live.list("Pod"))
    assert lasting_claims(live) == claims
    assert [owners(claim) for claim in live.list(CLAIM)] == [set()] * len(claims)


def test_when_deleted_has_no_effect_where_the_cluster_keeps_its_pvcs(live: NamespaceClient) -> None:
    """Without a finalizer, Kubernetes deletes the StatefulSets without a reconcile."""
    live.create(resource("c", retaining(disablePVCDeletionFinalizer=True)))
    warned = until_ready(live, "c").warnings
    assert len([text for text in warned if "whenDeleted: Delete has no effect" in text]) == len(KEYS)
    assert [each["spec"][POLICY]["whenDeleted"] for each in live.list("StatefulSet")] == ["Retain"] * len(KEYS)
    assert not one_pass(live, "c").changed
    claims = lasting_claims(live)
    live.delete("Druid", "c")
    nothing_else_is_left(live, claims)


# Set while the StatefulSets still have whenDeleted: Delete.
FLAG = {"spec": {"disablePVCDeletionFinalizer": True}}


@pytest.mark.parametrize("by", only_first(1, ["finalizer", "hand", "hand, going at once"], "the same by the operator"))
def test_flag_applies_although_the_stateful_sets_delete_their_pvcs(live: NamespaceClient, by: str) -> None:
    live.create(resource("c", retaining()))
    claims = owned_by_stateful_sets(live)
    finalizers = {"metadata": {"finalizers": None if by == "hand, going at once" else [FINALIZER]}}
    live.merge("Druid", "c", {**FLAG, **finalizers})
    if by == "finalizer":
        live.delete("Druid", "c")
        one_pass(live, "c")
    else:
        planned = one_pass(live, "c", check_mode=True, absent=True).plan.steps
        assert not [step for step in planned if step.key.kind == CLAIM and step.operation.verb == "delete"]
        assert {step.key.name for step in planned if step.key.kind == CLAIM} == claims.keys()
        one_pass(live, "c", absent=True)
    nothing_else_is_left(live, claims)


@pytest.mark.parametrize("without_spec", [True, False])
def test_pvcs_of_a_cluster_without_a_resource_are_kept_unless_specified(
    live: NamespaceClient, without_spec: bool
) -> None:
    specification = retaining()
    until_ready(live, "c", spec=specification, without_resource=True)
    eventually(lambda: [owners(claim) for claim in live.list(CLAIM)] == [{"StatefulSet"}] * 2 * len(KEYS))
    claims = lasting_claims(live)
    spec = None if without_spec else {**specification, "disablePVCDeletionFinalizer": True}
    outcome = one_pass(live, "c", absent=True, without_resource=True, spec=spec)
    assert outcome.plan.findings == ()
    nothing_else_is_left(live, claims)


def test_pvcs_of_a_removed_group_are_kept_where_the_cluster_keeps_them(live: NamespaceClient) -> None:
    live.create(resource("c", retaining()))
    claims = owned_by_stateful_sets(live)
    # a PVC without a pod: the controller leaves its owner as it is
    live.merge("Druid", "c", {"spec": {"nodes": {KEYS[0]: {"replicas": 1, POLICY: {**BOTH, "whenScaled": "Retain"}}}}})
    until_ready(live, "c")
    live.merge("Druid", "c", {"spec": {**FLAG["spec"], "nodes": {KEYS[0]: None}}})
    planned = one_pass(live, "c", check_mode=True).plan.steps
    assert not [step for step in planned if step.key.kind == CLAIM and step.operation.verb == "delete"]
    one_pass(live, "c")
    eventually(lambda: live.names("StatefulSet") == {f"druid-c-{KEYS[1]}"})
    eventually(lambda: [owners(claim) for claim in live.list(CLAIM)] == [set()] * len(claims))
    assert lasting_claims(live) == claims
    until_ready(live, "c")
    assert not one_pass(live, "c").changed


def test_pvcs_that_are_deleted_with_a_removed_group_are_named(live: NamespaceClient) -> None:
    live.create(resource("c", retaining()))
    claims = owned_by_stateful_sets(live)
    live.merge("Druid", "c", {"spec": {"nodes": {KEYS[0]: None}}})
    planned = one_pass(live, "c", check_mode=True).plan.steps
    named = {step.key.name for step in planned if step.key.kind == CLAIM and step.operation.verb == "delete"}
    assert named == {f"data-druid-c-{KEYS[0]}-{ordinal}" for ordinal in range(2)}
    assert lasting_claims(live) == claims
    one_pass(live, "c")
    eventually(lambda: lasting_claims(live).keys() == claims.keys() - named)


@pytest.mark.parametrize("without_resource", [True, False])
def test_pvcs_without_labels_that_are_deleted_with_the_cluster_are_named(
    live: NamespaceClient, without_resource: bool
) -> None:
    specification = retaining()
    variables = {"spec": specification, "without_resource": True} if without_resource else {}
    if not without_resource:
        live.create(resource("c", specification))
    claims = owned_by_stateful_sets(live, **variables)
    for name in claims:
        live.merge(CLAIM, name, {"metadata": {"labels": None}})
    planned = one_pass(live, "c", check_mode=True, absent=True, **variables)
    named = {step.key.name for step in planned.plan.steps if step.key.kind == CLAIM and step.operation.verb == "delete"}
    assert named == claims.keys()
    assert planned.plan.is_destructive
    assert lasting_claims(live) == claims
    one_pass(live, "c", absent=True, **variables)
    eventually(lambda: lasting_claims(live) == {})


def test_pvcs_of_a_removed_group_are_kept_where_nothing_else_was_specified(live: NamespaceClient) -> None:
    live.create(resource("c", retaining({"whenScaled": "Delete"})))
    until_ready(live, "c")
    claims = lasting_claims(live)
    live.merge("Druid", "c", {"spec": {"nodes": {KEYS[0]: None}}})
    one_pass(live, "c")
    eventually(lambda: live.names("StatefulSet") == {f"druid-c-{KEYS[1]}"})
    eventually(lambda: len(live.list("Pod")) == 2)
    assert lasting_claims(live) == claims
