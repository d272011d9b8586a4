# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes that Kubernetes forbids: pods stay available, and their names in DNS resolve all the time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.name_probe import NameProbe, names_resolve
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource

NAME, KEY, OTHER = "c", "historicals", "brokers"
SET = f"druid-{NAME}-{KEY}"
OLD = {"metadata": {"name": "%s"}, "spec": {"clusterIP": "None"}}
NEW = {"metadata": {"name": "%s-new"}, "spec": {"clusterIP": "None"}}


def spec(**historicals: Any) -> Manifest:
    """Return two groups of two pods."""
    groups = {
        key: {
            "nodeType": key.removesuffix("s"),
            "druid.port": 8080,
            "nodeConfigMountPath": f"/opt/druid/conf/druid/cluster/{key}",
            "runtime.properties": f"druid.service=druid/{key}",
            "replicas": 2,
            "services": [OLD],
            "podDisruptionBudgetSpec": {"maxUnavailable": 1},
        }
        for key in (KEY, OTHER)
    }
    groups[KEY] |= historicals
    return {"image": "apache/druid:36.0.0", "common.runtime.properties": "a=b", "rollingDeploy": True, "nodes": groups}


@pytest.fixture
def probe(live: NamespaceClient) -> Iterator[NameProbe]:
    """A cluster with two groups, whose names in DNS are probed during the test."""
    live.create(resource(NAME, spec()))
    until_ready(live, NAME)
    eventually(lambda: has_a_budget(live))
    with names_resolve(live) as probe:
        yield probe


def has_a_budget(live: NamespaceClient) -> bool:
    budgets = live.list("PodDisruptionBudget")
    return all(each.get("status", {}).get("disruptionsAllowed") == 1 for each in budgets)


def change(live: NamespaceClient, **historicals: Any) -> None:
    live.merge("Druid", NAME, {"spec": {"nodes": {KEY: historicals}}})


def pods(live: NamespaceClient) -> dict[str, str]:
    """Return name and uid of each pod that is not terminating."""
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in live.list("Pod") if not is_terminating(each)}


def subdomains(live: NamespaceClient) -> list[str]:
    """Return the subdomains of the pods of the changed group."""
    names = (each["spec"].get("subdomain", "") for each in live.list("Pod") if SET in each["metadata"]["name"])
    return sorted(names)


def settle(live: NamespaceClient) -> list[int]:
    """Reconcile until there is nothing left to do; return the number of ready pods of the group each time."""
    found: list[int] = []

    def is_settled() -> bool:
        outcome = one_pass(live, NAME)
        assert outcome.plan.findings == ()
        found.append((live.find("StatefulSet", SET) or {}).get("status", {}).get("readyReplicas", 0))
        return not outcome.plan.changes and condition(live.get("Druid", NAME), "Ready")["status"] == "True"

    eventually(is_settled)
    return found


def test_the_probe_detects_a_lost_name(live: NamespaceClient) -> None:
    live.create(resource(NAME, spec()))
    until_ready(live, NAME)
    probe = NameProbe(live)
    eventually(lambda: probe.look() or len(probe.resolved) == 4)
    live.delete("Service", SET)
    probe.look()
    assert {hostname for _uid, hostname, _subdomain in probe.lost} == {f"{SET}-0", f"{SET}-1"}


