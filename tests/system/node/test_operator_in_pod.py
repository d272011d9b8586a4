# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator in a pod, from its image and with its own permissions, does all of its work once on a Druid in pods."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.node.test_fewer_historicals import (
    WORKLOAD,
    count,
    ingest,
    is_whole,
    listed,
    resource,
    router,
    sizes,
    specify,
)
from ansible_collections.druidops.druid.tests.system.support import operator_in_pod, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.continuous_queries import querying
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.operator_account import FORBIDDEN
from ansible_collections.druidops.druid.tests.system.support.operator_in_pod import ACCOUNT, OperatorInPod
from testbed.api import Api
from testbed.control_plane import ControlPlane
from testbed.operator.started import which_program
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

# As OpenShift chooses them.
USER = 1000730000
INDEXER = f"druid-{real_cluster.NAME}-indexers-0"


@campaign("the operator of the image's layout, in a container, with the permissions of its manifests; simulated pods")
def test_does_all_of_it(
    control_plane: ControlPlane, image_layout: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("measurement", which_program())
    mark = control_plane.audit.mark()
    with (
        new_namespace(control_plane) as namespace,
        operator_in_pod.installed(control_plane, image_layout, tmp_path) as operator,
    ):
        check_container(operator, 1001)
        live = NamespaceClient(control_plane, namespace)
        druid = create(live)
        roll(live)
        drain(live, druid, operator)
        check_container(operator, USER)
        decommission(live, druid)
        delete(live)
        assert {line["level"] for line in operator.log()} <= {"info"}, operator.log()
        assert [pod["status"]["containerStatuses"][0]["restartCount"] for pod in operator.pods] == [0]
        live.mark()
        requests = control_plane.audit.since(mark, ACCOUNT)
    assert len(requests) > 100
    assert [each for each in requests if each.code == FORBIDDEN] == []


def check_container(operator: OperatorInPod, user: int) -> None:
    """The user of the image, or another one; it can write in /tmp only."""
    assert operator.execute("id --user") == str(user)
    assert operator.execute('grep -E "^Cap(Eff|Bnd)" /proc/1/status | cut -f2 | sort -u') == "0" * 16
    assert "Read-only file system" in operator.execute("touch /opt/ansible/new 2>&1 || true")
    assert operator.execute("touch /tmp/new && rm /tmp/new && ls /opt/ansible").split()


def create(live: NamespaceClient) -> Api:
    """Create the cluster, and rows in it."""
    for manifest in real_cluster.services():
        live.create(manifest)
    created = resource()
    created["spec"]["middleManagerDrainStrategy"] = {}
    for node in created["spec"]["nodes"].values():
        node["resources"]["requests"]["cpu"] = "10m"
    live.create(created)
    eventually(lambda: is_settled(live), timeout=420, otherwise=lambda: str(live.get("Druid", real_cluster.NAME)))
    druid = Api(router(live))
    ingest(druid)
    return druid


def is_settled(live: NamespaceClient) -> bool:
    """Whether the operator has carried out the current specification."""
    found = live.get("Druid", real_cluster.NAME)
    status = found.get("status") or {}
    is_current = status.get("observedGeneration") == found["metadata"]["generation"]
    return is_current and condition(found, "Ready")["status"] == "True"


def wait_until_settled(live: NamespaceClient) -> None:
    """Wait for the operator."""
    eventually(lambda: is_settled(live), timeout=420, otherwise=lambda: str(live.get("Druid", real_cluster.NAME)))


def uids(live: NamespaceClient, group: str) -> set[str]:
    """The uids of the group's pods."""
    return {pod["metadata"]["uid"] for pod in live.list("Pod") if f"-{group}-" in pod["metadata"]["name"]}


def change(live: NamespaceClient, *groups: str) -> None:
    """Change the configuration of the groups, so that they restart."""
    nodes = live.get("Druid", real_cluster.NAME)["spec"]["nodes"]
    changed = {key: {"runtime.properties": f"{nodes[key]['runtime.properties']}# changed\n"} for key in groups}
    live.merge("Druid", real_cluster.NAME, {"spec": {"nodes": changed}})


def roll(live: NamespaceClient) -> None:
    """Both Historicals restart, and then the Broker."""
    groups = ("historicals", "brokers")
    before = {group: uids(live, group) for group in groups}
    change(live, *groups)
    eventually(lambda: not before["historicals"] & uids(live, "historicals") or None, timeout=300)
    wait_until_settled(live)
    assert not before["brokers"] & uids(live, "brokers")


def drain(live: NamespaceClient, druid: Api, operator: OperatorInPod) -> None:
    """An Indexer is drained; meanwhile, the pod of the operator is replaced by one with another user."""
    before = uids(live, "indexers")
    task = druid.request("POST", "/druid/indexer/v1/task", {"type": "noop", "runTime": 90_000})["task"]
    eventually(lambda: task in worker(druid)["runningTasks"])
    change(live, "indexers")
    found = eventually(lambda: draining(live, task))
    assert (found["phase"], found["podName"]) == ("Draining", INDEXER)
    assert worker(druid)["worker"]["version"] == ""
    operator.run_as(USER)
    # The next pod has not lost it.
    assert (draining(live, task) or {}).get("podName") == INDEXER
    assert uids(live, "indexers") == before
    wait_until_settled(live)
    ended_with = druid.request("GET", f"/druid/indexer/v1/task/{task}/status")["status"]
    assert ended_with["statusCode"] == "SUCCESS", ended_with
    assert uids(live, "indexers") != before
    assert worker(druid)["worker"]["version"] != ""


def worker(druid: Api) -> dict[str, Any]:
    """The only worker, as the Overlord knows it."""
    (found,) = druid.request("GET", "/druid/indexer/v1/workers")
    return dict(found)


def draining(live: NamespaceClient, task: str) -> dict[str, Any] | None:
    """The progress of the drain that waits for the task."""
    found: dict[str, Any] = live.get("Druid", real_cluster.NAME)["status"].get("middleManagerDrain") or {}
    return found if task in found.get("message", "") else None


def decommission(live: NamespaceClient, druid: Api) -> None:
    """From two Historicals to one, and no query fails."""
    before = sizes(druid)
    assert all(before.values())
    with querying(partial(count, druid), is_whole) as answers:
        specify(live, 1)
        eventually(lambda: live.get("StatefulSet", WORKLOAD)["spec"]["replicas"] == 1, timeout=300)
        wait_until_settled(live)
        assert eventually(lambda: len(sizes(druid)) == 1)
    assert answers.problems == []
    assert answers.number["right"] > 100
    (size,) = sizes(druid).values()
    assert size == sum(before.values())
    eventually(lambda: listed(druid) == [])


def delete(live: NamespaceClient) -> None:
    """Nothing of the cluster is left."""
    live.delete("Druid", real_cluster.NAME)
    eventually(lambda: live.find("Druid", real_cluster.NAME) is None)
    eventually(lambda: live.names("Pod") == {"zookeeper-0"})
    assert live.names("StatefulSet") == {"zookeeper"}
