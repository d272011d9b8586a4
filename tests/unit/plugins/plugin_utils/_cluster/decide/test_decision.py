# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The chain of policies: the data that it needs, the steps that it blocks, and its purity."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.decision import decide
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, ObjectKey, key_of
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.apply import Apply
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step, Verdict
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.findings import Finding
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.decide.test_changes import (
    EVERYTHING,
    cluster_and_desired,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import (
    Answers,
    answers_of,
    decided,
    inputs,
    inputs_of,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.features.test_other_owners import (
    foreign,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.render.features import (
    FEATURES,
    Case,
    resource,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged, stored

CLAIM = "PersistentVolumeClaim"
NO_NAMESPACE = Finding(reasons.APPLY_FAILED, "There is no namespace.")
NODES = {key: {**druid.NODE, "services": [{}]} for key in ("a", "b")}


def test_settled_cluster_needs_nothing() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    found = inputs(cluster, converged(desired))
    assert (decided(found), answers_of(found).asked) == (Plan(), [])


def test_new_cluster_needs_names_dry_runs_and_quotas() -> None:
    cluster, desired = cluster_and_desired(EVERYTHING)
    found = inputs(cluster)
    plan = decided(found)
    names = [key_of(manifest) for manifest in desired.objects]
    asked = answers_of(found)
    assert [step.key for step in asked.dry_runs] == [step.key for step in plan.steps] == names
    assert [each for each in asked.asked if each not in asked.dry_runs] == [*names, "ResourceQuota"]


def test_removed_group_needs_replica_sets_all_pvcs_and_the_latest_resource() -> None:
    found = inputs(druid.cluster(nodes={"a": NODES["a"]}), converged(render(druid.cluster(nodes=NODES))))
    plan = decided(found)
    lists, claims, *dry_runs, resource = answers_of(found).asked
    assert (lists, claims, resource) == ("ReplicaSet", CLAIM, ("Druid", "c"))
    assert [step.operation.verb for step in dry_runs] == ["delete"] * len(plan.later)
    assert {(step.operation.verb, step.group) for step in plan.later} == {("delete", None)}
    assert plan.steps == ()


@pytest.mark.parametrize(("policy", "operation"), [("Delete", "delete"), ("Retain", "update")])
def test_pvc_without_labels_of_a_removed_group_is_deleted_or_released(policy: str, operation: str) -> None:
    node = {**NODES["b"], "persistentVolumeClaimRetentionPolicy": {"whenDeleted": policy}}
    observed = converged(render(druid.cluster(nodes={**NODES, "b": node})))
    owner = {"kind": "StatefulSet", "name": "druid-c-b", "uid": "uid-of-druid-c-b"}
    metadata = {"name": "d", "namespace": "ns", "uid": "u", "resourceVersion": "1", "ownerReferences": [owner]}
    claim = {"kind": CLAIM, "metadata": metadata}
    plan = decided(inputs(druid.cluster(nodes={"a": NODES["a"]}), observed, lists={CLAIM: (claim,)}))
    assert [step.operation.verb for step in plan.later if step.key == (CLAIM, "d")] == [operation]
    assert plan.is_destructive == (operation == "delete")


def test_blocked_step_is_not_dry_run() -> None:
    cluster = druid.cluster(nodes=NODES)
    [existing_service] = [each for each in render(cluster).groups["a"] if each["kind"] == "Service"]
    found = inputs(cluster, objects=[foreign(stored(existing_service))])
    plan = decided(found)
    assert [(finding.reason, finding.group) for finding in plan.findings] == [(reasons.NAME_CONFLICT, "a")]
    assert {step.group for step in answers_of(found).dry_runs} == {step.group for step in plan.steps} == {None, "b"}


def test_our_object_without_the_label_is_updated() -> None:
    cluster, desired = cluster_and_desired()
    live = stored(desired.common[0])
    del live["metadata"]["labels"]
    observed = converged(desired).without([key_of(live)])
    plan = decided(inputs(cluster, observed, objects=[live]))
    assert [(step.operation.verb, step.key) for step in plan.steps] == [("update", key_of(live))]


def test_rejection_blocks_its_group_and_defers_removals() -> None:
    before, after = NODES, {"a": {**NODES["a"], "image": "x"}, "c": NODES["b"]}
    cluster = druid.cluster(nodes=after)
    observed = converged(render(druid.cluster(nodes=before)))
    changed = ObjectKey("StatefulSet", "druid-c-a")
    rejection = Finding(reasons.REJECTED_BY_API_SERVER, "No.", "a")
    step = Apply(manifest=(each := render(cluster).groups["a"][-1]), group="a", live=each)
    plan = decided(inputs(cluster, observed, verdicts={changed: Verdict(step, rejection=rejection)}))
    assert {step.group for step in plan.steps} == {"c"}
    assert [(finding.reason, finding.group) for finding in plan.findings] == [
        (reasons.REJECTED_BY_API_SERVER, "a"),
        (reasons.REMOVAL_DEFERRED, "b"),
    ]


def test_dry_run_without_a_change_removes_the_step() -> None:
    cluster, desired = cluster_and_desired({"image": "new"})
    observed = converged(cluster_and_desired()[1])
    [live] = observed.of_kind("StatefulSet")
    step = Apply(manifest=desired.groups["brokers"][-1], group="brokers", live=live)
    plan = decided(inputs(cluster, observed, verdicts={step.key: Verdict(step, live)}))
    path = "spec.template.spec.containers[druid-c-brokers].image"
    [warning] = plan.warnings
    assert warning.startswith(f"StatefulSet druid-c-brokers: {path}: specified new, stored apache/druid:37.0.0. ")
    assert plan == Plan(warnings=(warning,))


class WithoutNamespace(Answers):
    """Only the first step has a verdict."""

    def dry_run(self, step: Step) -> Verdict:
        return Verdict(step, rejection=NO_NAMESPACE)


def test_missing_namespace_blocks_every_step() -> None:
    assert decided(inputs(druid.cluster(nodes=NODES), reads=WithoutNamespace())) == Plan(findings=(NO_NAMESPACE,))


def test_nothing_is_written_for_a_spec_that_violates_the_schema() -> None:
    found = inputs_of(druid.resource(paused="false"))
    plan = decided(found)
    assert (plan.steps, answers_of(found).asked) == ((), [])
    assert {finding.reason for finding in plan.findings} == {reasons.INVALID_SPEC}


def test_only_the_finalizer_is_written_for_an_invalid_spec() -> None:
    found = inputs_of(druid.resource({"nodeType": "unknown"}))
    plan = decided(found)
    assert ([step.key.kind for step in plan.steps], answers_of(found).asked) == (["Druid"], [])
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
    for based_on in situations(case):
        copy: Inputs = pickle.loads(pickle.dumps(based_on))
        decision = decide(based_on)
        assert based_on == copy
        assert decide(copy) == decision == pickle.loads(pickle.dumps(decision))


def test_decide_imports_no_module_with_api_access() -> None:
    module = decide.__module__
    program = f"import sys, {module}; print(*sys.modules)"
    # ansible-test imports collections by a hook, which other processes do not have
    path = {"PYTHONPATH": str(Path(sys.modules[module].__file__ or "").parents[module.count(".")])}
    started = subprocess.run(
        [sys.executable, "-B", "-c", program], env=path, capture_output=True, text=True, check=True, cwd="/"
    )
    loaded = started.stdout.split()
    kubernetes, cluster = (f"{module.rpartition('._')[0]}.{name}" for name in ("_kubernetes", "_cluster"))
    forbidden = {
        "urllib3",
        "requests",
        "kubernetes",
        "ansible",
        f"{kubernetes}.api",
        f"{cluster}.observe",
        f"{cluster}.reconcile",
    }
    assert module in loaded
    assert forbidden & set(loaded) == set()
