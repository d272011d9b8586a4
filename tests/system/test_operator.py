# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator keeps the clusters of its watches.yaml: by the installed collection, on a real API server."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system import small_cluster
from ansible_collections.druidops.druid.tests.system.live import Live, Manifest, condition
from ansible_collections.druidops.druid.tests.system.waiting import eventually
from testbed.audit import Mark
from testbed.control_plane import ControlPlane
from testbed.operator.started import Operator
from testbed.operator_plugin import StartOperator

COLLECTION = Path(__file__).parents[2]
INSTALLED = Path(os.environ.get("DRUIDOPS_INSTALLED", "."))
NAME = "c"


def watches() -> list[dict[str, Any]]:
    """Return the entries of watches.yaml, their playbooks those of the installed collection."""
    entries: list[dict[str, Any]] = yaml.safe_load((COLLECTION / "watches.yaml").read_text(encoding="utf-8"))
    root = INSTALLED / "ansible_collections" / "druidops" / "druid"
    for entry in entries:
        for runs in (entry, entry["finalizer"]):
            runs["playbook"] = str(root / runs["playbook"])
    return entries


@pytest.fixture
def started(operator: StartOperator, control_plane: ControlPlane, namespace: str) -> Operator:
    return start(operator, control_plane, namespace)


def start(operator: StartOperator, plane: ControlPlane, namespace: str, **environment: str) -> Operator:
    collections = f"{INSTALLED}:{os.environ['DRUIDOPS_KUBERNETES_CORE_NEWEST']}"
    settings = {
        "ANSIBLE_COLLECTIONS_PATH": collections,
        "DRUIDOPS_KUBECONFIG": str(plane.kubeconfig("druidops")),
        "RECONCILE_WAIT": "1h",
        **environment,
    }
    return operator(watches(), namespaces=[namespace], environment=settings)


def ready(live: Live, name: str = NAME) -> bool:
    return is_true(live, name, "Ready")


def is_true(live: Live, name: str, kind: str) -> bool:
    resource = live.get("Druid", name)
    return bool(resource.get("status")) and condition(resource, kind)["status"] == "True"


def settled(operator: Operator, live: Live) -> Mark:
    """Return where the audit log ends when the cluster is ready, no run is under way and none is to come soon."""
    eventually(lambda: ready(live))

    def no_more_runs() -> bool:
        """True when a run that had nothing to ask of the API server was the last one."""
        mark = live.mark()
        before = len(operator.runs_of(NAME))
        touch(live)
        operator.wait_for("a run", lambda: all(run.end for run in operator.runs) and len(operator.runs) > before)
        return not live.requests(mark)

    eventually(no_more_runs)
    return live.mark()


def touch(live: Live) -> Manifest:
    """Have the operator run: it watches annotations."""
    return live.merge("Druid", NAME, {"metadata": {"annotations": {"touched": secrets.token_hex(4)}}})


def test_makes_a_cluster_and_then_asks_the_api_server_nothing(started: Operator, live: Live) -> None:
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))

    mark = settled(started, live)
    before = len(started.runs_of(NAME))
    touch(live)
    started.wait_for_runs(NAME, before + 1)

    assert live.requests(mark) == []
    one_for_each_run = [("get", "druids")]
    eventually(lambda: requests_of_the_operator(live, mark) == one_for_each_run * (len(started.runs_of(NAME)) - before))


def requests_of_the_operator(live: Live, since: Mark) -> list[tuple[str, str]]:
    """Return verb and resource of what ansible-operator itself has asked the API server, its watches left out."""
    return [(each.verb, each.resource) for each in live.requests(since, "operator") if each.verb != "watch"]


