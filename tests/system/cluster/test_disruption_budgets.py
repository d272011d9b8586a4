# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PodDisruptionBudgets of a user for the pods of a group, and an admission policy, which hold evictions only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support.admission import WORDS, refusing
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource
from testbed.api import ApiError

NAME, KEY, OTHER = "c", "historicals", "brokers"
SET = f"druid-{NAME}-{KEY}"
BUDGET, FOREIGN = "PodDisruptionBudget", "foreign"
NEW_IMAGE = "apache/druid:37.0.0"
HEADLESS = {"clusterIP": "None"}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
# Changes for which pods have to be evicted.
SERVICE = {"services": [{"metadata": {"name": "%s-new"}, "spec": HEADLESS}]}
TEMPLATE = {"volumeClaimTemplates": [CLAIM]}


def created(live: NamespaceClient, **historicals: Any) -> dict[str, str]:
    """Create a group with a StatefulSet and one with a Deployment, of two pods each; return the uids of the pods."""
    groups = {
        key: {
            "nodeType": key.removesuffix("s"),
            "kind": "StatefulSet" if key == KEY else "Deployment",
            "druid.port": 8080,
            "nodeConfigMountPath": f"/opt/druid/conf/druid/cluster/{key}",
            "runtime.properties": f"druid.service=druid/{key}",
            "replicas": 2,
            "services": [{"spec": HEADLESS}],
        }
        for key in (KEY, OTHER)
    }
    groups[KEY] |= historicals
    spec = {"image": "apache/druid:36.0.0", "common.runtime.properties": "a=b", "rollingDeploy": True, "nodes": groups}
    live.create(resource(NAME, spec))
    until_ready(live, NAME)
    return pods(live)


def pods(live: NamespaceClient, key: str = "") -> dict[str, str]:
    """Return name and uid of each pod, of one group or of all, that is not terminating."""
    found = (each["metadata"] for each in live.list("Pod") if not is_terminating(each))
    return {each["name"]: each["uid"] for each in found if key in each["name"]}


def protect(live: NamespaceClient, key: str, unavailable: int, name: str = FOREIGN) -> None:
    """Create a budget for the pods of a group, and wait until its controller has counted them."""
    selector = {"matchLabels": {"nodeSpecUniqueStr": f"druid-{NAME}-{key}"}}
    spec = {"maxUnavailable": unavailable, "selector": selector}
    live.create({"kind": BUDGET, "metadata": {"name": name}, "spec": spec})
    eventually(lambda: live.get(BUDGET, name).get("status", {}).get("currentHealthy") == 2)


def evict(live: NamespaceClient, pod: str) -> int:
    """Evict a pod in a dry run, as kubectl drain does, and return the status."""
    options = {"dryRun": ["All"]}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}, "deleteOptions": options}
    path = f"{live.path('Pod', pod)}/eviction?dryRun=All"
    try:
        live.plane.request("POST", path, body, user="person")
    except ApiError as error:
        return error.status
    return 201


def change(live: NamespaceClient, key: str, **fields: Any) -> None:
    live.merge("Druid", NAME, {"spec": {"nodes": {key: fields}}})


def conditions(live: NamespaceClient) -> dict[str, Manifest]:
    return {each["type"]: each for each in live.get("Druid", NAME)["status"]["conditions"]}


def settle(live: NamespaceClient) -> None:
    """Reconcile until there is nothing left to do."""

    def is_settled() -> bool:
        outcome = one_pass(live, NAME)
        assert outcome.plan.findings == ()
        return not outcome.plan.changes and condition(live.get("Druid", NAME), "Ready")["status"] == "True"

    eventually(is_settled)


def test_an_ordinary_rollout_does_not_ask_budgets(live: NamespaceClient) -> None:
    """Controllers delete pods, which no budget prevents."""
    before = created(live)
    for key in (KEY, OTHER):
        protect(live, key, 0, f"{FOREIGN}-{key}")
    assert {evict(live, name) for name in before} == {429}
    live.merge("Druid", NAME, {"spec": {"image": NEW_IMAGE}})
    settle(live)
    assert not set(before.values()) & set(pods(live).values())
    assert "RolloutWarnings" not in conditions(live)
    assert {evict(live, name) for name in pods(live)} == {429}


NEVER_ALLOWS = f"{BUDGET} {FOREIGN} does not allow the eviction of any pod, so 2 of group {KEY} stay as they are"
BOTH_SELECT = (
    f"{BUDGET}s {SET}, {FOREIGN} select the same pods, and Kubernetes evicts no pod that more than one selects, "
    f"so 2 of group {KEY} stay as they are"
)
OWN = {"podDisruptionBudgetSpec": {"maxUnavailable": 1}}
# (the group, the allowed disruptions of the other budget, the change, the status of an eviction, the warning)
CASES: dict[str, tuple[Manifest, int, Manifest, int, str]] = {
    "another first Service": ({}, 0, SERVICE, 429, NEVER_ALLOWS),
    "another claim template": ({}, 0, TEMPLATE, 429, NEVER_ALLOWS),
    "beside the budget of the group": (OWN, 1, SERVICE, 500, BOTH_SELECT),
}


