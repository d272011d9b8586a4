# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The small policies: pause, validity, blocked groups, shrinking PVCs, a running Go operator."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.blocking import (
    deferred_removals,
    drop_blocked,
    rejection,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decision import in_order
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features import validation
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.other_owners import (
    go_operator_conflict,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import (
    Cluster,
    ReferenceKey,
    not_permitted_keys,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.delete import Delete
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import LEAVES, Step
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.fields import union
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import (
    Finding,
    pause_finding,
    spec_errors,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, recording
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    decided,
    inputs,
    inputs_of,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    FEATURES,
    Case,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.steps_of import step_of

Manifest = dict[str, Any]


def annotated(**annotations: str) -> Cluster:
    resource = druid.resource()
    resource["metadata"]["annotations"] = {name.replace("_", "-"): value for name, value in annotations.items()}
    return Cluster.from_resource(resource)


IGNORED = "druid.apache.org/ignored"
# (cluster, reason)
PAUSES: list[tuple[Cluster, str | None]] = [
    (druid.cluster(), None),
    (druid.cluster(paused=True), reasons.PAUSED),
    (druid.cluster(paused=False), None),
    (druid.cluster(stopped=True), None),
    (annotated(**{IGNORED: "true"}), reasons.IGNORED),
    (annotated(**{IGNORED: "false"}), None),
    (annotated(**{IGNORED: "True"}), None),
    (annotated(**{IGNORED: ""}), None),
]


@pytest.mark.parametrize(("cluster", "reason"), PAUSES)
def test_pause(cluster: Cluster, reason: str | None) -> None:
    finding = pause_finding(cluster.annotations, cluster.spec)
    assert (finding.reason if finding else None) == reason
    if finding:
        assert not finding.is_problem
        assert finding.group is None


UPDATES = tuple(step_of("update", {"kind": "ConfigMap", "metadata": {"name": f"n{number}"}}) for number in range(7))
PROBLEM = Finding(reasons.INVALID_SPEC, "It cannot be.")
# (plan, message about the pending changes)
PAUSED_PLANS: list[tuple[Plan, str | None]] = [
    (Plan(), None),
    (Plan(UPDATES[:1]), "Paused. 1 pending change: update ConfigMap n0."),
    (Plan(UPDATES[:2]), "Paused. 2 pending changes: update ConfigMap n0, update ConfigMap n1."),
    (
        Plan(UPDATES),
        "Paused. 7 pending changes: update ConfigMap n0, update ConfigMap n1, update ConfigMap n2, "
        "update ConfigMap n3, "
        "update ConfigMap n4, and 2 more.",
    ),
    (
        Plan((*UPDATES[:1], druid.in_druid({}, {"a": 1}))),
        "Paused. 2 pending changes: update ConfigMap n0, update dynamic configuration of the Coordinator in Druid.",
    ),
    (Plan((), (PROBLEM,)), "Paused. Blocked by: It cannot be."),
    (
        Plan(UPDATES[:1], (PROBLEM, PROBLEM)),
        "Paused. 1 pending change: update ConfigMap n0. Blocked by: It cannot be. | It cannot be.",
    ),
]


@pytest.mark.parametrize(("plan", "text"), PAUSED_PLANS)
def test_pending_changes_while_paused(plan: Plan, text: str | None) -> None:
    paused = Finding(reasons.PAUSED, "Paused by the user.", is_problem=False)
    found = replace(plan, warnings=("Beware.",)).paused(paused)
    assert not found.changes
    assert found.pending == plan.steps
    assert not any(finding.is_problem for finding in found.findings)
    assert found.findings[0] == paused
    waiting = [finding.message for finding in found.findings if finding.reason == reasons.CHANGES_PENDING]
    assert waiting == ([] if text is None else [text])
    assert found.warnings == ("Beware.", *waiting)


def step(group: str | None, name: str = "n") -> Step:
    return Apply(manifest={"kind": "ConfigMap", "metadata": {"name": name}}, group=group)


STEPS = (step(None), step("a"), step("b"), step("a", "second"))
BLOCKED: list[tuple[list[Finding], list[str | None]]] = [
    ([], [None, "a", "b", "a"]),
    ([Finding("R", "m", "a")], [None, "b"]),
    ([Finding("R", "m", "a"), Finding("R", "m", "b")], [None]),
    ([Finding("R", "m", "other")], [None, "a", "b", "a"]),
    ([Finding("R", "m")], []),
    ([Finding("R", "m", "a"), Finding("R", "m")], []),
]


def leaf(kind: str, group: str = "a") -> Step:
    return Apply(manifest={"kind": kind, "metadata": {"name": "n"}}, group=group)


@pytest.mark.parametrize("kind", LEAVES)
def test_leaf_object_is_blocked_alone(kind: str) -> None:
    rejected = leaf(kind)
    finding = rejection(rejected, "R", "No.")
    assert (finding.message, finding.group) == ("No. It blocks no other object.", "a")
    assert drop_blocked((*STEPS, rejected, *REMOVALS), [finding]) == (*STEPS, *REMOVALS)
    assert deferred_removals(REMOVALS, [finding]) == ()
    # a blocked group blocks the object too
    assert drop_blocked((*STEPS, rejected), [Finding("R", "m", "a")]) == (STEPS[0], STEPS[2])


def test_removal_of_an_autoscaler_is_not_a_leaf() -> None:
    """The autoscaler would revert the replicas of the group."""
    live = {"kind": "HorizontalPodAutoscaler", "metadata": {"name": "n"}}
    assert not Delete(group="a", live=live).is_leaf
    assert rejection(STEPS[1], "R", "No.") == Finding("R", "No. Nothing of group a is changed.", "a")
    assert rejection(STEPS[0], "R", "No.") == Finding("R", "No. Nothing is changed.")


@pytest.mark.parametrize(("findings", "groups"), BLOCKED)
def test_group_is_written_completely_or_not_at_all(findings: list[Finding], groups: list[str | None]) -> None:
    assert [each.group for each in drop_blocked(STEPS, findings)] == groups


def removal(kind: str, group: str | None = None, key: str = "old") -> Step:
    """Return the removal of an object of the removed group `old`, or of an optional object of another group."""
    labels = {"druid_cr": "c", "nodeSpecUniqueStr": f"druid-c-{key}"}
    live = {"kind": kind, "metadata": {"name": f"druid-c-{key}", "labels": labels}}
    return Delete(group=group, live=live)


REMOVALS = (removal("StatefulSet"), removal("Service"), removal("Ingress", "b", "b"))
# (findings, kinds that are still removed, groups whose removal is deferred)
DEFERRED: list[tuple[list[Finding], list[str], list[str | None]]] = [
    ([], ["StatefulSet", "Service", "Ingress"], []),
    ([Finding("R", "m", "a")], ["Ingress"], ["old"]),
    ([Finding("R", "m", "b")], [], ["old"]),
    ([Finding("R", "m")], [], []),
]


@pytest.mark.parametrize(("findings", "kinds", "deferred"), DEFERRED)
def test_removal_of_a_group_is_deferred_until_all_others_can_be_written(
    findings: list[Finding], kinds: list[str], deferred: list[str | None]
) -> None:
    assert [each.key.kind for each in drop_blocked(REMOVALS, findings)] == kinds
    found = deferred_removals(REMOVALS, findings)
    assert [(finding.reason, finding.group, finding.is_problem) for finding in found] == [
        (reasons.REMOVAL_DEFERRED, key, True) for key in deferred
    ]
    for finding in found:
        assert finding.message.startswith("StatefulSet druid-c-old: group old was removed from the spec. ")


def test_only_autoscalers_of_remaining_groups_are_removed_first() -> None:
    scaler, of_old = removal("HorizontalPodAutoscaler", "b", "b"), removal("HorizontalPodAutoscaler")
    assert in_order(STEPS, (*REMOVALS, of_old, scaler)) == (STEPS[0], scaler, *STEPS[1:], *REMOVALS, of_old)


OWN_NAMESPACE = {"kind": "ConfigMap", "name": "a"}
OTHER_NAMESPACE = {"kind": "Secret", "name": "b", "namespace": "other"}
REFERENCES: list[tuple[list[Any], tuple[str, ...], list[str]]] = [
    ([], (), []),
    ([OWN_NAMESPACE], (), []),
    ([{**OWN_NAMESPACE, "namespace": "ns"}], (), []),
    ([OWN_NAMESPACE, OTHER_NAMESPACE], (), ["b"]),
    ([OTHER_NAMESPACE], ("other",), []),
    ([OTHER_NAMESPACE], ("another",), ["b"]),
    ([OTHER_NAMESPACE], ("*",), []),
    ([{**OWN_NAMESPACE, "namespace": "other"}, OTHER_NAMESPACE], (), ["a", "b"]),
]


@pytest.mark.parametrize(("entries", "allowed", "disallowed"), REFERENCES)
def test_references_to_other_namespaces_are_not_permitted(
    entries: list[Any], allowed: tuple[str, ...], disallowed: list[str]
) -> None:
    referring = druid.resource(extraCommonConfig=entries)
    assert [key.name for key in not_permitted_keys(referring, allowed)] == disallowed
    findings = validation.disallowed_references(inputs_of(referring, allowed_reference_namespaces=allowed))
    messages = {finding.message: finding.reason for finding in findings}
    assert set(messages.values()) <= {reasons.REF_NOT_PERMITTED}
    remedies = {
        "a": "the administrator allows them: in the modules by allowed_reference_namespaces, ",
        "b": "copy Secret b to namespace ns, and reference it there.",
    }
    for name, text in zip(disallowed, messages, strict=True):
        assert [other for other, remedy in remedies.items() if remedy in text] == [name]


def test_missing_reference_blocks_everything() -> None:
    resource = druid.resource(extraCommonConfig=[OWN_NAMESPACE, {**OWN_NAMESPACE, "name": "there"}])
    there = ReferenceKey("ConfigMap", "ns", "there")
    [finding] = validation.missing_references(inputs(Cluster.from_resource(resource, {there: {"data": {}}})))
    assert finding.reason == reasons.REFERENCE_NOT_FOUND
    assert finding.group is None
    assert finding.message.startswith("spec.extraCommonConfig: ConfigMap a in namespace ns does not exist.")


# (part of the spec, reported field)
INVALID_SPECS: list[tuple[Any, str]] = [
    (None, "spec"),
    ("text", "spec"),
    (["text"], "spec"),
    ({}, "spec.nodes"),
    ({"nodes": "text"}, "spec.nodes"),
    ({"nodes": {"a": None}}, "spec.nodes.a"),
    ({"nodes": {"a": "text"}}, "spec.nodes.a"),
    ({"nodes": {"brokers": {**druid.NODE, "replicas": "many"}}}, "spec.nodes.brokers.replicas"),
    # Stored while a percentage was accepted.
    ({"nodes": {"brokers": {**druid.NODE, "maxSurge": "25%"}}}, "spec.nodes.brokers.maxSurge"),
    ({"nodes": {"brokers": {**druid.NODE, "druid.port": None}}}, "spec.nodes.brokers.druid.port"),
    ({"extraCommonConfig": "text"}, "spec.extraCommonConfig"),
    ({"extraCommonConfig": ["text"]}, "spec.extraCommonConfig[0]"),
    ({"zookeeper": {"type": "default", "spec": "e30="}}, "spec.zookeeper.spec"),
    ({"zookeeper": {"type": "default", "spec": {"properties": 1}}}, "spec.zookeeper.spec.properties"),
    ({"paused": "false"}, "spec.paused"),
]


@pytest.mark.parametrize(("spec", "field"), INVALID_SPECS, ids=repr)
def test_invalid_field_is_named(spec: Any, field: str) -> None:
    resource = druid.resource()
    resource["spec"] = {**resource["spec"], **spec} if isinstance(spec, dict) and spec else spec
    findings = decided(inputs_of(resource)).findings
    assert {(finding.reason, finding.group) for finding in findings} == {(reasons.INVALID_SPEC, None)}
    assert any(finding.message.startswith(f"{field}: ") for finding in findings)


@pytest.mark.parametrize("case", FEATURES, ids=lambda case: case.name)
def test_every_feature_matches_the_schema(case: Case) -> None:
    assert spec_errors("Druid", resource(case)) == ()


@pytest.mark.parametrize("name", recording.NAMES)
def test_every_recording_matches_the_schema(name: str) -> None:
    assert spec_errors("Druid", recording.resource(name)) == ()


def test_null_fields_are_ignored() -> None:
    assert spec_errors("Druid", druid.resource({"replicas": None}, paused=None, zookeeper=None)) == ()


def test_invalid_spec_blocks_everything() -> None:
    assert validation.invalid_spec(inputs_of(druid.resource())) == ()
    findings = validation.invalid_spec(inputs_of(druid.resource({"nodeType": "unknown"})))
    assert {(finding.reason, finding.group, finding.is_problem) for finding in findings} == {
        (reasons.INVALID_SPEC, None, True)
    }


def annotated_again(live: Manifest) -> Manifest:
    """Return an object of ours to which the Go operator has added its annotation again."""
    after = deepcopy(live)
    after["metadata"]["annotations"] = {"druidOpResourceHash": "x"}
    return after


def contested(change: Any = annotated_again, *kinds: str) -> Observed:
    observed = converged(render(druid.cluster()))
    return observed.with_objects([change(live) for live in observed.of_kind(*(kinds or ("StatefulSet",)))])


def test_running_go_operator_is_detected() -> None:
    [finding] = go_operator_conflict(inputs(druid.cluster(), contested()))
    assert (finding.reason, finding.group, finding.is_problem) == (reasons.CONFLICTING_OPERATOR, None, True)
    assert "StatefulSet druid-c-brokers." in finding.message
    [finding] = go_operator_conflict(inputs(druid.cluster(), contested(annotated_again, "StatefulSet", "ConfigMap")))
    assert "ConfigMap c-druid-common-config and 2 more." in finding.message


def not_adopted_yet(live: Manifest) -> Manifest:
    after = annotated_again(live)
    after["metadata"]["managedFields"] = [{**after["metadata"]["managedFields"][0], "manager": "manager"}]
    return after


def interrupted_adoption(live: Manifest) -> Manifest:
    after = annotated_again(live)
    [ours] = after["metadata"]["managedFields"]
    hashed = {"f:metadata": {"f:annotations": {"f:druidOpResourceHash": {}}}}
    ours["fieldsV1"] = union(ours["fieldsV1"], hashed)
    return after


def of_another_cluster(live: Manifest) -> Manifest:
    after = annotated_again(live)
    after["metadata"]["ownerReferences"][0]["name"] = "other"
    return after


@pytest.mark.parametrize("kind", ["Deployment", "PersistentVolumeClaim"])
def test_annotation_of_some_kinds_is_not_a_conflict(kind: str) -> None:
    node = {"kind": "Deployment", "persistentVolumeClaim": [{"metadata": {"name": "x"}, "spec": {}}]}
    observed = converged(render(druid.cluster(node)))
    found = [annotated_again(live) for live in observed.of_kind(kind)]
    assert len(found) == 1
    assert go_operator_conflict(inputs(druid.cluster(node), observed.with_objects(found))) == ()


@pytest.mark.parametrize("change", [lambda live: live, not_adopted_yet, interrupted_adoption, of_another_cluster])
def test_no_running_go_operator(change: Any) -> None:
    assert go_operator_conflict(inputs(druid.cluster(), contested(change))) == ()


def test_annotation_take_over_ends_a_rollback() -> None:
    assert go_operator_conflict(inputs(annotated(**{"druid.apache.org/take-over": "true"}), contested())) == ()


PVC: Manifest = {
    "metadata": {"name": "d-druid-c-brokers-0"},
    "kind": "PersistentVolumeClaim",
    "spec": {"resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.mark.parametrize(
    "node",
    [
        {"kind": "DaemonSet"},
        {"kind": "Deployment", "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": PVC["spec"]}]},
    ],
    ids=["DaemonSet", "PVC templates of a Deployment"],
)
def test_fields_that_the_go_operator_ignored_block_all_changes(node: dict[str, Any]) -> None:
    """Nothing is written or removed, and the finalizer is set, so that the resource can be deleted."""
    observed = converged(render(druid.cluster({}))).with_objects([PVC])
    plan = decided(inputs(druid.cluster(node), observed))
    assert [(finding.reason, finding.group) for finding in plan.findings] == [(reasons.INVALID_SPEC, None)]
    assert plan.steps == ()
