# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A rollout of a Druid in real pods that ingests from Kafka, and that an application queries all the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import druid_in_pods, kafka_in_pod, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.continuous_queries import querying
from ansible_collections.druidops.druid.tests.system.support.druid_in_pods import DruidInPods
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.numbered_rows import Rows, produced_continuously
from testbed.api import ApiError
from testbed.control_plane import ControlPlane
from testbed.druid.versions import KAFKA
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

TOPIC = "rows"
COUNT = f'SELECT COUNT(*) AS "rows" FROM "{TOPIC}"'
FIRST_ROWS = 10
# The only Coordinator has the metadata in its own pod.
PAIRS = ("brokers", "historicals", "indexers", "routers")
# A server serves on for so long after it has said that it goes.
LEAVES_SLOWLY = "druid.server.http.unannouncePropagationDelay=PT5S"
# When a pod gets its signal to stop, it still receives requests for a moment.
STOPS_LATER = {"preStop": {"exec": {"command": ["sleep", "5"]}}}
# The next pod of the group waits for so long: a new Historical has yet to load its segments.
PAUSE_SECONDS = {"brokers": 15, "historicals": 30}


def resource() -> dict[str, Any]:
    """The cluster, with two of each server that answers queries."""
    cluster = real_cluster.resource()
    spec = cluster["spec"]
    common = spec["common.runtime.properties"].replace("loadList=[]", f'loadList=["{KAFKA}"]')
    spec |= {"common.runtime.properties": f"{common}\n{LEAVES_SLOWLY}\n", "middleManagerDrainStrategy": {}}
    spec["nodes"]["routers"]["lifecycle"] = STOPS_LATER
    for name, node in spec["nodes"].items():
        node |= {"replicas": 2 if name in PAIRS else 1, "minReadySeconds": PAUSE_SECONDS.get(name, 0)}
        # a small machine has room for all of them, and for one more router
        node["resources"]["requests"]["cpu"] = "10m"
    return cluster


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
    kafka = kafka_in_pod.start(live)
    specified = resource()
    ansible, _created = druid_in_pods.created(live, tmp_path, specified)
    druid = DruidInPods.of(live, kafka)
    rows = Rows(druid, TOPIC)
    # two tasks on two workers read the same at the same time
    spec = kafka_spec(rows, replicas=2, taskDuration="PT10M")
    druid.request("POST", "/druid/indexer/v1/supervisor", {"type": "kafka", **spec})
    rows.produce(FIRST_ROWS)
    eventually(lambda: has_all(rows))
    before = {pod["metadata"]["uid"] for pod in live.list("Pod")}

    specified["spec"]["common.runtime.properties"] += "druid.test.change=1\n"
    with querying(lambda: druid.query(COUNT), lambda found: bool(found[0]["rows"] >= FIRST_ROWS)) as answers:
        with produced_continuously(rows):
            ansible.cluster(resource=specified, url=druid.url, wait=True, wait_sleep=1, wait_timeout=1800)
        eventually(lambda: has_all(rows), otherwise=lambda: f"{len(rows.numbers)} of {rows.produced}")
    kept = {pod["metadata"]["name"] for pod in live.list("Pod") if pod["metadata"]["uid"] in before}
    assert kept == {"kafka", "zookeeper-0"}
    record_property("measurement", f"queries during a rollout of {rows.produced} rows: {dict(answers.number)}")
    assert answers.problems == []
    ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


def has_all(rows: Rows) -> bool:
    """Whether each row is there, and once; there may be no answer yet."""
    with suppress(ApiError, OSError):
        return rows.has_all()
    return False
