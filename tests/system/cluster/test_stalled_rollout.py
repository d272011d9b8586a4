# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A rollout that stalls is reported, whatever others change meanwhile; a group that only blocks others has none."""

from __future__ import annotations

from itertools import cycle
from time import monotonic

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import autoscaler, claim_template
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_reached, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    MERGE,
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import (
    NAME,
    NEW,
    OLD,
    TYPES,
    create,
    group,
    image,
    order_of_restarts,
    pods,
    unique_name,
    workload,
)

NEVER = {"test/ready": "never"}


def degraded(live: NamespaceClient) -> Manifest:
    """Reconcile once, and return the condition Degraded."""
    one_pass(live, NAME)
    return condition(live.get("Druid", NAME), "Degraded")


def events(live: NamespaceClient, reason: str) -> list[str]:
    return [each["message"] for each in live.list("Event") if each["reason"] == reason]


@pytest.mark.parametrize("key", ["historicals", "brokers"])
def test_of_a_group_that_an_autoscaler_scales_meanwhile(live: NamespaceClient, key: str) -> None:
    """Before each reconcile, so that the generation of the workload is another one each time."""
    kind = "Deployment" if key == "brokers" else "StatefulSet"
    create(live, **{key: {"hpAutoscaler": autoscaler(kind, unique_name(key), 2)}})
    stuck = {"podAnnotations": NEVER, "progressDeadlineSeconds": 2}
    live.merge("Druid", NAME, {"spec": {"nodes": {key: stuck}}})
    one_pass(live, NAME)
    before, sizes = workload(live, key)["metadata"]["generation"], cycle((3, 2))

    def has_stalled() -> bool:
        live.scale(kind, unique_name(key), next(sizes))
        return bool(degraded(live)["reason"] == reasons.ROLLOUT_STALLED)

    eventually(has_stalled)
    assert workload(live, key)["metadata"]["generation"] > before
    live.merge("Druid", NAME, {"spec": {"nodes": {key: {"podAnnotations": None}}}})
    order_of_restarts(live)
    assert degraded(live)["reason"] == reasons.AS_EXPECTED


def test_since_the_api_server_accepts_no_pod(live: NamespaceClient) -> None:
    """The status of a StatefulSet does not have the cause: it is in an event."""
    create(live)
    path, key = f"/api/v1/namespaces/{live.namespace}", "pod-security.kubernetes.io/enforce"

    def enforce(level: str | None) -> None:
        body = {"metadata": {"labels": {key: level}}}
        live.plane.request("PATCH", path, body, user="admin", content_type=MERGE)

    enforce("restricted")
    live.merge("Druid", NAME, {"spec": {"image": NEW, "progressDeadlineSeconds": 1}})
    name = unique_name("historicals")
    cause = f'StatefulSet {name}: FailedCreate: pods "{name}-1" is forbidden: violates PodSecurity'
    # The event comes later than the end of the time limit, or earlier.
    eventually(lambda: degraded(live)["message"].startswith(cause))
    eventually(lambda: "The rollout of group historicals is stalled" in degraded(live)["message"])
    assert degraded(live)["message"].startswith(cause)
    enforce(None)
    order_of_restarts(live)
    assert image(live, "coordinators") == NEW


def test_is_not_reported_while_a_pod_completes_its_work(live: NamespaceClient) -> None:
    """Within its grace period, which is longer than the time limit."""
    slow = {"podAnnotations": {"test/delete-delay": "10s"}, "terminationGracePeriodSeconds": 60, "replicas": 1}
    create(live, middlemanagers=slow)
    live.merge("Druid", NAME, {"spec": {"progressDeadlineSeconds": 4, "nodes": {"middlemanagers": {"image": NEW}}}})
    one_pass(live, NAME)
    pod = f"{unique_name('middlemanagers')}-0"
    eventually(lambda: is_terminating(live.get("Pod", pod)))
    found: list[bool] = []

    def is_replaced() -> bool:
        found.append(degraded(live)["reason"] == reasons.AS_EXPECTED)
        return "rollout" not in live.get("Druid", NAME)["status"]

    started = monotonic()
    eventually(is_replaced)
    assert monotonic() - started > 6
    assert all(found)


