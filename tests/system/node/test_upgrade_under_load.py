# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An upgrade of a Druid in real pods, and the way back, under batches and queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import druid_in_pods, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.continuous_batches import Batches, appended_continuously
from ansible_collections.druidops.druid.tests.system.support.continuous_queries import querying
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import column
from testbed.api import Api, ApiError
from testbed.control_plane import ControlPlane
from testbed.node import images, running
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

OLD, NEW = "27.0.0", "33.0.0"
DATASOURCE = "numbers"
COUNT = f'SELECT COUNT(*) AS "rows" FROM "{DATASOURCE}"'
# The only Coordinator has the metadata in its own pod.
PAIRS = ("brokers", "historicals", "indexers", "routers")
# A server serves on for so long after it has said that it goes.
LEAVES_SLOWLY = "druid.server.http.unannouncePropagationDelay=PT5S"
# When a pod gets its signal to stop, it still receives requests for a moment.
STOPS_LATER = {"preStop": {"exec": {"command": ["sleep", "5"]}}}
# The next pod of the group waits for so long: a new Historical has yet to load its segments.
PAUSE_SECONDS = {"brokers": 15, "historicals": 30}


def resource() -> dict[str, Any]:
    """The cluster, with two of each server that answers queries or runs tasks."""
    cluster = real_cluster.resource()
    spec = cluster["spec"]
    common = f"{spec['common.runtime.properties']}\n{LEAVES_SLOWLY}\n"
    spec |= {"common.runtime.properties": common, "middleManagerDrainStrategy": {}}
    spec["nodes"]["routers"]["lifecycle"] = STOPS_LATER
    for name, node in spec["nodes"].items():
        node |= {"replicas": 2 if name in PAIRS else 1, "minReadySeconds": PAUSE_SECONDS.get(name, 0)}
        # a small machine has room for all of them, and for one more router
        node["resources"]["requests"]["cpu"] = "10m"
    return cluster


@pytest.fixture
def live(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """A namespace of a node that has the images of both releases."""
    running.load(running.machine_of(control_plane.ca_file.parent), images.of_release(OLD))
    with new_namespace(control_plane) as namespace:
        yield NamespaceClient(control_plane, namespace)


@campaign("a rollout of one release, without another image; the order of the groups with simulated pods")
def test_upgrade_and_way_back(
    live: NamespaceClient, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    specified = resource()
    specified["spec"]["image"] = images.druid_image(OLD)
    ansible, _created = druid_in_pods.created(live, tmp_path, specified)
    service = live.get("Service", f"druid-{real_cluster.NAME}-routers")
    url = f"http://{service['spec']['clusterIP']}:8888"
    druid = Queried(Api(url))
    batches = Batches(druid.router.request, DATASOURCE)
    batches.run_one()
    first = batches.rows
    eventually(lambda: numbers(druid) == [*range(first)], otherwise=lambda: f"{batches.problems}")

    for target in (NEW, OLD):
        before = {pod["metadata"]["uid"] for pod in live.list("Pod")}
        specified["spec"]["image"] = images.druid_image(target)
        with querying(lambda: druid.query(COUNT), lambda found: bool(found[0]["rows"] >= first)) as answers:
            with appended_continuously(batches):
                ansible.cluster(resource=specified, url=url, wait=True, wait_sleep=1, wait_timeout=1800)
            eventually(lambda: numbers(druid) == [*range(batches.rows)])
        record_property(
            "measurement", f"queries while Druid becomes {target}: {dict(answers.number)}; {batches.number} batches"
        )
        assert {pod["metadata"]["name"] for pod in live.list("Pod") if pod["metadata"]["uid"] in before} == {
            "zookeeper-0"
        }
        assert druid.router.request("GET", "/status")["version"] == target
        assert (answers.problems, batches.problems) == ([], [])
    ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


class Queried:
    """A Druid without a stream."""

    kafka = None

    def __init__(self, router: Api) -> None:
        self.router = router

    def query(self, sql: str) -> list[dict[str, Any]]:
        """The rows that a query by SQL finds."""
        rows: list[dict[str, Any]] = self.router.request("POST", "/druid/v2/sql", {"query": sql})
        return rows


def numbers(druid: Queried) -> list[int]:
    """What is ingested, in order; there may be no answer yet."""
    with suppress(ApiError, OSError):
        return sorted(map(int, column(druid, DATASOURCE, "number")))
    return []