def test_logs_a_line_for_each_run(
    operator: StartOperator, control_plane: ControlPlane, live: Live, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    started = start(operator, control_plane, live.namespace, DRUIDOPS_LOG=str(log))
    live.create(small_cluster.resource(NAME))
    settled(started, live)

    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    assert len(lines) == len(started.runs)
    assert {(line["kind"], line["namespace"], line["name"]) for line in lines} == {("Druid", live.namespace, NAME)}
    assert f"create StatefulSet druid-{NAME}-brokers" in lines[0]["done"]
    assert (lines[-1]["done"], lines[-1]["ready"], lines[-1]["generation"]) == ([], "True", 1)
    assert "druid.number=1" not in log.read_text(encoding="utf-8")


def test_a_change_is_carried_out(started: Operator, live: Live) -> None:
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
    eventually(lambda: ready(live))

    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 2}}}})

    eventually(lambda: live.get("StatefulSet", f"druid-{NAME}-brokers")["status"].get("readyReplicas") == 2)
    eventually(lambda: live.get("Druid", NAME)["status"]["nodes"] == "3/3")


@pytest.mark.parametrize("restarted", [False, True], ids=["watched since it was made", "after a restart"])
def test_what_is_deleted_or_edited_by_hand_comes_back(started: Operator, live: Live, restarted: bool) -> None:
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
    settled(started, live)
    if restarted:
        started.stop()
        started.start()
        started.wait_for("a run", lambda: all(run.end for run in started.runs))
        settled(started, live)

    live.delete("Service", f"druid-{NAME}-brokers")
    eventually(lambda: live.find("Service", f"druid-{NAME}-brokers") is not None)
    live.merge("PodDisruptionBudget", f"druid-{NAME}-brokers", {"spec": {"maxUnavailable": 7}})
    eventually(lambda: live.get("PodDisruptionBudget", f"druid-{NAME}-brokers")["spec"]["maxUnavailable"] == 1)


def test_a_deleted_cluster_goes_with_its_claims(started: Operator, live: Live) -> None:
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
    eventually(lambda: ready(live))
    assert live.names("PersistentVolumeClaim")

    live.delete("Druid", NAME)

    eventually(lambda: live.find("Druid", NAME) is None)
    eventually(lambda: live.made() == set())


def test_an_ignored_cluster_says_so_and_is_left_alone(started: Operator, live: Live) -> None:
    resource = small_cluster.resource(NAME)
    resource["metadata"]["annotations"] = {"druid.apache.org/ignored": "true"}
    live.create(resource)

    eventually(lambda: is_true(live, NAME, "Paused"))
    assert live.made() == set()
    assert condition(live.get("Druid", NAME), "Paused")["reason"] == "Ignored"

    live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/ignored": None}}})
    eventually(lambda: ready(live))


def test_what_is_in_the_way_is_in_the_conditions_and_looked_at_again(started: Operator, live: Live) -> None:
    live.create({"kind": "ConfigMap", "metadata": {"name": f"druid-{NAME}-brokers-config"}})
    live.create(small_cluster.resource(NAME))

    eventually(lambda: is_true(live, NAME, "Degraded"))
    assert all(run.status == 0 for run in started.wait_for_runs(NAME, 2) if run.end)

    live.delete("ConfigMap", f"druid-{NAME}-brokers-config")
    eventually(lambda: ready(live))


def test_a_denied_namespace_is_left_alone(operator: StartOperator, control_plane: ControlPlane, live: Live) -> None:
    started = start(operator, control_plane, live.namespace, DENY_LIST=f"default, {live.namespace}")
    live.create(small_cluster.resource(NAME))

    assert all(run.status == 0 for run in started.wait_for_runs(NAME, 1))

    assert "status" not in live.get("Druid", NAME)
    assert live.made() == set()


def test_text_of_a_resource_runs_nowhere(started: Operator, live: Live, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    evil = "{{ lookup('ansible.builtin.pipe', 'touch %s') }}" % marker  # noqa: UP031 - braces
    resource = small_cluster.resource(NAME)
    resource["metadata"]["annotations"] = {"note": evil}
    resource["spec"]["nodes"]["brokers"]["runtime.properties"] = evil
    live.create(resource)

    eventually(lambda: ready(live))

    written = live.get("ConfigMap", f"druid-{NAME}-brokers-config")["data"]["runtime.properties"]
    assert written.splitlines()[-1] == evil
    assert not marker.exists()
