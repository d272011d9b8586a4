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
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.druid_operator import DruidOperator, start
from ansible_collections.druidops.druid.tests.system.support.live import Live, condition
from ansible_collections.druidops.druid.tests.system.support.waiting import eventually
from testbed.operator_plugin import StartOperator

NAME = "c"
BROKERS = f"druid-{NAME}-brokers"
RUNNING = small_cluster.spec(replicas=1)


@pytest.fixture
def started(operator: StartOperator, live: Live, tmp_path: Path) -> DruidOperator:
    return start(operator, live, tmp_path)


def test_makes_a_cluster_and_then_asks_the_api_server_nothing(started: DruidOperator, live: Live) -> None:
    live.create(small_cluster.resource(NAME, RUNNING))

    mark = started.wait_until_settled(NAME)
    before = len(started.program.runs)
    started.touch(NAME)
    started.program.wait_for_runs(NAME, before + 1)

    eventually(lambda: started.requests(mark) == [started.look] * (len(started.program.runs) - before))


def test_logs_a_line_for_each_run(operator: StartOperator, live: Live, tmp_path: Path) -> None:
    log = tmp_path / "log"
    started = start(operator, live, tmp_path, DRUIDOPS_LOG=str(log))
    live.create(small_cluster.resource(NAME))
    started.wait_until_settled(NAME)

    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    assert len(lines) == len(started.program.runs)
    assert {(line["kind"], line["namespace"], line["name"]) for line in lines} == {("Druid", live.namespace, NAME)}
    assert f"create StatefulSet {BROKERS}" in lines[0]["done"]
    assert (lines[-1]["done"], lines[-1]["ready"], lines[-1]["generation"]) == ([], "True", 1)
    assert "druid.number=1" not in log.read_text(encoding="utf-8")


def test_a_change_is_carried_out(started: DruidOperator, live: Live) -> None:
    live.create(small_cluster.resource(NAME, RUNNING))
    started.wait_until_ready(NAME)

    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 2}}}})

    eventually(lambda: live.get("StatefulSet", BROKERS)["status"].get("readyReplicas") == 2)
    eventually(lambda: live.get("Druid", NAME)["status"]["nodes"] == "3/3")


@pytest.mark.parametrize("restarted", [False, True], ids=["watched since it was made", "after a restart"])
def test_what_is_deleted_or_edited_by_hand_comes_back(
    started: DruidOperator, live: Live, restarted: bool, record_property: Callable[[str, object], None]
) -> None:
    live.create(small_cluster.resource(NAME, RUNNING))
    started.wait_until_settled(NAME)
    if restarted:
        started.program.stop()
        started.program.start()
        started.wait_until_settled(NAME)

    begin = time.monotonic()
    live.delete("Service", BROKERS)
    eventually(lambda: live.find("Service", BROKERS) is not None)
    record_property("told", f"a deleted Service is back after {time.monotonic() - begin:.1f} s")
    begin = time.monotonic()
    live.merge("PodDisruptionBudget", BROKERS, {"spec": {"maxUnavailable": 7}})
    eventually(lambda: live.get("PodDisruptionBudget", BROKERS)["spec"]["maxUnavailable"] == 1)
    record_property("told", f"an edited PodDisruptionBudget is put right after {time.monotonic() - begin:.1f} s")


@pytest.mark.parametrize("kept", [False, True], ids=["with its claims", "without its claims"])
def test_a_deleted_cluster_goes(started: DruidOperator, live: Live, kept: bool) -> None:
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1, disablePVCDeletionFinalizer=kept)))
    started.wait_until_ready(NAME)
    claims = {("PersistentVolumeClaim", name) for name in live.names("PersistentVolumeClaim")}
    assert claims

    live.delete("Druid", NAME)

    eventually(lambda: live.find("Druid", NAME) is None)
    eventually(lambda: live.made() == (claims if kept else set()))


def test_an_ignored_cluster_says_so_and_is_left_alone(started: DruidOperator, live: Live) -> None:
    resource = small_cluster.resource(NAME)
    resource["metadata"]["annotations"] = {"druid.apache.org/ignored": "true"}
    live.create(resource)

    eventually(lambda: started.is_true(NAME, "Paused"))
    assert live.made() == set()
    assert condition(live.get("Druid", NAME), "Paused")["reason"] == "Ignored"

    live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/ignored": None}}})
    started.wait_until_ready(NAME)


def test_what_is_in_the_way_is_in_the_conditions_and_looked_at_again(started: DruidOperator, live: Live) -> None:
    live.create({"kind": "ConfigMap", "metadata": {"name": f"{BROKERS}-config"}})
    live.create(small_cluster.resource(NAME))

    eventually(lambda: started.is_true(NAME, "Degraded"))
    assert all(run.status == 0 for run in started.program.wait_for_runs(NAME, 2) if run.end)

    live.delete("ConfigMap", f"{BROKERS}-config")
    started.wait_until_ready(NAME)


def test_a_denied_namespace_is_left_alone(operator: StartOperator, live: Live, tmp_path: Path) -> None:
    started = start(operator, live, tmp_path, DENY_LIST=f"default, {live.namespace}")
    live.create(small_cluster.resource(NAME))

    assert all(run.status == 0 for run in started.program.wait_for_runs(NAME, 1))

    assert "status" not in live.get("Druid", NAME)
    assert live.made() == set()


def test_the_administrator_may_allow_other_namespaces(operator: StartOperator, live: Live, tmp_path: Path) -> None:
    start(operator, live, tmp_path, REFERENCE_NAMESPACES="default, kube-public")
    foreign = [{"name": "none-such", "namespace": namespace} for namespace in ("kube-public", "kube-system")]
    for number, reference in enumerate(foreign):
        extra = [{"kind": "ConfigMap", **reference}]
        live.create(small_cluster.resource(f"c{number}", small_cluster.spec(extraCommonConfig=extra)))
        auth = {"type": "basic-auth", "secretRef": reference}
        ingestion = {"type": "sql", "nativeSpec": {"query": "SELECT 1"}}
        spec = {"endpoint": {"url": "http://127.0.0.1:1"}, "auth": auth, "ingestion": ingestion}
        live.create({"kind": "DruidIngestion", "metadata": {"name": f"i{number}"}, "spec": spec})

    def reasons(kind: str, name: str) -> list[str]:
        found = live.get(kind, name).get("status", {}).get("conditions", [])
        return [each["reason"] for each in found if each["type"] == "Degraded"]

    eventually(lambda: reasons("DruidIngestion", "i0") == ["SecretNotFound"])
    eventually(lambda: reasons("DruidIngestion", "i1") == ["ReferenceRefused"])
    eventually(lambda: reasons("Druid", "c0") == ["ReferenceNotFound"])
    eventually(lambda: reasons("Druid", "c1") == ["ReferenceRefused"])


def test_text_of_a_resource_runs_nowhere(started: DruidOperator, live: Live, tmp_path: Path) -> None:
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
