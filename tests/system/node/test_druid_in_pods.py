# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Druid in real pods, from a sample of this collection, as a user creates it with the playbook."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import druid_in_pods, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.continuous_queries import Answers, querying
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible
from testbed.api import Api, ApiError
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import new_namespace

# All examine the same Druid, and the node has not the room for two.
pytestmark = pytest.mark.xdist_group("node")

COORDINATOR_CONFIG = "/druid/coordinator/v1/config"
ROWS = [{"time": f"2026-01-01T00:00:0{second}Z", "page": page} for second, page in enumerate("aabbb")]

DRAINS = "drains of simulated pods, and the workers of a real Druid in the playbook rolling_restart"


def batch(datasource: str) -> dict[str, Any]:
    """A task that ingests the rows."""
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": datasource,
                "timestampSpec": {"column": "time", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["page"]},
                "granularitySpec": {"segmentGranularity": "day", "rollup": False},
            },
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "inline", "data": "\n".join(map(json.dumps, ROWS))},
                "inputFormat": {"type": "json"},
            },
        },
    }


@dataclass(frozen=True)
class Running:
    """A Druid in pods, as the playbook created it."""

    ansible: Ansible
    live: NamespaceClient
    authorization: str | None = None

    @property
    def address(self) -> str:
        """The URL of the router's pod."""
        (pod,) = (pod for pod in self.live.list("Pod") if "routers" in pod["metadata"]["name"] and is_ready(pod))
        return f"http://{pod['status']['podIP']}:8888"

    @property
    def router(self) -> Api:
        """A client of the router, at the address of its pod."""
        return Api(self.address, authorization=self.authorization)

    def answer(self, query: str) -> Any:
        """The answer to a query, None as long as there is none."""
        with suppress(ApiError):
            return self.router.request("POST", "/druid/v2/sql", {"query": query})

    def reconciled(self, url: str | None = None) -> dict[str, Any]:
        """The resource after a run of the playbook; `url` is the address of its Druid outside of the pods."""
        self.ansible.cluster(real_cluster.NAME, url=url)
        return self.live.get("Druid", real_cluster.NAME)


def is_ready(pod: dict[str, Any]) -> bool:
    """Whether the pod is ready."""
    return condition(pod, "Ready")["status"] == "True"


