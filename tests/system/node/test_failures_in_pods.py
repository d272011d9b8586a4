# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What goes wrong with pods and their node is in the conditions of a real Druid, which then recovers."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.node.test_druid_in_pods import (
    ROWS,
    Running,
    batch,
    change_properties,
    ended,
    set_nodes,
    uid_of,
)
from ansible_collections.druidops.druid.tests.system.support import druid_in_pods, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.clients import kubectl
from testbed.control_plane import ControlPlane
from testbed.node.pressure import MEMORY, PROCESSES, pressure
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

CACHE = "/opt/druid/cache"
SMALL, LARGE = "16Mi", "64Mi"
HISTORICAL, BROKER = (f"druid-{real_cluster.NAME}-{group}-0" for group in ("historicals", "brokers"))
COUNT = 'SELECT COUNT(*) AS "rows" FROM pages'
CLAIM = f"cache-{HISTORICAL}"


def claim_template(size: str) -> dict[str, Any]:
    """A volume that is a file system of this size."""
    requests = {"storage": size}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "sized", "resources": {"requests": requests}}
    return {"metadata": {"name": "cache"}, "spec": spec}


def resource() -> dict[str, Any]:
    """The Historical has a small volume, which it does not use yet."""
    cluster = real_cluster.resource()
    cluster["spec"]["scalePvcSts"] = True
    mount = {"name": "cache", "mountPath": CACHE}
    cluster["spec"]["nodes"]["historicals"] |= {
        "volumeClaimTemplates": [claim_template(SMALL)],
        "volumeMounts": [mount],
    }
    return cluster


