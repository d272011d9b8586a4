# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One of two Historicals in real pods is decommissioned: its segments are moved, and no query notices."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import druid_in_pods, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.continuous_queries import querying
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.playbook import Run
from testbed.api import Api, ApiError
from testbed.control_plane import ControlPlane
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

DAYS = 12
QUERY = {"query": "SELECT COUNT(*) AS visits FROM visits"}
OTHER = "192.0.2.9:8083"
CONFIG = "/druid/coordinator/v1/config"
WORKLOAD = f"druid-{real_cluster.NAME}-historicals"


def resource() -> dict[str, Any]:
    """Two Historicals, which are decommissioned before their number decreases."""
    cluster = real_cluster.resource()
    cluster["spec"]["nodes"]["historicals"]["replicas"] = 2
    cluster["spec"]["historicalDecommissionStrategy"] = {"decommissionTimeout": "10m"}
    return cluster


def batch() -> dict[str, Any]:
    """A task that ingests a row, and makes a segment, for each day."""
    rows = [{"time": f"2026-01-{day:02}T00:00:00Z", "page": "start"} for day in range(1, DAYS + 1)]
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": "visits",
                "timestampSpec": {"column": "time", "format": "iso"},
                "dimensionsSpec": {"dimensions": ["page"]},
                "granularitySpec": {"segmentGranularity": "day", "rollup": False},
            },
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "inline", "data": "\n".join(map(json.dumps, rows))},
                "inputFormat": {"type": "json"},
            },
        },
    }


def router(live: NamespaceClient) -> str:
    """The address of the router's pod: the name of its Service is known inside of Kubernetes only."""
    (pod,) = (pod for pod in live.list("Pod") if "routers" in pod["metadata"]["name"])
    return f"http://{pod['status']['podIP']}:8888"


def sizes(druid: Api) -> dict[str, int]:
    """The bytes that each Historical has."""
    servers = druid.request("GET", "/druid/coordinator/v1/servers?simple")
    return {each["host"]: each["currSize"] for each in servers if each["type"] == "historical"}


def listed(druid: Api) -> list[str]:
    """The Historicals that Druid decommissions."""
    names: list[str] = druid.request("GET", CONFIG)["decommissioningNodes"]
    return sorted(names)


def count(druid: Api) -> Any:
    """The answer to the query."""
    return druid.request("POST", "/druid/v2/sql", QUERY)


def is_whole(found: Any) -> bool:
    """Whether a query has found each row."""
    return bool(found == [{"visits": DAYS}])


def has_all(druid: Api) -> bool:
    """Whether a query finds each row; the datasource is unknown at first."""
    with suppress(ApiError):
        return is_whole(count(druid))
    return False


def ingest(druid: Api) -> None:
    """Create the segments, each of which one Historical has."""
    rule = {"type": "loadForever", "tieredReplicants": {"_default_tier": 1}}
    druid.request("POST", "/druid/coordinator/v1/rules/_default", [rule])
    task = druid.request("POST", "/druid/indexer/v1/task", batch())["task"]
    path = f"/druid/indexer/v1/task/{task}/status"
    eventually(lambda: druid.request("GET", path)["status"]["statusCode"] == "SUCCESS")
    eventually(lambda: has_all(druid) and all(sizes(druid).values()))