@pytest.mark.usefixtures("probe")
def test_another_first_service_restarts_the_pods_one_by_one(live: NamespaceClient) -> None:
    before = pods(live)
    change(live, services=[NEW])
    planned = plan_output.lines(one_pass(live, NAME, check_mode=True).plan)
    assert f"restart 1: group {KEY} (StatefulSet {SET}), 2 pods: subdomain: {SET} -> {SET}-new" in planned

    one_pass(live, NAME)
    assert live.get("StatefulSet", SET)["spec"]["serviceName"] == f"{SET}-new"
    eventually(lambda: len(subdomains(live)) == 2 and has_a_budget(live))
    assert before == pods(live)
    assert live.find("Service", SET)
    settle(live)
    assert subdomains(live) == [f"{SET}-new"] * 2
    after = pods(live)
    assert {name for name, uid in before.items() if after.get(name) == uid} == {
        name for name in before if OTHER in name
    }
    assert live.find("Service", SET) is None
    texts = [each["message"] for each in live.list("Event") if each["reason"] in ("RolloutStarted", "RolloutCompleted")]
    assert sum(text.startswith(f"Rollout of group {KEY} (2 pods) has started: subdomain") for text in texts) == 1
    assert texts.count(f"Rollout of group {KEY} is completed.") == 1


def test_a_budget_is_respected(live: NamespaceClient, probe: NameProbe) -> None:
    before = pods(live)
    change(live, services=[NEW], podDisruptionBudgetSpec={"maxUnavailable": 0})
    one_pass(live, NAME)
    budget = ("PodDisruptionBudget", SET)
    eventually(lambda: live.get(*budget).get("status", {}).get("disruptionsAllowed") == 0)

    def is_reported() -> bool:
        one_pass(live, NAME)
        warnings = [
            each for each in live.get("Druid", NAME)["status"]["conditions"] if each["type"] == "RolloutWarnings"
        ]
        return f"PodDisruptionBudget {SET} does not allow the eviction of any pod" in str(warnings)

    eventually(is_reported)
    assert pods(live) == before
    ready = condition(live.get("Druid", NAME), "Ready")
    assert (ready["status"], ready["reason"]) == ("False", reasons.EVICTION_REFUSED)
    change(live, podDisruptionBudgetSpec={"maxUnavailable": 1})
    settle(live)
    assert subdomains(live) == [f"{SET}-new"] * 2
    assert probe.probes > 2


def test_a_partition_and_on_delete_keep_pods(live: NamespaceClient, probe: NameProbe) -> None:
    before = pods(live)
    change(live, services=[NEW], updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}})
    settle(live)
    assert subdomains(live) == [SET, f"{SET}-new"]
    assert live.find("Service", SET)
    change(live, updateStrategy={"type": "OnDelete", "rollingUpdate": None})
    settle(live)
    assert subdomains(live) == [SET, f"{SET}-new"]
    assert pods(live)[f"{SET}-0"] == before[f"{SET}-0"]
    assert "is retained until no pod" in condition(live.get("Druid", NAME), "Warnings")["message"]
    live.delete("Pod", f"{SET}-0")
    eventually(lambda: subdomains(live) == [f"{SET}-new"] * 2)
    eventually(lambda: one_pass(live, NAME) and live.find("Service", SET) is None)
    assert probe.probes > 2


KEEP_PODS: dict[str, Manifest] = {
    "podManagementPolicy": {"podManagementPolicy": "OrderedReady"},
    "an additional Service": {"services": [OLD, NEW]},
}


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
MOUNT = {"name": "data", "mountPath": "/data"}


@pytest.mark.parametrize("policy", ["Parallel", "OrderedReady"])
@pytest.mark.parametrize(
    "more", [{}, {"volumeMounts": [MOUNT]}, {"services": [NEW]}], ids=["alone", "mount", "service"]
)
@pytest.mark.usefixtures("probe")
def test_an_added_claim_template_restarts_the_pods(live: NamespaceClient, more: Manifest, policy: str) -> None:
    """Their controller fails to add a volume to a pod, and then replaces none."""
    before = pods(live)
    change(live, volumeClaimTemplates=[CLAIM], podManagementPolicy=policy, **more)
    planned = plan_output.lines(one_pass(live, NAME, check_mode=True).plan)
    [restart] = [text for text in planned if text.startswith("restart ")]
    assert restart.startswith(f"restart 1: group {KEY} (StatefulSet {SET}), 2 pods: ")
    assert "volumeClaimTemplates: data" in restart
    settle(live)
    assert not {pods(live)[name] for name in before if KEY in name} & set(before.values())
    assert {each["metadata"]["name"] for each in live.list("PersistentVolumeClaim")} == {
        f"data-{SET}-{n}" for n in (0, 1)
    }
    change(live, podAnnotations={"a": "b"})
    after = pods(live)
    settle(live)
    assert not {pods(live)[name] for name in before if KEY in name} & set(after.values())