@pytest.fixture(scope="module")
def running(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Druid whose pods are ready."""
    with new_namespace(control_plane) as namespace:
        live = NamespaceClient(control_plane, namespace)
        ansible, created = druid_in_pods.created(live, tmp_path_factory.mktemp("playbooks"), resource())
        assert "5/5 pods ready" in created.output
        yield Running(ansible, live)
        ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)


def ingest(running: Running) -> None:
    """Have the rows in a segment, which is loaded."""
    druid = running.router
    task = druid.request("POST", "/druid/indexer/v1/task", batch("pages"))["task"]
    status = f"/druid/indexer/v1/task/{task}/status"
    state = eventually(lambda: ended(druid.request("GET", status)["status"]))
    assert state["statusCode"] == "SUCCESS", state["errorMsg"]
    eventually(lambda: running.answer(COUNT) == [{"rows": len(ROWS)}])


def execute(running: Running, pod: str, command: str) -> str:
    """What a command prints in a pod."""
    plane = running.live.plane
    words = [kubectl(), f"--kubeconfig={plane.kubeconfig()}", f"--namespace={running.live.namespace}"]
    done = subprocess.run([*words, "exec", pod, "--", "sh", "-c", command], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def url(running: Running) -> str:
    """The address of the routers' Service, which this machine reaches."""
    service = running.live.get("Service", f"druid-{real_cluster.NAME}-routers")
    return f"http://{service['spec']['clusterIP']}:8888"


def message(running: Running, kind: str, pattern: str) -> str:
    """The message of the condition as soon as the pattern is in it."""
    seen: list[str] = []

    def found() -> str | None:
        text = str(condition(running.reconciled(url(running)), kind)["message"])
        if text not in seen:
            seen.append(text)
        return text if re.search(pattern, text) else None

    return eventually(found, timeout=300, otherwise=lambda: "\n".join(seen))


def recovers(running: Running) -> None:
    """The cluster is ready again, and answers a query."""
    eventually(
        lambda: condition(running.reconciled(url(running)), "Ready")["status"] == "True",
        timeout=400,
        otherwise=lambda: str(running.live.get("Druid", real_cluster.NAME)["status"]),
    )
    assert condition(running.live.get("Druid", real_cluster.NAME), "Degraded")["status"] == "False"
    assert eventually(lambda: running.answer('SELECT 1 AS "one"')) == [{"one": 1}]


def memory(size: str) -> dict[str, Any]:
    """The resources of a container."""
    return {"resources": {"requests": {"memory": size}, "limits": {"memory": size}}}


@campaign("the decisions about such pods, by unit tests; an image that does not exist")
def test_a_container_that_is_killed_for_lack_of_memory(running: Running) -> None:
    set_nodes(running, brokers=memory("128Mi"))
    text = message(running, "Degraded", "OOMKilled")
    assert f"pod {BROKER}, container {BROKER.removesuffix('-0')}: " in text
    assert "last exit code 137 (OOMKilled): the container needs more than its memory limit of 128Mi" in text
    # also while it starts again and again
    states = [condition(running.reconciled(url(running)), "Degraded") for _each in range(4)]
    assert {each["reason"] for each in states} == {"PodsFailing"}
    assert "OOMKilled" in condition(running.live.get("Druid", real_cluster.NAME), "Ready")["message"]
    set_nodes(running, brokers=memory("1Gi"))
    recovers(running)


@campaign("the gate of a rollout with segments that are not loaded; the expansion of simulated volumes")
def test_a_full_disk_and_a_volume_that_grows(running: Running) -> None:
    """The segment cache moves to a volume that is full: the Broker does not restart until the segments are loaded."""
    ingest(running)
    broker = uid_of(running, "brokers")
    assert "No space left on device" in execute(running, HISTORICAL, f"head -c 1G /dev/zero > {CACHE}/fill")
    properties = running.live.get("Druid", real_cluster.NAME)["spec"]["nodes"]["historicals"]["runtime.properties"]
    moved = properties.replace("/opt/druid/var/segment-cache", f"{CACHE}/segments")
    set_nodes(running, historicals={"runtime.properties": moved})
    change_properties(running, "brokers")
    text = message(running, "Progressing", "unavailable segment")
    assert "datasource pages has 1 unavailable segment" in text
    assert uid_of(running, "brokers") == broker
    warning = condition(running.live.get("Druid", real_cluster.NAME), "Warnings")["message"]
    assert f"volumeClaimTemplates[cache] has only {SMALL}" in warning
    assert "request more storage" in warning

    set_nodes(running, historicals={"volumeClaimTemplates": [claim_template(LARGE)]})
    recovers(running)
    assert uid_of(running, "brokers") != broker
    assert running.live.get("PersistentVolumeClaim", CLAIM)["status"]["capacity"]["storage"] == LARGE
    assert " 64M " in execute(running, HISTORICAL, f"df -h {CACHE}")
    assert eventually(lambda: running.answer(COUNT)) == [{"rows": len(ROWS)}]


@campaign("the decisions about evicted pods, by unit tests")
def test_a_pod_that_writes_too_much_is_evicted(running: Running) -> None:
    limits = {"memory": "512Mi", "ephemeral-storage": "64Mi"}
    set_nodes(running, routers={"resources": {"limits": limits}})
    recovers(running)
    (pod,) = (pod for pod in running.live.list("Pod") if "routers" in pod["metadata"]["name"])
    name = pod["metadata"]["name"]
    print(execute(running, name, "head -c 100M /dev/zero > /opt/druid/var/fill"))
    text = message(running, "Ready", "Evicted")
    assert f"pod {name}: Evicted: " in text
    assert "64Mi" in text
    set_nodes(running, routers={"resources": {"limits": {"memory": "512Mi", "ephemeral-storage": None}}})
    recovers(running)


@campaign("the decisions about pods that fit on no node, and about evicted pods, by unit tests")
@pytest.mark.parametrize(
    ("settings", "pattern"),
    [
        pytest.param(MEMORY, "Evicted: The node was low on resource: memory", id="memory"),
        pytest.param(
            PROCESSES, "Evicted: (The node was low on resource: pids|.* condition: .PIDPressure)", id="processes"
        ),
    ],
)
def test_a_node_under_pressure(running: Running, settings: dict[str, Any], pattern: str) -> None:
    """Its kubelet evicts all pods, and no other one is placed there as long as it is so."""
    with pressure(running.live.plane.ca_file.parent, settings):
        text = message(running, "Ready", "historicals 0/1.*brokers 0/1.*coordinators 0/1.*Unschedulable.*Evicted")
        assert "untolerated taint" in text
        assert re.search(pattern, text)
    recovers(running)