def test_a_group_that_only_blocks_others(live: NamespaceClient) -> None:
    create(live)
    lost = f"{unique_name('coordinators')}-0"
    live.merge("Pod", lost, {"metadata": {"annotations": NEVER}})
    eventually(lambda: workload(live, "coordinators")["status"]["readyReplicas"] == 1)
    before = pods(live, "coordinators")
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"image": NEW}}}})
    one_pass(live, NAME)
    found = live.get("Druid", NAME)["status"]["rollout"]
    assert (found["group"], found["onlyBlocks"], found["pending"]) == ("coordinators", True, ["historicals"])
    live.merge("Pod", lost, {"metadata": {"annotations": {"test/ready": None}}})
    assert order_of_restarts(live) == ["historicals"]
    assert pods(live, "coordinators") == before
    assert events(live, reasons.ROLLOUT_STARTED) == [
        f"Rollout of group historicals (2 pods) has started: image: {OLD} -> {NEW}."
    ]
    assert events(live, reasons.ROLLOUT_COMPLETED) == ["Rollout of group historicals is completed."]


def test_blocks_only_what_restarts_pods(live: NamespaceClient) -> None:
    """Other objects are written, a new group is created, a lost workload restored, the cluster deleted."""
    create(live)
    before = pods(live)
    live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": {"historicals": {"podAnnotations": NEVER}}}})
    eventually(lambda: one_pass(live, NAME) and workload(live, "historicals")["status"].get("readyReplicas") == 1)
    brokers = {
        "ingress": {"defaultBackend": {"service": {"name": unique_name("brokers"), "port": {"number": 8080}}}},
        "hpAutoscaler": autoscaler("Deployment", unique_name("brokers"), 2),
        "podDisruptionBudgetSpec": {"maxUnavailable": 1},
        "persistentVolumeClaim": [claim_template("alone")],
        "podLabels": {"team": "data"},
    }
    nodes = {"brokers": brokers, "routers": group("routers", "router")}
    live.merge("Druid", NAME, {"spec": {"nodes": nodes}})
    live.delete("StatefulSet", unique_name("coordinators"))
    eventually(lambda: not pods(live, "coordinators"))
    outcome = one_pass(live, NAME)
    assert (outcome.plan.restarts, outcome.plan.pending_restarts) == ((), ("middlemanagers", "brokers"))
    for kind in ("Ingress", "HorizontalPodAutoscaler", "PodDisruptionBudget"):
        assert live.names(kind) == {unique_name("brokers")}, kind
    assert live.find("PersistentVolumeClaim", "alone")
    assert [image(live, key) for key in (*TYPES, "routers")] == [NEW, OLD, OLD, NEW, NEW]
    eventually(lambda: len(pods(live, "routers")) == len(pods(live, "coordinators")) == 2)
    kept = {name: uid for name, uid in before.items() if "middlemanagers" in name or "brokers" in name}
    assert kept.items() <= pods(live).items()

    eventually(lambda: one_pass(live, NAME, absent=True) and live.find("Druid", NAME) is None)
    eventually(lambda: not pods(live))


def test_a_cluster_that_is_stopped_in_the_middle(live: NamespaceClient) -> None:
    """Its pods stop at once; when it runs again, all groups start with what is specified."""
    create(live)
    live.merge("Druid", NAME, {"spec": {"image": NEW, "nodes": {"historicals": {"podAnnotations": NEVER}}}})
    eventually(lambda: one_pass(live, NAME) and workload(live, "historicals")["status"].get("readyReplicas") == 1)
    live.merge("Druid", NAME, {"spec": {"stopped": True}})
    until_reached(live, NAME)
    eventually(lambda: not pods(live))
    one_pass(live, NAME)
    assert "rollout" not in live.get("Druid", NAME)["status"]
    assert [image(live, key) for key in TYPES] == [NEW] * 4
    live.merge("Druid", NAME, {"spec": {"stopped": None, "nodes": {"historicals": {"podAnnotations": None}}}})
    one_pass(live, NAME)
    assert [workload(live, key)["spec"]["replicas"] for key in TYPES] == [2] * 4
    until_ready(live, NAME)
    assert events(live, reasons.ROLLOUT_COMPLETED) == []
