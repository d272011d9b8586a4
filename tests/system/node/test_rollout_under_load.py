# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A rollout of a Druid in real pods that ingests from Kafka, and that an application queries all the time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import kafka_in_pod, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.continuous_queries import querying
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from testbed.api import Api, ApiError
from testbed.control_plane import ControlPlane
from testbed.druid.kafka import Kafka
from testbed.druid.versions import KAFKA
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

TOPIC = "rows"
COUNT = f'SELECT COUNT(*) AS "rows", SUM("number") AS "total" FROM "{TOPIC}"'
ROUTERS = f"druid-{real_cluster.NAME}-routers"
# The only Coordinator has the metadata in its own pod.
PAIRS = ("brokers", "historicals", "indexers", "routers")
# A server serves on for so long after it has said that it goes.
LEAVES_SLOWLY = "druid.server.http.unannouncePropagationDelay=PT5S"


def resource() -> dict[str, Any]:
    """The cluster, with two of each server that answers queries."""
    cluster = real_cluster.resource()
    spec = cluster["spec"]
    common = spec["common.runtime.properties"].replace("loadList=[]", f'loadList=["{KAFKA}"]')
    spec |= {"common.runtime.properties": f"{common}\n{LEAVES_SLOWLY}\n", "middleManagerDrainStrategy": {}}
    for name, node in spec["nodes"].items():
        node["replicas"] = 2 if name in PAIRS else 1
        # a small machine has room for all of them, and for one more router
        node["resources"]["requests"]["cpu"] = "10m"
    return cluster


def supervisor(kafka: Kafka) -> dict[str, Any]:
    """What two tasks on two workers read at the same time."""
    return {
        "type": "kafka",
        "spec": {
            "dataSchema": {
                "dataSource": TOPIC,
                "timestampSpec": {"column": "ts", "format": "iso"},
                "dimensionsSpec": {"dimensions": [{"type": "long", "name": "number"}]},
                "granularitySpec": {"segmentGranularity": "day", "rollup": False},
            },
            "ioConfig": {
                "topic": TOPIC,
                "inputFormat": {"type": "json"},
                "consumerProperties": {"bootstrap.servers": kafka.address},
                "useEarliestOffset": True,
                "replicas": 2,
                "taskDuration": "PT10M",
                "startDelay": "PT0S",
                "period": "PT1S",
            },
            "tuningConfig": {"type": "kafka"},
        },
    }


class Numbered:
    """Rows with the numbers 0, 1, 2, ..., some each second."""

    def __init__(self, kafka: Kafka) -> None:
        self._kafka = kafka
        self.produced = 0

    def produce(self, count: int) -> None:
        """Append so many."""
        numbers = range(self.produced, self.produced + count)
        self._kafka.produce(TOPIC, [{"ts": "2026-01-01T00:00:00Z", "number": number} for number in numbers])
        self.produced += count

    @contextmanager
    def continuously(self) -> Iterator[None]:
        """Append more as long as the block runs."""
        ended = threading.Event()

        def run() -> None:
            while not ended.wait(0.5):
                self.produce(5)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    @property
    def summary(self) -> dict[str, int]:
        """What the query returns once each row is there, and once."""
        return {"rows": self.produced, "total": self.produced * (self.produced - 1) // 2}


@pytest.fixture
def live(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    with new_namespace(control_plane) as namespace:
        yield NamespaceClient(control_plane, namespace)


@campaign(
    "the same cluster, with one of each, is queried during a rollout; a worker is drained before its pod is replaced"
)
def test_no_query_fails_and_no_row_is_lost(
    live: NamespaceClient, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    ansible = Ansible(CORES["2.19"], live.plane, live.namespace, tmp_path)
    kafka = kafka_in_pod.start(live)
    kafka.make_topic(TOPIC)
    rows = Numbered(kafka)
    for manifest in real_cluster.services():
        live.create(manifest)
    specified = resource()
    ansible.cluster(resource=specified, wait=True, wait_sleep=1, wait_timeout=900)
    address = f"http://{live.get('Service', ROUTERS)['spec']['clusterIP']}:8888"
    router = Api(address)
    router.request("POST", "/druid/indexer/v1/supervisor", supervisor(kafka))
    rows.produce(10)
    eventually(lambda: answer(router) == rows.summary)
    before = {pod["metadata"]["uid"] for pod in live.list("Pod")}

    specified["spec"]["common.runtime.properties"] += "druid.test.change=1\n"
    with querying(lambda: ask(router), lambda found: bool(found["rows"] >= 10)) as answers, rows.continuously():
        ansible.cluster(resource=specified, url=address, wait=True, wait_sleep=1, wait_timeout=1800)
    eventually(lambda: answer(router) == rows.summary, otherwise=lambda: f"{answer(router)}, not {rows.summary}")
    kept = {pod["metadata"]["name"] for pod in live.list("Pod") if pod["metadata"]["uid"] in before}
    assert kept == {"kafka", "zookeeper-0"}
    record_property("measurement", f"queries during a rollout of {rows.produced} rows: {dict(answers.number)}")
    assert answers.problems == []
    ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


def ask(router: Api) -> dict[str, int]:
    """Number and sum of the rows, as the cluster knows them."""
    (found,) = router.request("POST", "/druid/v2/sql", {"query": COUNT})
    return dict(found)


def answer(router: Api) -> dict[str, int] | None:
    """The same, None as long as there is no answer."""
    with suppress(ApiError, OSError):
        return ask(router)
    return None
