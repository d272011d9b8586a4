# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Druid that does not start: the conditions have the reason, whatever it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.tests.system.support import in_process, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from testbed.control_plane import ControlPlane
from testbed.node import images, running
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

NAME = "broken"
OLDEST, NEWEST = "27.0.0", "33.0.0"
PASSWORD = "only-for-this-test"
JMX = "com.sun.management.jmxremote"


class Breakage(NamedTuple):
    """A group of the sample, what is appended to its properties and options, other fields, and the message about it."""

    group: str
    message: str
    properties: str = ""
    options: str = ""
    fields: Mapping[str, Any] = {}


BREAKAGES: dict[str, Breakage] = {
    "flag": Breakage(
        "brokers",
        r"Java does not know the option UseConcMarkSweepGC",
        options="-XX:-UseSerialGC\n-XX:+UseConcMarkSweepGC",
    ),
    "agent": Breakage(
        "brokers",
        r"the file /opt/agents/exporter\.jar, which -javaagent names, is not in the container",
        options="-javaagent:/opt/agents/exporter.jar=9404",
    ),
    "number": Breakage(
        "brokers",
        # Druid 27 does not name the property
        r'(druid\.processing\.numThreads is invalid: Cannot deserialize .{1,60}|NumberFormatException: .{1,20}) "abc"',
        properties="druid.processing.numThreads=abc",
    ),
    "direct": Breakage(
        "brokers",
        r"not enough direct memory: Java has 268,435,456 bytes, and the processing buffers need \d",
        properties="druid.processing.buffer.sizeBytes=200MiB",
    ),
    "heap": Breakage(
        "coordinators",
        r"last exit code 3 \(Error\): Java has run out of memory \(Java heap space\): raise -Xmx",
        options="-Xms8m\n-Xmx24m",
    ),
    "extension": Breakage(
        "brokers",
        r"druid\.extensions\.loadList names an extension that is not in the image \(\S+/druid-nope\)",
        properties='druid.extensions.loadList=["druid-nope"]',
    ),
    "storage": Breakage(
        "indexers",
        r"Druid does not know the type s3 of DataSegmentPusher \(known: local\)",
        properties="druid.storage.type=s3",
    ),
    "metadata": Breakage(
        "coordinators",
        r"the metadata store refuses the connection, or cannot be reached: UnknownHostException : .{0,60} nowhere",
        properties=f"druid.metadata.storage.connector.connectURI=jdbc:derby://nowhere:1527/db;password={PASSWORD}\n"
        f"druid.metadata.storage.connector.password={PASSWORD}-2",
    ),
    "taken": Breakage(
        "brokers",
        r"port 8082 is in use by another process of the pod",
        options=f"-D{JMX}.port=8082\n-D{JMX}.rmi.port=8082\n-D{JMX}.authenticate=false\n-D{JMX}.ssl=false",
    ),
    "cache": Breakage(
        "historicals",
        r"the directory /etc/segments\S* cannot be created: check its volume, and the user of the pod",
        properties='druid.segmentCache.locations=[{"path":"/etc/segments","maxSize":"1g"}]',
    ),
    "zookeeper": Breakage(
        "brokers",
        r"is not ready: .{0,200}ZooKeeper cannot be reached \(the name nowhere is not known\)",
        properties="druid.zk.service.host=nowhere",
    ),
    "port": Breakage(
        "brokers",
        r"is not ready: .{0,200}Druid listens on port 9999, but its probe asks port 8082: set druid\.port",
        properties="druid.plaintextPort=9999",
    ),
    "probe": Breakage(
        "brokers",
        r"last exit code 143 \(Error\): the kubelet has stopped it, because its startup probe fails "
        r"\(HTTP probe failed with statuscode: 404\)",
        fields={"startUpProbe": {"httpGet": {"path": "/nowhere"}, "periodSeconds": 1, "failureThreshold": 90}},
    ),
}
# A condition has the first five, and a small machine not the memory for more.
TOGETHER = (
    ("agent", "direct", "extension", "flag", "number"),
    ("heap", "metadata", "storage", "taken"),
    ("cache", "port", "probe", "zookeeper"),
)


def resource(names: tuple[str, ...], release: str) -> dict[str, Any]:
    """A cluster whose groups are broken in these ways."""
    cluster = real_cluster.resource()
    spec = cluster["spec"]
    groups, spec["image"] = spec["nodes"], images.druid_image(release)
    spec["nodes"] = {name: broken(deepcopy(groups[BREAKAGES[name].group]), BREAKAGES[name]) for name in names}
    return {**cluster, "metadata": {"name": NAME}}


def broken(group: dict[str, Any], breakage: Breakage) -> dict[str, Any]:
    """A group of the sample, broken, with its requests lowered: it does not run long."""
    group["runtime.properties"] += f"{breakage.properties}\n"
    group["extra.jvm.options"] += f"{breakage.options}\n"
    group["resources"]["requests"] = {"cpu": "10m", "memory": "64Mi"}
    return {**group, **breakage.fields}


@pytest.fixture
def live(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """A namespace with a ZooKeeper, on a node that has the images of both releases."""
    running.load(running.machine_of(control_plane.ca_file.parent), images.of_release(OLDEST))
    with new_namespace(control_plane) as namespace:
        found = NamespaceClient(control_plane, namespace)
        for manifest in real_cluster.services():
            found.create(manifest)
        yield found


@campaign("what the logs of the same Druids mean, in a table of their excerpts")
@pytest.mark.parametrize("names", TOGETHER, ids=",".join)
@pytest.mark.parametrize("release", [NEWEST, OLDEST])
def test_the_reason_is_in_the_conditions(
    live: NamespaceClient, release: str, names: tuple[str, ...], record_property: Callable[[str, object], None]
) -> None:
    live.create(resource(names, release))
    missing = dict.fromkeys(names)

    def each_was_found() -> bool:
        in_process.one_pass(live, NAME)
        status = live.get("Druid", NAME)["status"]
        assert PASSWORD not in json.dumps([status, live.list("Event")])
        text = condition({"status": status}, "Degraded")["message"]
        for name in [*missing]:
            if found := re.search(rf"[^|]*-{name}-0\b[^|]*{BREAKAGES[name].message}[^|]*", text):
                record_property("measurement", f"{release} {name}: {found[0].strip()}")
                print(f"{release} {name}: {found[0].strip()}")
                assert re.search(rf"see kubectl logs druid-{NAME}-{name}-0 --container \S+ --namespace", found[0])
                del missing[name]
        return not missing

    eventually(each_was_found, timeout=900, otherwise=lambda: f"{[*missing]} in {live.get('Druid', NAME)['status']}")


@campaign("the same in-process")
def test_a_task_that_waits_fails_with_the_reason(live: NamespaceClient, tmp_path: Path) -> None:
    ansible = Ansible(CORES["2.19"], live.plane, live.namespace, tmp_path)
    run = ansible.cluster(resource=resource(("flag",), NEWEST), wait=True, wait_sleep=1, wait_timeout=600, status=2)
    assert re.search(BREAKAGES["flag"].message, run.output), run.output