@pytest.fixture(scope="module")
def running(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Druid whose pods are ready."""
    with new_namespace(control_plane) as namespace:
        live = NamespaceClient(control_plane, namespace)
        directory = tmp_path_factory.mktemp("playbooks")
        ansible, created = druid_in_pods.created(live, directory, real_cluster.resource())
        assert "5/5 pods ready" in created.output
        yield Running(ansible, live)
        ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


@pytest.fixture(scope="module")
def with_rows(running: Running) -> Running:
    """A Druid with the rows in the datasource pages."""
    druid = running.router
    task = druid.request("POST", "/druid/indexer/v1/task", batch("pages"))["task"]
    status = f"/druid/indexer/v1/task/{task}/status"
    state = eventually(lambda: ended(druid.request("GET", status)["status"]))
    assert state["statusCode"] == "SUCCESS", state["errorMsg"]
    return running


def test_ingests_rows_and_answers_a_query(with_rows: Running) -> None:
    query = 'SELECT page, COUNT(*) AS "rows" FROM pages GROUP BY 1 ORDER BY 1'
    assert eventually(lambda: with_rows.answer(query)) == [{"page": "a", "rows": 2}, {"page": "b", "rows": 3}]


def test_the_next_group_restarts_when_the_segments_are_loaded_again(
    with_rows: Running, record_property: Callable[[str, object], None]
) -> None:
    """The segment cache of a Historical is empty after a restart. Meanwhile, a client sends queries."""
    druid = with_rows.router
    with counting(with_rows) as answers:
        eventually(lambda: answers.are_right)
        druid.request("POST", COORDINATOR_CONFIG, {"pauseCoordination": True})
        change_properties(with_rows, "historicals", "brokers")
        broker = uid_of(with_rows, "brokers")
        waiting = eventually(
            lambda: (with_rows.reconciled(with_rows.address)["status"].get("rollout") or {}).get("waitingFor")
        )
        assert "datasource pages has 1 unavailable segment" in waiting
        assert uid_of(with_rows, "brokers") == broker
        assert not answers.are_right
        druid.request("POST", COORDINATOR_CONFIG, {"pauseCoordination": False})
        eventually(
            lambda: with_rows.reconciled(with_rows.address)["status"].get("rollout", {}).get("group") == "brokers"
        )
        assert [each["currSize"] > 0 for each in historicals(druid)] == [True]
        eventually(lambda: is_settled(with_rows))
        assert uid_of(with_rows, "brokers") != broker
        eventually(lambda: answers.are_right)
    record_property(
        "measurement", f"queries during a restart of the only Historical and Broker: {dict(answers.number)}"
    )
    # No segment was loaded until the pause ended, then each query was answered until the only Broker restarted.
    assert answers.runs[:3] == [True, False, True]


@campaign("one of each: the Broker restarts when the segments are loaded again")
def test_queries_do_not_fail_with_two_of_each(
    with_rows: Running, record_property: Callable[[str, object], None]
) -> None:
    """Each pod is available some seconds before the next one restarts: so long does Druid need to use it."""
    pause = {"replicas": 2, "minReadySeconds": 15}
    set_nodes(with_rows, historicals=pause, brokers=pause)
    eventually(lambda: is_settled(with_rows))
    druid = with_rows.router
    eventually(lambda: [each["currSize"] > 0 for each in historicals(druid)] == [True, True])
    with counting(with_rows) as answers:
        eventually(lambda: answers.are_right)
        answers.number.clear()
        answers.runs.clear()
        change_properties(with_rows, "historicals", "brokers")
        eventually(lambda: (with_rows.reconciled(with_rows.address)["status"].get("rollout") or {}).get("group"))
        eventually(lambda: is_settled(with_rows), timeout=300)
    record_property("measurement", f"queries during a restart of two Historicals and Brokers: {dict(answers.number)}")
    set_nodes(
        with_rows, historicals={"replicas": 1, "minReadySeconds": 0}, brokers={"replicas": 1, "minReadySeconds": 0}
    )
    eventually(lambda: is_settled(with_rows))
    assert answers.runs == [True]


def test_reports_an_image_that_does_not_exist_while_the_old_pod_serves(running: Running) -> None:
    change_image(running, "localhost/druid:none")
    message = eventually(lambda: failure(running.reconciled()))
    assert "routers" in message
    assert "localhost/druid:none" in message
    assert running.answer('SELECT 1 AS "one"') == [{"one": 1}]
    change_image(running, None)
    eventually(lambda: condition(running.reconciled(), "Ready")["status"] == "True")


@campaign(DRAINS)
def test_drains_an_indexer_before_its_pod_is_replaced(running: Running) -> None:
    druid, replaced = running.router, uid_of(running, "indexers")
    # Otherwise the drain may begin when the task has ended.
    eventually(lambda: is_settled(running))
    task = druid.request("POST", "/druid/indexer/v1/task", {"type": "noop", "runTime": 40_000})["task"]
    eventually(lambda: task in worker(druid)["runningTasks"])
    running.live.merge("Druid", real_cluster.NAME, {"spec": {"middleManagerDrainStrategy": {}}})
    change_properties(running, "indexers")
    drain = eventually(lambda: drain_of(running, task))
    assert (drain["phase"], drain["podName"]) == ("Draining", "druid-one-node-indexers-0")
    assert (is_enabled(worker(druid)), uid_of(running, "indexers")) == (False, replaced)
    eventually(lambda: condition(running.reconciled(running.address), "Ready")["status"] == "True")
    ended_with = druid.request("GET", f"/druid/indexer/v1/task/{task}/status")["status"]
    assert ended_with["statusCode"] == "SUCCESS", ended_with
    assert uid_of(running, "indexers") != replaced
    assert is_enabled(worker(druid))
    assert "middleManagerDrain" not in running.live.get("Druid", real_cluster.NAME)["status"]
    workload = running.live.get("StatefulSet", "druid-one-node-indexers")
    assert "druid.apache.org/drain" not in workload["metadata"].get("annotations", {})
    assert workload["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == 0


@campaign(DRAINS)
def test_drains_an_indexer_before_it_is_removed(running: Running) -> None:
    druid = running.router
    indexers = {"spec": {"middleManagerDrainStrategy": {}, "nodes": {"indexers": {"replicas": 2}}}}
    running.live.merge("Druid", real_cluster.NAME, indexers)
    eventually(lambda: condition(running.reconciled(running.address), "Ready")["status"] == "True")
    eventually(lambda: len(druid.request("GET", "/druid/indexer/v1/workers")) == 2)
    noop = {"type": "noop", "runTime": 40_000}
    tasks = [druid.request("POST", "/druid/indexer/v1/task", noop)["task"] for _each in range(2)]
    running.live.merge("Druid", real_cluster.NAME, {"spec": {"nodes": {"indexers": {"replicas": 1}}}})
    drain = eventually(lambda: drain_of(running, ""))
    assert drain["podName"] == "druid-one-node-indexers-1"
    eventually(lambda: any(task in (drain_of(running, "") or {}).get("message", "") for task in tasks))
    assert running.live.get("StatefulSet", "druid-one-node-indexers")["spec"]["replicas"] == 2
    running.live.merge("Druid", real_cluster.NAME, indexers)
    eventually(lambda: condition(running.reconciled(running.address), "Ready")["status"] == "True")
    assert [is_enabled(each) for each in druid.request("GET", "/druid/indexer/v1/workers")] == [True, True]
    running.live.merge("Druid", real_cluster.NAME, {"spec": {"nodes": {"indexers": {"replicas": 1}}}})
    eventually(lambda: condition(running.reconciled(running.address), "Ready")["status"] == "True")
    states = [druid.request("GET", f"/druid/indexer/v1/task/{task}/status")["status"] for task in tasks]
    # The other worker may still run its task.
    assert {each["statusCode"] for each in states} <= {"SUCCESS", "RUNNING"}, states
    assert len([pod for pod in running.live.list("Pod") if "-indexers-" in pod["metadata"]["name"]]) == 1
    assert "middleManagerDrain" not in running.live.get("Druid", real_cluster.NAME)["status"]


def drain_of(running: Running, task: str) -> dict[str, Any] | None:
    """The progress of the drain that waits for the task, after a reconcile."""
    found: dict[str, Any] = running.reconciled(running.address)["status"].get("middleManagerDrain") or {}
    return found if found and task in found["message"] else None


def worker(druid: Api) -> dict[str, Any]:
    """The only worker, as the Overlord knows it."""
    (found,) = druid.request("GET", "/druid/indexer/v1/workers")
    return dict(found)


def is_enabled(found: dict[str, Any]) -> bool:
    """Whether the worker gets tasks: the version of a disabled one is empty."""
    return found["worker"]["version"] != ""


def counting(running: Running) -> AbstractContextManager[Answers]:
    """Count the rows continuously."""
    query = {"query": 'SELECT COUNT(*) AS "rows" FROM pages'}
    return querying(
        lambda: running.router.request("POST", "/druid/v2/sql", query),
        lambda found: bool(found == [{"rows": len(ROWS)}]),
    )


def set_nodes(running: Running, **fields: dict[str, Any]) -> None:
    """Change fields of groups."""
    running.live.merge("Druid", real_cluster.NAME, {"spec": {"nodes": fields}})


def is_settled(running: Running) -> bool:
    """Whether the cluster is ready after a run of the playbook."""
    return bool(condition(running.reconciled(running.address), "Ready")["status"] == "True")


def change_properties(running: Running, *groups: str) -> None:
    """Change the configuration of the groups, so that they restart."""
    nodes = running.live.get("Druid", real_cluster.NAME)["spec"]["nodes"]
    changed = {key: {"runtime.properties": f"{nodes[key]['runtime.properties']}# changed\n"} for key in groups}
    set_nodes(running, **changed)


def uid_of(running: Running, group: str) -> str:
    """The uid of the group's only pod."""
    (pod,) = (pod for pod in running.live.list("Pod") if f"-{group}-" in pod["metadata"]["name"])
    return str(pod["metadata"]["uid"])


def historicals(druid: Api) -> list[dict[str, Any]]:
    """The Historicals, as the Coordinator knows them."""
    servers = druid.request("GET", "/druid/coordinator/v1/servers?simple")
    return [each for each in servers if each["type"] == "historical"]


def change_image(running: Running, image: str | None) -> None:
    """Change the image of the routers."""
    running.live.merge("Druid", real_cluster.NAME, {"spec": {"nodes": {"routers": {"image": image}}}})


def ended(status: dict[str, Any]) -> dict[str, Any] | None:
    """The status of a task that has ended."""
    return status if status["statusCode"] != "RUNNING" else None


def failure(resource: dict[str, Any]) -> str | None:
    """The message about pods that fail."""
    degraded = condition(resource, "Degraded")
    return str(degraded["message"]) if degraded["reason"] == "PodsFailing" else None