@pytest.mark.usefixtures("probe")
def test_a_claim_template_is_not_added_while_pods_have_to_stay(live: NamespaceClient) -> None:
    before = pods(live)
    change(live, volumeClaimTemplates=[CLAIM], updateStrategy={"type": "OnDelete"})
    [finding] = one_pass(live, NAME).plan.findings
    assert finding.message.startswith(
        f"StatefulSet {SET}: volumeClaimTemplates data cannot be added while the updateStrategy keeps pods "
        f"({SET}-0, {SET}-1): Kubernetes cannot add a volume to a pod"
    )
    assert live.get("StatefulSet", SET)["spec"]["updateStrategy"]["type"] == "RollingUpdate"
    assert pods(live) == before
    change(live, updateStrategy=None)
    settle(live)


def test_failing_new_pods_are_repaired_while_others_lack_a_volume(live: NamespaceClient) -> None:
    live.create(resource(NAME, spec()))
    until_ready(live, NAME)
    change(live, volumeClaimTemplates=[CLAIM], podAnnotations={"test/start": "crash"})
    first = f"{SET}-0"
    eventually(lambda: one_pass(live, NAME) and "CrashLoopBackOff" in str(live.find("Pod", first)))
    for _time in range(3):
        one_pass(live, NAME)
    assert "CrashLoopBackOff" not in str(live.get("Pod", f"{SET}-1"))
    change(live, podAnnotations=None)
    settle(live)
    assert len(live.list("PersistentVolumeClaim")) == 2


@pytest.mark.parametrize("changed", KEEP_PODS.values(), ids=KEEP_PODS)
@pytest.mark.usefixtures("probe")
def test_a_recreation_restarts_no_pod(live: NamespaceClient, changed: Manifest) -> None:
    before = pods(live)
    change(live, **changed)
    settle(live)
    assert pods(live) == before


@pytest.mark.usefixtures("probe")
def test_other_pod_labels_restart_the_pods_and_keep_the_selector(live: NamespaceClient) -> None:
    before, selector = pods(live), live.get("StatefulSet", SET)["spec"]["selector"]
    change(live, podLabels={"team": "data"})
    settle(live)
    assert live.get("StatefulSet", SET)["spec"]["selector"] == selector
    assert not {pods(live)[name] for name in before if KEY in name} & set(before.values())


@pytest.mark.usefixtures("probe")
def test_another_node_type_is_refused(live: NamespaceClient) -> None:
    before = pods(live)
    resources = {kind: live.list(kind) for kind in ("StatefulSet", "Service", "ConfigMap")}
    change(live, nodeType="indexer", services=[NEW])
    [finding] = one_pass(live, NAME).plan.findings
    assert (finding.reason, finding.group) == (reasons.PODS_WOULD_BE_ORPHANED, KEY)
    assert "the nodeType of a group with pods cannot change from historical to indexer" in finding.message
    assert {kind: live.list(kind) for kind in resources} == resources
    assert pods(live) == before


@pytest.mark.usefixtures("probe")
def test_another_kind_and_back(live: NamespaceClient) -> None:
    for kind, other in (("Deployment", "StatefulSet"), ("StatefulSet", "Deployment")):
        change(live, kind=kind)
        one_pass(live, NAME)
        assert live.find(kind, SET)
        assert live.find(other, SET)
        eventually(lambda other=other: one_pass(live, NAME) and live.find(other, SET) is None)  # type: ignore[misc]
        settle(live)
