# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator keeps the clusters of its namespace, with the rights that it is installed with, on a real API server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.names import FINALIZER
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.plan import NEVER_RECONCILED
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import (
    DruidOperator,
    period_without_full_reconcile,
    start,
)
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.operator_plugin import StartOperator

NAME = "c"
BACKEND = {"service": {"name": "druid-c-brokers", "port": {"number": 8081}}}
BROKERS = f"druid-{NAME}-brokers"
RUNNING = small_cluster.spec(replicas=1)


@pytest.fixture
def started(operator: StartOperator, live: NamespaceClient, tmp_path: Path) -> DruidOperator:
    return start(operator, live, tmp_path)


def test_creates_a_cluster_logs_each_run_and_is_idle(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    period = period_without_full_reconcile(live.create(small_cluster.resource(NAME, RUNNING))["metadata"]["uid"])
    started = start(operator, live, tmp_path, DRUIDOPS_LOG=str(log), RECONCILE_WAIT=period)

    mark = started.wait_until_settled(NAME)
    before = len(started.program.runs)
    started.touch(NAME)
    started.program.wait_for_runs(NAME, before + 1)

    eventually(lambda: started.requests(mark) == [started.cache_read] * 2 * (len(started.program.runs) - before))
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == len(started.program.runs)
    assert {(line["kind"], line["namespace"], line["name"]) for line in lines} == {("Druid", live.namespace, NAME)}
    assert f"create StatefulSet {BROKERS}" in lines[0]["done"]
    assert (lines[-1]["done"], lines[-1]["ready"], lines[-1]["generation"]) == ([], "True", 1)
    assert "druid.number=1" not in log.read_text(encoding="utf-8")


def test_changes_are_applied_and_manual_edits_are_reverted(
    started: DruidOperator, live: NamespaceClient, record_property: Callable[[str, object], None]
) -> None:
    live.create(small_cluster.resource(NAME, RUNNING))
    started.wait_until_ready(NAME)

    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 2}}}})
    eventually(lambda: live.get("StatefulSet", BROKERS)["status"].get("readyReplicas") == 2)
    eventually(lambda: live.get("Druid", NAME)["status"]["nodes"] == "3/3")
    started.wait_until_settled(NAME)

    record_property("measurement", f"watched since it was created: {reverted_edits(live)}")
    started.program.stop()
    started.program.start()
    started.wait_until_settled(NAME)
    record_property("measurement", f"after a restart: {reverted_edits(live)}")


def reverted_edits(live: NamespaceClient) -> str:
    """Delete and edit objects by hand; return how long it takes until they are in the desired state again."""
    begin = time.monotonic()
    live.delete("Service", BROKERS)
    eventually(lambda: live.find("Service", BROKERS) is not None)
    deleted, begin = time.monotonic() - begin, time.monotonic()
    live.merge("PodDisruptionBudget", BROKERS, {"spec": {"maxUnavailable": 7}})
    eventually(lambda: live.get("PodDisruptionBudget", BROKERS)["spec"]["maxUnavailable"] == 1)
    edited = time.monotonic() - begin
    return f"a deleted Service is back after {deleted:.1f} s, an edited PodDisruptionBudget after {edited:.1f} s"