@pytest.mark.parametrize(("group", "unavailable", "changed", "status", "warning"), CASES.values(), ids=CASES)
def test_evictions_wait_for_a_budget_of_others(
    live: NamespaceClient, group: Manifest, unavailable: int, changed: Manifest, status: int, warning: str
) -> None:
    before = created(live, **group)
    protect(live, KEY, unavailable)
    assert evict(live, f"{SET}-0") == status
    live.merge("Druid", NAME, {"spec": {"nodes": {KEY: changed, OTHER: {"image": NEW_IMAGE}}}})

    # The other group does not wait.
    def is_other_done() -> bool:
        one_pass(live, NAME)
        is_new = not set(pods(live, OTHER).values()) & set(before.values())
        return is_new and live.get("Deployment", f"druid-{NAME}-{OTHER}")["status"].get("updatedReplicas") == 2

    eventually(is_other_done)
    eventually(lambda: one_pass(live, NAME) and warning in conditions(live)["RolloutWarnings"]["message"])
    mark = live.mark()
    outcome = one_pass(live, NAME)
    assert [write for write in live.writes(mark) if write.subresource == "eviction"] == []
    assert (outcome.plan.findings, outcome.plan.steps) == ((), ())
    assert any(line.startswith(f"later: evict Pod {SET}-") for line in plan_output.lines(outcome.plan))
    assert {name: before[name] for name in pods(live, KEY)} == pods(live, KEY)
    found = conditions(live)
    for kind in ("Ready", "Degraded", "Stalled"):
        assert found[kind]["reason"] == reasons.EVICTION_REFUSED
        assert warning in found[kind]["message"]
    assert f"{BUDGET} {FOREIGN} allows it" in found["Ready"]["message"] or unavailable
    [event] = [each for each in live.list("Event") if each["reason"] == "RolloutWarning"]
    assert event["message"].startswith(warning)
    assert event.get("count", 1) == 1

    # Nor do other changes of the same group, as far as its controller can carry them out.
    change(live, KEY, workloadAnnotations={"team": "data"})
    one_pass(live, NAME)
    assert live.get("StatefulSet", SET)["metadata"]["annotations"]["team"] == "data"

    if unavailable:
        live.delete(BUDGET, FOREIGN)
        # One in ten recreations of a StatefulSet leaves one of two budgets with the pods that had no owner, and only a
        # change of it lets Kubernetes count them again: as the condition reports after a minute.
        live.merge(BUDGET, SET, {"metadata": {"annotations": {"counted": "again"}}})
    else:
        live.merge(BUDGET, FOREIGN, {"spec": {"maxUnavailable": 1}})
    settle(live)
    assert not set(pods(live, KEY).values()) & set(before.values())
    assert "RolloutWarnings" not in conditions(live)


def test_a_budget_with_an_unhealthy_pod_of_others(live: NamespaceClient) -> None:
    """It selects a pod of another workload, too, which never becomes healthy."""
    before = created(live)
    labels = {"app": "druid", "component": "other"}
    metadata = {"labels": labels, "annotations": {"test/ready": "never"}}
    template = {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "example.com/other"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    live.create({"kind": "Deployment", "metadata": {"name": "other"}, "spec": spec})
    budget = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "druid"}}}
    live.create({"kind": BUDGET, "metadata": {"name": FOREIGN}, "spec": budget})

    def is_counted() -> bool:
        status = live.get(BUDGET, FOREIGN).get("status", {})
        return (status.get("currentHealthy"), status.get("expectedPods")) == (4, 5)

    eventually(is_counted)
    change(live, KEY, **SERVICE)
    eventually(lambda: one_pass(live, NAME) and not one_pass(live, NAME).plan.changes)
    assert "RolloutWarnings" not in conditions(live)
    later = Clock(now=lambda: datetime.now(UTC) + timedelta(minutes=2))
    run(connection(live), cluster_request(NAME, live.namespace), lambda _text: None, later)
    assert f"{BUDGET} {FOREIGN} has not allowed any eviction since " in conditions(live)["RolloutWarnings"]["message"]
    assert pods(live).items() >= before.items()
    live.delete("Deployment", "other")
    settle(live)
    assert not set(pods(live, KEY).values()) & set(before.values())


def test_an_eviction_that_an_admission_policy_refuses(live: NamespaceClient) -> None:
    """It is tried again. Other groups wait for it, but only with what restarts pods."""
    before = created(live)
    other = ("Deployment", f"druid-{NAME}-{OTHER}")
    with refusing(live, "Eviction"):
        changed = {KEY: SERVICE, OTHER: {"image": NEW_IMAGE, "replicas": 3}}
        live.merge("Druid", NAME, {"spec": {"nodes": changed}})
        live.delete("Service", other[1])
        eventually(lambda: WORDS in str(one_pass(live, NAME).plan.findings))
        mark = live.mark()
        [finding] = one_pass(live, NAME).plan.findings
        assert (finding.reason, finding.group) == (reasons.APPLY_FAILED, KEY)
        assert [write.name for write in live.writes(mark) if write.subresource == "eviction"] == [f"{SET}-1"]
        assert WORDS in conditions(live)["Degraded"]["message"]
        assert live.find("Service", other[1])
        eventually(lambda: live.get(*other)["status"].get("readyReplicas") == 3)
        one_pass(live, NAME)
        assert pods(live).items() >= before.items()
        assert live.get(*other)["status"]["observedGeneration"] == live.get(*other)["metadata"]["generation"]
    settle(live)
    assert not set(pods(live).values()) & set(before.values())
