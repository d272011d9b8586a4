# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a user sees of a cluster: conditions, the Go operator's fields, columns, events, and the messages of a wait."""

from __future__ import annotations

import json
import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    connection,
    one_pass,
    until_reached,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
NEVER = {"metadata": {"annotations": {"test/ready": "never"}}}
AGAIN = {"metadata": {"annotations": {"test/ready": None}}}


@pytest.fixture
def ready(live: NamespaceClient) -> NamespaceClient:
    """A namespace with a cluster that is ready."""
    live.create(all_kinds_cluster.resource())
    until_ready(live, "wiki")
    return live


def conditions(live: NamespaceClient) -> dict[str, tuple[str, str]]:
    """Return status and reason of each condition."""
    found = live.get("Druid", "wiki")["status"]["conditions"]
    return {each["type"]: (each["status"], each["reason"]) for each in found}


def columns(live: NamespaceClient) -> dict[str, Any]:
    """Return what `kubectl get druid wiki` prints."""
    api = connection(live, "person")
    url = api.server + live.path("Druid", "wiki")
    answer = api.transport.request("GET", url, headers={**api.headers(), "Accept": TABLE})
    table = json.loads(answer.data)
    names = [each["name"] for each in table["columnDefinitions"] if each["priority"] == 0]
    return dict(zip(names, table["rows"][0]["cells"], strict=False))


def events(live: NamespaceClient) -> list[tuple[str, str, str]]:
    """Return type, reason and message of the events about the resource."""
    about = [each for each in live.list("Event") if each["involvedObject"]["name"] == "wiki"]
    return [(each["type"], each["reason"], each["message"]) for each in about]


def break_pod(live: NamespaceClient, group: str) -> str:
    """Make the group's pod unready and return its name, once its workload has noticed."""
    pods = live.list("Pod")
    name = next(
        each["metadata"]["name"]
        for each in pods
        if each["metadata"]["labels"]["nodeSpecUniqueStr"] == f"druid-wiki-{group}"
    )
    live.merge("Pod", name, NEVER)
    eventually(lambda: not live.get("StatefulSet", f"druid-wiki-{group}")["status"].get("readyReplicas"))
    return name


def test_status_of_a_ready_cluster(ready: NamespaceClient) -> None:
    resource = ready.get("Druid", "wiki")
    status = resource["status"]
    assert conditions(ready) == {
        "Ready": ("True", "AllPodsReady"),
        "Progressing": ("False", "UpToDate"),
        "Degraded": ("False", "AsExpected"),
        "Paused": ("False", "NotPaused"),
    }
    assert {each["observedGeneration"] for each in status["conditions"]} == {resource["metadata"]["generation"]}
    assert (status["observedGeneration"], status["nodes"], status["version"]) == (1, "3/3", "33.0.0")
    listed = {
        kind: {name for each, name in all_kinds_cluster.OBJECTS if each == kind}
        for kind, _name in all_kinds_cluster.OBJECTS
    }
    fields = {
        "configMaps": "ConfigMap",
        "services": "Service",
        "statefulSets": "StatefulSet",
        "deployments": "Deployment",
        "ingress": "Ingress",
        "podDisruptionBudgets": "PodDisruptionBudget",
        "hpAutoscalers": "HorizontalPodAutoscaler",
        "persistentVolumeClaims": "PersistentVolumeClaim",
    }
    assert {field: set(status[field]) for field in fields} == {field: listed[kind] for field, kind in fields.items()}
    assert set(status["pods"]) == ready.names("Pod")
    node = status["druidNodeStatus"]
    assert (node["druidNodeConditionType"], node["druidNodeConditionStatus"]) == ("DruidClusterReady", "True")


def reported(status: Manifest) -> Manifest:
    """Return the reported part of a status, without its history and the times of the reconciles."""
    found = {each["type"]: (each["status"], each["reason"], each["message"]) for each in status["conditions"]}
    texts = {kind: (*each[:2], re.sub(r"since [0-9T:-]+Z", "since", each[2])) for kind, each in found.items()}
    return {**texts, "nodes": status["nodes"], "version": status["version"]}


