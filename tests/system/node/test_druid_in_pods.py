# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Druid in real pods, from a sample of this collection, as a user creates it with the playbook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import real_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from testbed.api import Api, ApiError
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import new_namespace

# All examine the same Druid, and the node has not the room for two.
pytestmark = pytest.mark.xdist_group("node")

ROWS = [{"time": f"2026-01-01T00:00:0{second}Z", "page": page} for second, page in enumerate("aabbb")]


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

    @property
    def router(self) -> Api:
        """A client of the router, at the address of its pod."""
        (pod,) = (pod for pod in self.live.list("Pod") if "routers" in pod["metadata"]["name"] and is_ready(pod))
        return Api(f"http://{pod['status']['podIP']}:8888")

    def answer(self, query: str) -> Any:
        """The answer to a query, None as long as there is none."""
        with suppress(ApiError):
            return self.router.request("POST", "/druid/v2/sql", {"query": query})

    def reconciled(self) -> dict[str, Any]:
        """The resource after a run of the playbook."""
        self.ansible.cluster(real_cluster.NAME)
        return self.live.get("Druid", real_cluster.NAME)


def is_ready(pod: dict[str, Any]) -> bool:
    """Whether the pod is ready."""
    return condition(pod, "Ready")["status"] == "True"


@pytest.fixture(scope="module")
def running(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Druid whose pods are ready."""
    with new_namespace(control_plane) as namespace:
        live = NamespaceClient(control_plane, namespace)
        for manifest in real_cluster.services():
            live.create(manifest)
        ansible = Ansible(CORES["2.19"], control_plane, namespace, tmp_path_factory.mktemp("playbooks"))
        created = ansible.cluster(resource=real_cluster.resource(), wait=True, wait_sleep=1, wait_timeout=600)
        assert "5/5 pods ready" in created.output
        yield Running(ansible, live)
        ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


def test_ingests_rows_and_answers_a_query(running: Running) -> None:
    druid = running.router
    task = druid.request("POST", "/druid/indexer/v1/task", batch("pages"))["task"]
    status = f"/druid/indexer/v1/task/{task}/status"
    state = eventually(lambda: ended(druid.request("GET", status)["status"]))
    assert state["statusCode"] == "SUCCESS", state["errorMsg"]
    query = 'SELECT page, COUNT(*) AS "rows" FROM pages GROUP BY 1 ORDER BY 1'
    assert eventually(lambda: running.answer(query)) == [{"page": "a", "rows": 2}, {"page": "b", "rows": 3}]


def test_reports_an_image_that_does_not_exist_while_the_old_pod_serves(running: Running) -> None:
    change_image(running, "localhost/druid:none")
    message = eventually(lambda: failure(running.reconciled()))
    assert "routers" in message
    assert "localhost/druid:none" in message
    assert running.answer('SELECT 1 AS "one"') == [{"one": 1}]
    change_image(running, None)
    eventually(lambda: condition(running.reconciled(), "Ready")["status"] == "True")


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
