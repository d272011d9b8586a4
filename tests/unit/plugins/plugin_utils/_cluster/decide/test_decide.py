# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The chain of policies: the data that it needs, the steps that it blocks, and its purity."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import (
    DryRun,
    DryRunTemplates,
    Get,
    GetResource,
    Inputs,
    List,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.observed import key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.finding import Finding
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.gather import Need
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.decide.test_changes import (
    EVERYTHING,
    cluster_and_desired,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.decide.test_collisions import foreign
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs, inputs_of
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    FEATURES,
    Case,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, stored

CLAIM = "PersistentVolumeClaim"
NODES = {key: {**druid.NODE, "services": [{}]} for key in ("a", "b")}


def verdict(step: Step) -> Verdict:
    """Return the verdict of a server that accepts the step."""
    return Verdict(step, None if step.deletes else step.after or stored(step.manifest))


def with_data(based_on: Inputs, need: Need, **existing: Any) -> Inputs:
    """Return the inputs with the needed data; the server has no unlisted objects by default."""
    if isinstance(need, Get):
        return replace(based_on, unlisted=existing.get("unlisted", {}))
    if isinstance(need, List):
        return replace(based_on, lists={**based_on.lists, need.kind: existing.get(need.kind, ())})
    if isinstance(need, GetResource):
        return replace(based_on, latest=(existing.get("latest", based_on.resource),))
    if isinstance(need, DryRunTemplates):
        return replace(based_on, templates={step.key: verdict(step) for step in need.steps})
    assert isinstance(need, DryRun)
    rejected = existing.get("rejected", {})
    verdicts = {step.key: rejected.get(step.key) or verdict(step) for step in need.steps}
    return replace(based_on, verdicts={key: each for key, each in verdicts.items() if each is not None})


def plan_and_needs(based_on: Inputs, **existing: Any) -> tuple[Plan, list[Need]]:
    """Return the plan, and the data that it needed."""
    needs: list[Need] = []
    while isinstance(need := decide(based_on), Need):
        needs.append(need)
        assert len(needs) < 5
        based_on = with_data(based_on, need, **existing)
    assert isinstance(need, Plan)
    return need, needs


def test_settled_cluster_needs_nothing() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    assert plan_and_needs(inputs(cluster, converged(desired))) == (Plan(), [])


def test_new_cluster_needs_names_dry_runs_and_quotas() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    plan, needs = plan_and_needs(inputs(cluster))
    get, dry_run, quotas = needs
    assert get == Get(tuple(map(key_of, desired.objects)))
    assert isinstance(dry_run, DryRun)
    assert quotas == List("ResourceQuota")
    assert [step.key for step in dry_run.steps] == [step.key for step in plan.steps] == list(get.keys)


def test_removed_group_needs_replica_sets_all_pvcs_and_the_latest_resource() -> None:
    before, _desired = druid.cluster(nodes=NODES), None
    plan, needs = plan_and_needs(inputs(druid.cluster(nodes={"a": NODES["a"]}), converged(render(before))))
    lists, dry_run, claims, resource = needs
    assert (lists, claims, resource) == (List("ReplicaSet", "druid_cr=c"), List(CLAIM), GetResource())
    assert isinstance(dry_run, DryRun)
    assert [step.verb for step in dry_run.steps] == ["delete"] * len(plan.later)
    assert {(step.verb, step.group) for step in plan.later} == {("delete", None)}
    assert plan.steps == ()


@pytest.mark.parametrize(("policy", "operation"), [("Delete", "delete"), ("Retain", "update")])
def test_pvc_without_labels_of_a_removed_group_is_deleted_or_released(policy: str, operation: str) -> None:
    node = {**NODES["b"], "persistentVolumeClaimRetentionPolicy": {"whenDeleted": policy}}
    observed = converged(render(druid.cluster(nodes={**NODES, "b": node})))
    owner = {"kind": "StatefulSet", "name": "druid-c-b", "uid": "uid-of-druid-c-b"}
    metadata = {"name": "d", "namespace": "ns", "uid": "u", "resourceVersion": "1", "ownerReferences": [owner]}
    claim = {"kind": CLAIM, "metadata": metadata}
    based_on = inputs(druid.cluster(nodes={"a": NODES["a"]}), observed)
    plan, _needs = plan_and_needs(based_on, **{CLAIM: (claim,)})
    assert [step.verb for step in plan.later if step.key == (CLAIM, "d")] == [operation]
    assert plan.is_destructive == (operation == "delete")


def test_blocked_step_is_not_dry_run() -> None:
    cluster = druid.cluster(nodes=NODES)
    [existing_service] = [each for each in render(cluster).groups["a"] if each["kind"] == "Service"]
    plan, needs = plan_and_needs(
        inputs(cluster), unlisted={key_of(existing_service): foreign(stored(existing_service))}
    )
    assert [(finding.reason, finding.group) for finding in plan.findings] == [(reasons.NAME_CONFLICT, "a")]
    [dry_run] = [need for need in needs if isinstance(need, DryRun)]
    assert {step.group for step in dry_run.steps} == {step.group for step in plan.steps} == {None, "b"}


def test_our_object_without_the_label_is_updated() -> None:
    cluster, desired = cluster_and_desired()
    live = stored(desired.common[0])
    del live["metadata"]["labels"]
    observed = converged(desired).without([key_of(live)])
    plan, _needs = plan_and_needs(inputs(cluster, observed), unlisted={key_of(live): live})
    assert [(step.verb, step.key) for step in plan.steps] == [("update", key_of(live))]


def test_rejection_blocks_its_group_and_defers_removals() -> None:
    before, after = NODES, {"a": {**NODES["a"], "image": "x"}, "c": NODES["b"]}
    cluster = druid.cluster(nodes=after)
    based_on = inputs(cluster, converged(render(druid.cluster(nodes=before))))
    changed = ("StatefulSet", "druid-c-a")
    rejection = Finding(reasons.REJECTED_BY_API_SERVER, "No.", "a")
    step = Apply(manifest=(each := render(cluster).groups["a"][-1]), group="a", live=each)
    plan, _needs = plan_and_needs(based_on, rejected={changed: Verdict(step, rejection=rejection)})
    assert {step.group for step in plan.steps} == {"c"}
    assert [(finding.reason, finding.group) for finding in plan.findings] == [
        (reasons.REJECTED_BY_API_SERVER, "a"),
        (reasons.REMOVAL_DEFERRED, "b"),
    ]


def test_dry_run_without_a_change_removes_the_step() -> None:
    cluster, desired = cluster_and_desired({"image": "new"})
    observed = converged(cluster_and_desired()[1])
    [live] = observed.of_kind("StatefulSet")
    need = decide(inputs(cluster, observed))
    assert isinstance(need, DryRun)
    [step] = need.steps
    plan, _needs = plan_and_needs(inputs(cluster, observed), rejected={step.key: Verdict(step, live)})
    path = "spec.template.spec.containers[druid-c-brokers].image"
    [warning] = plan.warnings
    assert warning.startswith(f"StatefulSet druid-c-brokers: {path}: specified new, stored apache/druid:37.0.0. ")
    assert plan == Plan(warnings=(*desired.warnings, warning))


def test_missing_namespace_blocks_every_step() -> None:
    """Only the first step has a verdict."""
    cluster = druid.cluster(nodes=NODES)
    need = decide(inputs(cluster, unlisted={}))
    assert isinstance(need, DryRun)
    finding = Finding(reasons.APPLY_FAILED, "There is no namespace.")
    first = need.steps[0]
    verdicts = {first.key: Verdict(first, rejection=finding)}
    assert decide(inputs(cluster, unlisted={}, verdicts=verdicts)) == Plan(findings=(finding,))


def test_nothing_is_written_for_a_spec_that_violates_the_schema() -> None:
    broken = druid.resource(paused="false")
    plan, needs = plan_and_needs(inputs_of(broken))
    assert (plan.steps, needs) == ((), [])
    assert {finding.reason for finding in plan.findings} == {reasons.INVALID_SPEC}


def test_only_the_finalizer_is_written_for_an_invalid_spec() -> None:
    plan, needs = plan_and_needs(inputs_of(druid.resource({"nodeType": "unknown"})))
    assert ([step.key.kind for step in plan.steps], needs) == (["Druid"], [])
    assert {finding.reason for finding in plan.findings} == {reasons.INVALID_SPEC}


def situations(case: Case) -> list[Inputs]:
    """Return a cluster that is created, settled and replaced by another one."""
    cluster = Cluster.from_resource(resource(case))
    other = druid.cluster(nodes={"others": druid.NODE})
    settled = converged(render(cluster))
    return [inputs(cluster), inputs(cluster, settled), inputs(other, settled)]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid sockets and subprocesses."""

    def fail(*_arguments: Any, **_more: Any) -> Any:
        raise AssertionError("A decision accesses the network.")

    monkeypatch.setattr(socket, "socket", fail)
    monkeypatch.setattr(socket, "create_connection", fail)
    monkeypatch.setattr(subprocess, "Popen", fail)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("case", FEATURES, ids=[case.name for case in FEATURES])
def test_inputs_and_decisions_are_values(case: Case) -> None:
    """They can be pickled, a pickled input has the same decision, and a decision does not change its inputs."""
    for situation in situations(case):
        based_on: Inputs = situation
        decision: Plan | Need | None = None
        while not isinstance(decision, Plan):
            copy: Inputs = pickle.loads(pickle.dumps(based_on))
            decision = decide(based_on)
            assert based_on == copy
            assert decide(copy) == decision == pickle.loads(pickle.dumps(decision))
            if isinstance(decision, Need):
                based_on = with_data(based_on, decision)


def test_decide_imports_no_module_with_api_access() -> None:
    package = decide.__module__
    program = f"import sys, {package}; print(*sys.modules)"
    # ansible-test imports collections by a hook, which other processes do not have
    path = {"PYTHONPATH": str(Path(sys.modules[package].__file__ or "").parents[package.count(".") + 1])}
    started = subprocess.run(
        [sys.executable, "-c", program], env=path, capture_output=True, text=True, check=True, cwd="/"
    )
    loaded = started.stdout.split()
    kubernetes, cluster = (f"{package.rpartition('._')[0]}.{name}" for name in ("_kubernetes", "_cluster"))
    forbidden = {
        "urllib3",
        "requests",
        "kubernetes",
        "ansible",
        f"{kubernetes}.api",
        f"{cluster}.observe",
        f"{cluster}.reconcile",
    }
    assert package in loaded
    assert forbidden & set(loaded) == set()