# The fields that a user changes: the specification, and a group in it.
CHANGES: dict[str, Manifest] = {
    "pods that are replaced": {"spec": {"image": "apache/druid:34.0.0"}},
    "one pod less": all_kinds_cluster.changed("brokers", replicas=0),
    "a group of another kind": all_kinds_cluster.changed("brokers", kind="StatefulSet"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_check_mode_predicts_the_conditions(ready: NamespaceClient, change: Manifest) -> None:
    ready.merge("Druid", "wiki", change)
    planned, done = (one_pass(ready, "wiki", check_mode=check_mode).report for check_mode in (True, False))
    assert planned is not None
    assert done is not None
    assert reported(planned.status) == reported(done.status)


def test_columns(ready: NamespaceClient) -> None:
    shown = columns(ready)
    assert shown.pop("Age")
    assert shown == {
        "Name": "wiki",
        "Ready": "True",
        "Reason": None,
        "Nodes": "3/3",
        "Rollout": None,
        "Version": "33.0.0",
    }
    break_pod(ready, "data")
    one_pass(ready, "wiki")
    shown = columns(ready)
    assert (shown["Ready"], shown["Reason"], shown["Nodes"]) == ("False", "PodsNotReady", "2/3")
    ready.merge("Druid", "wiki", {"spec": {"image": "apache/druid:34.0.0"}})
    one_pass(ready, "wiki")
    assert columns(ready)["Rollout"] == "data 0/1"
    until_ready(ready, "wiki")
    assert (columns(ready)["Rollout"], columns(ready)["Version"]) == (None, "34.0.0")


def test_lost_readiness_is_reported_with_its_time(ready: NamespaceClient) -> None:
    since = condition(ready.get("Druid", "wiki"), "Degraded")["lastTransitionTime"]
    break_pod(ready, "data")
    one_pass(ready, "wiki")
    lost = ready.get("Druid", "wiki")
    assert condition(lost, "Ready")["message"] == "Waiting for data 0/1."
    assert condition(lost, "Degraded")["lastTransitionTime"] == since
    one_pass(ready, "wiki")
    assert ready.get("Druid", "wiki")["metadata"]["resourceVersion"] == lost["metadata"]["resourceVersion"]


def test_pods_that_fail_are_named(live: NamespaceClient) -> None:
    live.create(all_kinds_cluster.resource(podAnnotations={"test/start": "crash"}))

    def failing() -> Manifest | None:
        one_pass(live, "wiki")
        degraded = condition(live.get("Druid", "wiki"), "Degraded")
        return degraded if degraded["status"] == "True" and "druid-wiki-data-0" in degraded["message"] else None

    degraded = eventually(failing)
    assert degraded["reason"] == "PodsFailing"
    assert "pod druid-wiki-data-0, container druid-wiki-data: CrashLoopBackOff, last exit code 1" in degraded["message"]


def test_events_report_each_change(live: NamespaceClient) -> None:
    live.create(all_kinds_cluster.resource())
    one_pass(live, "wiki")
    [created] = [
        message for kind, reason, message in events(live) if (kind, reason) == ("Normal", "DruidOperatorCreateSuccess")
    ]
    by_us = all_kinds_cluster.OBJECTS - {("PersistentVolumeClaim", "segments-druid-wiki-data-0")}
    head, _colon, objects = created.partition("]: ")
    assert head == f"Successfully created {len(by_us)} objects in namespace [{live.namespace}"
    named = objects.removesuffix("...").split(", ")
    assert {*named[:-1]} <= {f"{name}:*v1.{kind}" for kind, name in by_us}
    assert len(named) > 10

    live.merge("Service", "druid-wiki-data", {"spec": {"type": "NodePort"}})
    live.merge("Druid", "wiki", all_kinds_cluster.changed("brokers", ingress=None))
    one_pass(live, "wiki")
    reported = {reason: message for _kind, reason, message in events(live) if "Create" not in reason}
    assert "spec.type: NodePort -> ClusterIP" in reported["DruidOperatorUpdateSuccess"]
    assert "[druid-wiki-brokers:*v1.Ingress]" in reported["DruidOperatorDeleteSuccess"]


def test_wait_timeout_reports_the_missing_pods(ansible: Ansible, ready: NamespaceClient) -> None:
    break_pod(ready, "data")
    run = ansible.cluster("wiki", wait=True, wait_timeout=1, wait_sleep=1, status=2)
    message = f"Druid {ready.namespace}/wiki: not ready (PodsNotReady: Waiting for data 0/1.) after 1 s."
    assert message in run.output
    assert condition(ready.get("Druid", "wiki"), "Ready")["status"] == "False"


def test_wait_reports_progress(ansible: Ansible, ready: NamespaceClient) -> None:
    names = [break_pod(ready, group) for group in ("data", "routers")]

    def fix() -> None:
        for number, name in enumerate(names):
            eventually(lambda: columns(ready)["Nodes"] == f"{number + 1}/3")  # noqa: B023
            ready.merge("Pod", name, AGAIN)

    person = threading.Thread(target=fix)
    person.start()
    run = ansible.cluster("wiki", wait=True, wait_timeout=300, wait_sleep=1)
    person.join()
    assert re.findall(r"^wiki: (\d/3) pods ready", run.output, re.M) == ["1/3", "2/3", "3/3"]


def ignored(value: str | None) -> Manifest:
    return {"metadata": {"annotations": {"druid.apache.org/ignored": value}}}


# (how it begins, how it ends, the reason)
PAUSES = [
    ({"spec": {"paused": True}}, {"spec": {"paused": None}}, "Paused"),
    (ignored("true"), ignored(None), "Ignored"),
]


@pytest.mark.parametrize(("begin", "end", "reason"), PAUSES, ids=[reason for _begin, _end, reason in PAUSES])
def test_paused_cluster_is_not_changed(ready: NamespaceClient, begin: Manifest, end: Manifest, reason: str) -> None:
    ready.merge("Druid", "wiki", begin)
    assert not until_reached(ready, "wiki").changed
    assert conditions(ready)["Ready"] == ("True", "AllPodsReady")
    assert conditions(ready)["Paused"] == ("True", reason)

    scaled = all_kinds_cluster.changed("data", replicas=2)["spec"]
    ready.merge("Druid", "wiki", {"spec": {**scaled, "image": "apache/druid:34.0.0"}})
    ready.delete("Service", "druid-wiki-brokers")
    mark, before = ready.mark(), replicas(ready)
    outcome = until_reached(ready, "wiki")
    assert not outcome.changed
    assert [write for write in without_status(ready.writes(mark)) if "(dry run)" not in write] == []
    assert replicas(ready) == before
    assert conditions(ready) == {
        "Ready": ("False", "ChangesPending"),
        "Progressing": ("False", "ChangesPending"),
        "Degraded": ("False", "AsExpected"),
        "Stalled": ("True", "ChangesPending"),
        "Paused": ("True", reason),
    }
    message = condition(ready.get("Druid", "wiki"), "Ready")["message"]
    assert "create Service druid-wiki-brokers" in message
    assert "update StatefulSet druid-wiki-data" in message
    assert outcome.warnings == (message,)
    assert (columns(ready)["Nodes"], columns(ready)["Version"]) == ("3/3", "33.0.0")

    ready.merge("Druid", "wiki", end)
    until_ready(ready, "wiki")
    assert conditions(ready)["Paused"] == ("False", "NotPaused")
    assert (columns(ready)["Nodes"], columns(ready)["Version"]) == ("4/4", "34.0.0")
    assert ready.find("Service", "druid-wiki-brokers")


def replicas(live: NamespaceClient) -> dict[str, int]:
    workloads = live.list("StatefulSet") + live.list("Deployment")
    return {each["metadata"]["name"].rpartition("-")[2]: each["spec"]["replicas"] for each in workloads}


def test_stopped_cluster_has_no_pods_and_restarts_unchanged(ready: NamespaceClient) -> None:
    ready.merge("Druid", "wiki", all_kinds_cluster.changed("data", replicas=2))
    # what an autoscaler has decided is forgotten, but never below its minimum
    ready.merge("Druid", "wiki", all_kinds_cluster.changed("routers", hpAutoscaler={"minReplicas": 2}))
    until_ready(ready, "wiki")
    ready.merge("Druid", "wiki", {"spec": {"stopped": True}})
    assert until_reached(ready, "wiki").changed
    assert replicas(ready) == {"data": 0, "brokers": 0, "routers": 0}
    assert conditions(ready)["Ready"] == ("False", "Stopped")
    assert conditions(ready)["Progressing"] == ("False", "UpToDate")
    assert not until_reached(ready, "wiki").changed
    assert conditions(ready)["Stalled"] == ("True", "Stopped")
    assert ready.names("Pod") == set()
    assert "segments-druid-wiki-data-1" in ready.names("PersistentVolumeClaim")

    ready.merge("Druid", "wiki", {"spec": {"stopped": None}})
    until_ready(ready, "wiki")
    assert replicas(ready) == {"data": 2, "brokers": 1, "routers": 2}


def test_slow_reconcile_keeps_the_status_of_a_later_generation(ready: NamespaceClient) -> None:
    slow = {**ready.get("Druid", "wiki"), "kind": "Druid"}
    ready.merge("Druid", "wiki", {"spec": {"stopped": True}})
    until_reached(ready, "wiki")
    later = ready.get("Druid", "wiki")
    assert later["metadata"]["generation"] > slow["metadata"]["generation"]
    done = DRUID.reconcile(connection(ready), slow, Options(), Clock().now())
    assert done.status != later["status"]
    assert done.reporting_errors == ()
    assert ready.get("Druid", "wiki")["status"] == later["status"]


def test_a_change_after_a_long_problem_is_reconciled_again_soon(ready: NamespaceClient) -> None:
    break_pod(ready, "data")
    one_pass(ready, "wiki")
    later = Clock().now() + timedelta(days=1)

    def requeue_after() -> int | None:
        resource = {**ready.get("Druid", "wiki"), "kind": "Druid"}
        return DRUID.reconcile(connection(ready), resource, Options(), later).requeue_after

    assert requeue_after() == 300
    ready.merge("Druid", "wiki", {"spec": {"stopped": False}})
    assert (requeue_after(), requeue_after()) == (2, 300)
    ready.delete("Service", "druid-wiki-data")
    assert (requeue_after(), requeue_after()) == (2, 300)