@campaign("the decisions about the same histories, and their requests to a server that answers as Druid does")
def test_moves_the_segments_before_the_pod_stops(
    control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with new_namespace(control_plane) as namespace:
        live = NamespaceClient(control_plane, namespace)
        ansible, _created = druid_in_pods.created(live, tmp_path_factory.mktemp("playbooks"), resource())
        address = router(live)
        druid = Api(address)
        ingest(druid)
        druid.request("POST", CONFIG, {"decommissioningNodes": [OTHER]})
        before = sizes(druid)
        with querying(partial(count, druid), is_whole) as answers:
            scale_down(live, partial(ansible.cluster, real_cluster.NAME, url=address), druid)
        assert answers.problems == []
        assert answers.number["right"] > 100
        print(answers.number)
        (size,) = sizes(druid).values()
        assert size == sum(before.values())
        scale_down_with_replicas(live, partial(ansible.cluster, real_cluster.NAME, url=address), druid)
        ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


def specify(live: NamespaceClient, replicas: int) -> None:
    """Change the number of Historicals."""
    live.merge("Druid", real_cluster.NAME, {"spec": {"nodes": {"historicals": {"replicas": replicas}}}})


def is_recorded(live: NamespaceClient) -> bool:
    """Whether the status or the StatefulSet still has a record."""
    annotations = live.get("StatefulSet", WORKLOAD)["metadata"].get("annotations") or {}
    status = live.get("Druid", real_cluster.NAME)["status"]
    return "druid.apache.org/decommission" in annotations or "historicalDecommission" in status


def scale_down(live: NamespaceClient, reconciled: Callable[..., Run], druid: Api) -> None:
    """From two Historicals to one, by runs that know nothing of each other, and one that waits."""
    specify(live, 1)
    planned = reconciled("--check", "--diff")
    assert "to decommissioningNodes in Druid" in planned.output
    assert f"later: update StatefulSet {WORKLOAD}" in planned.output
    assert listed(druid) == [OTHER]

    # The record first, then Druid.
    reconciled()
    (entry,) = live.get("Druid", real_cluster.NAME)["status"]["historicalDecommission"]
    assert (entry["pod"], listed(druid)) == (f"{WORKLOAD}-1", [OTHER])
    reconciled()
    assert listed(druid) == sorted([OTHER, entry["server"]])
    assert live.get("StatefulSet", WORKLOAD)["spec"]["replicas"] == 2

    # The change is taken back, and then repeated.
    specify(live, 2)
    reconciled()
    assert listed(druid) == [OTHER]
    specify(live, 1)

    waited = reconciled(wait=True, wait_sleep=1, wait_timeout=300)
    print(planned.output, waited.output)
    assert f"{WORKLOAD}-1 (nothing to move since" in waited.output
    resource = live.get("Druid", real_cluster.NAME)
    assert condition(resource, "Ready")["reason"] == "AllPodsReady"
    (entry,) = resource["status"]["historicalDecommission"]
    assert "unlistedSince" in entry
    assert listed(druid) == [OTHER]
    assert eventually(lambda: len(sizes(druid)) == 1)
    reasons = {each["reason"] for each in live.list("Event")}
    assert reasons >= {"HistoricalDecommissioning", "HistoricalDecommissioned"}
    assert not reconciled().changed
    eventually(lambda: reconciled() and not is_recorded(live))
    assert listed(druid) == [OTHER]
    assert not reconciled().changed


def scale_down_with_replicas(live: NamespaceClient, reconciled: Callable[..., Run], druid: Api) -> None:
    """With the default rule, each of two Historicals has all segments, and Druid can move none."""
    rule = {"type": "loadForever", "tieredReplicants": {"_default_tier": 2}}
    druid.request("POST", "/druid/coordinator/v1/rules/_default", [rule])
    specify(live, 2)
    reconciled(wait=True, wait_sleep=1, wait_timeout=300)
    (size,) = {
        *eventually(lambda: len({*sizes(druid).values()}) == 1 and len(sizes(druid)) == 2 and sizes(druid)).values()
    }
    assert size
    specify(live, 1)
    waited = reconciled(wait=True, wait_sleep=1, wait_timeout=300)
    print(waited.output)
    assert f"{WORKLOAD}-1 (nothing to move since" in waited.output
    assert condition(live.get("Druid", real_cluster.NAME), "Ready")["reason"] == "AllPodsReady"
    assert listed(druid) == [OTHER]
    assert is_whole(count(druid))