def test_each_kind_is_watched_from_its_first_object_on(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    """ansible-operator watches a kind after a read by name: the run after the one that created the object does that."""
    log = tmp_path / "log.jsonl"
    started = start(operator, live, tmp_path, DRUIDOPS_LOG=str(log))
    live.create(small_cluster.resource(NAME))
    started.wait_until_ready(NAME)
    host = {"host": "c.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"ingress": {"rules": [host]}}}}})
    eventually(lambda: live.find("Ingress", BROKERS))

    def has_found_nothing_to_do() -> bool:
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        return lines[-1]["generation"] == 2 and lines[-1]["done"] == []

    eventually(has_found_nothing_to_do)
    for kind in ("Ingress", "PodDisruptionBudget", "ConfigMap"):
        name = f"{BROKERS}-config" if kind == "ConfigMap" else BROKERS
        live.delete(kind, name)
        eventually(lambda kind=kind, name=name: live.find(kind, name), 60)  # type: ignore[misc]


@campaign("the same by playbook and in-process, and a deletion with the operator of the image")
def test_deletion_removes_pvcs_unless_they_are_kept(started: DruidOperator, live: NamespaceClient) -> None:
    kept, whole = "kept", "whole"
    for name in (kept, whole):
        spec = small_cluster.spec(replicas=1, disablePVCDeletionFinalizer=name == kept)
        live.create(small_cluster.resource(name, spec))
    for name in (kept, whole):
        started.wait_until_ready(name)
    claims = {
        name: {each for each in live.names("PersistentVolumeClaim") if f"druid-{name}-" in each}
        for name in (kept, whole)
    }
    assert all(claims.values())

    for name in (kept, whole):
        live.delete("Druid", name)

    eventually(lambda: live.list("Druid") == [])
    eventually(lambda: live.created_objects() == {("PersistentVolumeClaim", name) for name in claims[kept]})


@campaign("the same by playbook and in-process")
def test_ignored_and_blocked_clusters_are_reported_and_reconciled_later(
    started: DruidOperator, live: NamespaceClient
) -> None:
    ignored, blocked = "ignored", "blocked"
    resource = small_cluster.resource(ignored)
    resource["metadata"]["annotations"] = {"druid.apache.org/ignored": "true"}
    live.create(resource)
    eventually(lambda: started.is_true(ignored, "Paused"))
    assert live.created_objects() == set()
    assert condition(live.get("Druid", ignored), "Paused")["reason"] == "Ignored"

    live.create({"kind": "ConfigMap", "metadata": {"name": f"druid-{blocked}-brokers-config"}})
    live.create(small_cluster.resource(blocked))
    eventually(lambda: started.is_true(blocked, "Degraded"))
    # none has failed, to be tried again
    assert all(run.status == 0 for run in started.program.wait_for_runs(blocked, 2) if run.end)

    live.merge("Druid", ignored, {"metadata": {"annotations": {"druid.apache.org/ignored": None}}})
    live.delete("ConfigMap", f"druid-{blocked}-brokers-config")
    for name in (ignored, blocked):
        started.wait_until_ready(name)


def test_resources_in_a_denied_namespace_are_ignored(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    started = start(operator, live, tmp_path, DENY_LIST=f"default, {live.namespace}")
    live.create(small_cluster.resource(NAME))

    assert all(run.status == 0 for run in started.program.wait_for_runs(NAME, 1))

    assert live.get("Druid", NAME)["status"] == NEVER_RECONCILED
    assert live.created_objects() == set()


@campaign("the decision, by unit tests")
def test_a_deletion_in_a_denied_namespace_ends_unless_another_operator_holds_it(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    """ansible-operator sets its finalizer there, too, and nothing else would remove it from the resource."""
    started = start(operator, live, tmp_path, DENY_LIST=live.namespace)
    live.create(small_cluster.resource(NAME))
    held = small_cluster.resource("held")
    held["metadata"]["finalizers"] = [FINALIZER]
    live.create(held)
    ingestion = {
        "endpoint": {"url": "http://no.such"},
        "ingestion": {
            "type": "sql",
            "nativeSpec": {"query": "REPLACE INTO a OVERWRITE ALL SELECT 1 PARTITIONED BY ALL"},
        },
    }
    live.create({"kind": "DruidIngestion", "metadata": {"name": NAME}, "spec": ingestion})
    for name in (NAME, "held"):
        started.program.wait_for_runs(name, 1)
    eventually(lambda: live.get("Druid", NAME)["metadata"].get("finalizers") == [FINALIZER])
    eventually(lambda: live.get("DruidIngestion", NAME)["metadata"].get("finalizers"))

    for kind, name in (("Druid", "held"), ("Druid", NAME), ("DruidIngestion", NAME)):
        live.delete(kind, name)
    eventually(lambda: live.find("Druid", NAME) is None and live.find("DruidIngestion", NAME) is None)
    events = {(each["involvedObject"]["kind"], each["involvedObject"]["name"]) for each in live.list("Event")}
    assert events == {("Druid", NAME), ("DruidIngestion", NAME)}

    before = len(started.program.runs_of("held"))
    started.touch("held")
    assert all(run.status == 0 for run in started.program.wait_for_runs("held", before + 1))
    assert live.get("Druid", "held")["metadata"]["finalizers"] == [FINALIZER]
    live.merge("Druid", "held", {"metadata": {"finalizers": None}})


def test_the_administrator_may_allow_other_namespaces(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    start(operator, live, tmp_path, ALLOWED_REFERENCE_NAMESPACES="default, kube-public")
    foreign = [{"name": "none-such", "namespace": namespace} for namespace in ("kube-public", "kube-system")]
    for number, reference in enumerate(foreign):
        extra = [{"kind": "ConfigMap", **reference}]
        live.create(small_cluster.resource(f"c{number}", small_cluster.spec(extraCommonConfig=extra)))
        auth = {"type": "basic-auth", "secretRef": reference}
        ingestion = {"type": "sql", "nativeSpec": {"query": "REPLACE INTO a OVERWRITE ALL SELECT 1 PARTITIONED BY ALL"}}
        spec = {"endpoint": {"url": "http://127.0.0.1:1"}, "auth": auth, "ingestion": ingestion}
        live.create({"kind": "DruidIngestion", "metadata": {"name": f"i{number}"}, "spec": spec})

    def reasons(kind: str, name: str) -> list[str]:
        found = live.get(kind, name).get("status", {}).get("conditions", [])
        return [each["reason"] for each in found if each["type"] == "Degraded"]

    eventually(lambda: reasons("DruidIngestion", "i0") == ["SecretNotFound"])
    eventually(lambda: reasons("DruidIngestion", "i1") == ["RefNotPermitted"])
    eventually(lambda: reasons("Druid", "c0") == ["ReferenceNotFound"])
    eventually(lambda: reasons("Druid", "c1") == ["RefNotPermitted"])


def test_an_address_cannot_lead_to_the_pod_of_the_operator(
    operator: StartOperator, live: NamespaceClient, tmp_path: Path
) -> None:
    """There is ansible-operator's proxy, with the operator's permissions: its responses must not be in a condition."""
    started = start(operator, live, tmp_path, ALLOW_OWN_HOST="")
    ingestion = {"type": "sql", "nativeSpec": {"query": "REPLACE INTO a OVERWRITE ALL SELECT 1 PARTITIONED BY ALL"}}
    spec = {"endpoint": {"url": started.program.proxy_url}, "ingestion": ingestion}
    live.create({"kind": "DruidIngestion", "metadata": {"name": NAME}, "spec": spec})

    def degraded() -> dict[str, str]:
        found = live.get("DruidIngestion", NAME).get("status", {}).get("conditions", [])
        return next((each for each in found if each["type"] == "Degraded"), {})

    eventually(lambda: degraded().get("reason") == "DruidUnreachable")
    assert "is an address of the host where this task runs" in degraded()["message"]


@campaign("strings in every field of a resource, with the operator of the image")
def test_text_of_a_resource_is_never_evaluated(started: DruidOperator, live: NamespaceClient, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    evil = "{{ lookup('ansible.builtin.pipe', 'touch %s') }}" % marker  # noqa: UP031 - braces
    resource = small_cluster.resource(NAME)
    resource["metadata"]["annotations"] = {"note": evil}
    resource["spec"]["nodes"]["brokers"]["runtime.properties"] = evil
    live.create(resource)

    started.wait_until_ready(NAME)

    written = live.get("ConfigMap", f"{BROKERS}-config")["data"]["runtime.properties"]
    assert written.splitlines()[-1] == evil
    assert not marker.exists()
