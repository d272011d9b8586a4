# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Java that is larger than its container, and processing buffers that are larger than its direct memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.memory_warnings import memory_warnings
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import decided, inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import converged

SAMPLES = sorted((Path(__file__).parents[6] / "config" / "samples").glob("*.yaml"))
BUFFERS = """
druid.processing.buffer.sizeBytes=100MiB
druid.processing.numThreads=2
druid.processing.numMergeBuffers=2
"""
TASKS = 'druid.worker.capacity=2\ndruid.indexer.runner.javaOptsArray=["-Xmx1g","-XX:MaxDirectMemorySize=512m"]\n'
OPTIONS = "-Xmx1g\n-XX:MaxDirectMemorySize=512m"
KILLED = "the container is killed (OOMKilled, exit code 137) when it does"


def node(kind: str, options: str, text: str = "", memory: Any = None, **fields: Any) -> dict[str, Any]:
    """A group with these options of Java, properties and limit."""
    resources = {"resources": {"limits": {"memory": memory}}} if memory else {}
    return {"nodeType": kind, "jvm.options": options, "runtime.properties": text, **resources, **fields}


def env(**variables: str) -> list[dict[str, str]]:
    """Environment variables of a container."""
    return [{"name": name, "value": value} for name, value in variables.items()]


HIDDEN = {"valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}
# A property that only the pod knows.
NOT_LISTED = [{"name": "druid_processing_numThreads", **HIDDEN}]
GOOD: list[dict[str, Any]] = [
    {},
    node("coordinator", "-Xmx1g"),
    node("coordinator", "-Xmx1g", memory="1Gi"),
    node("historical", OPTIONS, BUFFERS, "1536Mi"),
    node("historical", "-Xmx1g -XX:MaxDirectMemorySize=500m", BUFFERS),
    # a broker has no buffers for its threads
    node("broker", "-Xmx1g -XX:MaxDirectMemorySize=300m", BUFFERS),
    # others have none at all
    node("router", "-Xmx256m", BUFFERS, "512Mi"),
    node("middleManager", "-Xmx128m", BUFFERS, "512Mi"),
    node("router", "-Xmx512m -XX:MaxDirectMemorySize=512m", memory="768Mi"),
    # the last option counts
    node("broker", "-Xmx4g -Xmx512m", memory="1Gi"),
    node("broker", "-Xmx4g -XX:MaxHeapSize=512m", memory="1Gi"),
    node("broker", "-Xmx4g", memory="1Gi", **{"extra.jvm.options": "-Xmx512m"}),
    # as examples for the Go operator have it: no limit of direct memory
    node("historical", "-Xmx512m -XX:MaxDirectMemorySize=10240g", BUFFERS, "1Gi"),
    node("historical", "-Xmx512m -XX:MaxDirectMemorySize=0", BUFFERS, "1Gi"),
    # the default is as large as the direct memory allows
    node("historical", "-Xmx1g", "druid.processing.numThreads=64"),
    # the default depends on the number of processors
    node("historical", OPTIONS, "druid.processing.buffer.sizeBytes=500MiB"),
    node("broker", OPTIONS, "druid.processing.buffer.sizeBytes=500MiB"),
    node("middleManager", "-Xmx1g", TASKS.replace("capacity", "other"), "1Gi"),
    # unknown to all but the pod
    node("historical", "-Xmx4g ${MORE}", memory="1Gi"),
    node("historical", "-Xmx${HEAP}", memory="1Gi"),
    node("historical", "-Xmx4g @file", memory="1Gi"),
    node("historical", "-Xmx4g -XX:VMOptionsFile=/a", memory="1Gi"),
    node("historical", "-Xmx4g '", memory="1Gi"),
    node("historical", "-XX:MaxRAMPercentage=90", memory="1Gi"),
    node("historical", "-Xmx4g", memory="1Gi", envFrom=[{"secretRef": {"name": "a"}}]),
    node("historical", "-Xmx4g", memory="1Gi", env=[{"name": "DRUID_XMX", **HIDDEN}]),
    node("historical", "-Xmx4g", memory="1Gi", env=[{"name": "JAVA_OPTS", **HIDDEN}]),
    node("historical", "-Xmx4g", memory="1Gi", env=env(JAVA_OPTS="$(OTHER)")),
    node("historical", "-Xmx1g", BUFFERS.replace("100MiB", "${env:SIZE}"), "1Gi"),
    node("historical", "-Xmx256m", BUFFERS, env=NOT_LISTED),
    node("historical", "-Xmx256m", BUFFERS, env=env(DRUID_CONFIG_historical="/a")),
    node("historical", "-Xmx256m", f"{BUFFERS}druid.computation.buffer.size=1\n"),
    node("middleManager", "-Xmx1g", TASKS.replace("-Xmx1g", "-Xms1g"), "1Gi"),
    node("middleManager", "-Xmx1g", TASKS.replace("]", ""), "1Gi"),
    # variables that the image and Java read
    node("historical", "-Xmx4g", memory="1Gi", env=env(DRUID_XMX="512m")),
    node("historical", "-Xmx4g", memory="1Gi", env=env(JAVA_OPTS="-Xmx512m")),
    node("historical", "-Xmx4g", memory="1Gi", env=env(_JAVA_OPTIONS="-Xmx512m")),
    node("historical", "-Xmx512m", memory="1Gi", env=env(JAVA_TOOL_OPTIONS="-Xmx4g")),
    node("historical", "-Xmx256m", BUFFERS, env=env(DRUID_MAXDIRECTMEMORYSIZE="500m")),
    node("historical", "-Xmx256m", BUFFERS, env=env(druid_processing_buffer_sizeBytes="10MiB")),
    node("historical", "-Xmx256m -Ddruid.processing.buffer.sizeBytes=10MiB", BUFFERS),
    # a script that lowers the line with -Xms takes the rest of it
    node("historical", "-Xms4g -Xmx4g", memory="1Gi", env=env(DRUID_XMS="64m")),
    node("middleManager", "-Xmx128m", TASKS + BUFFERS, "3200Mi"),
    node("middleManager", "-Xmx128m", TASKS.replace("512m", "99g"), "2176Mi"),
]
BAD: list[tuple[dict[str, Any], str]] = [
    (
        node("coordinator", "-Xmx4g", memory="1Gi"),
        f"resources.limits.memory is 1Gi, but Java can use 4Gi of heap (-Xmx): {KILLED}. Set a limit of more than 4Gi, "
        "or lower -Xmx",
    ),
    (
        node("historical", OPTIONS, BUFFERS, "1535Mi"),
        "resources.limits.memory is 1535Mi, but Java can use 1Gi of heap (-Xmx) + 512Mi of direct memory "
        f"(-XX:MaxDirectMemorySize) = 1536Mi: {KILLED}. Set a limit of more than 1536Mi, or lower -Xmx or "
        "-XX:MaxDirectMemorySize",
    ),
    (
        node("historical", "-Xmx768m -XX:MaxDirectMemorySize=10240g", BUFFERS, "1G"),
        "limits.memory is 1G, but Java can use 768Mi of heap (-Xmx) + 500Mi of processing buffers = 1268Mi",
    ),
    (node("broker", "-Xmx1g", memory=1000000000), "limits.memory is 1000000000, but Java can use 1Gi of heap (-Xmx)"),
    (node("broker", "-Xmx2000000000", memory="1Gi"), "1953125Ki of heap"),
    (node("broker", "-Xmx1g", memory="2Gi", env=env(DRUID_XMX="3G")), "3Gi of heap"),
    (node("broker", "-Xmx1g", memory="2Gi", env=env(JAVA_OPTS="-Xmx3g")), "3Gi of heap"),
    (node("broker", "", memory="2Gi", env=env(JAVA_TOOL_OPTIONS="-Xmx3g")), "3Gi of heap"),
    (
        node("historical", "-Xmx1g -XX:MaxDirectMemorySize=499m", BUFFERS),
        "it has 499Mi of direct memory (-XX:MaxDirectMemorySize), but druid.processing.buffer.sizeBytes needs "
        "100Mi x (2 numThreads + 2 numMergeBuffers + 1) = 500Mi: Druid does not start. Set "
        "-XX:MaxDirectMemorySize=500m, or lower sizeBytes or the numbers",
    ),
    (
        node("indexer", "-Xmx499m", BUFFERS),
        "it has 499Mi of direct memory (as -Xmx, without -XX:MaxDirectMemorySize), but",
    ),
    (
        node("broker", "-Xmx1g -XX:MaxDirectMemorySize=299m", BUFFERS),
        "needs 100Mi x (2 numMergeBuffers + 1) = 300Mi: Druid does not start. Set -XX:MaxDirectMemorySize=300m",
    ),
    # the default of numMergeBuffers
    (
        node(
            "historical",
            "-XX:MaxDirectMemorySize=1g",
            "druid.processing.buffer.sizeBytes=100000000\ndruid.processing.numThreads=16",
        ),
        "needs 100000000 bytes x (16 numThreads + 4 numMergeBuffers + 1) = 2100000000 bytes: Druid does not start. Set "
        "-XX:MaxDirectMemorySize=2003m",
    ),
    (node("historical", "-Xmx256m", BUFFERS.replace("100MiB", "100m")), "needs 100000000 bytes x (2 numThreads"),
    (
        node("middleManager", "-Xmx128m", TASKS, "3199Mi"),
        "resources.limits.memory is 3199Mi, but Java can use 128Mi of heap (-Xmx) + 2 tasks (druid.worker.capacity) x "
        f"(1Gi of heap (-Xmx) + 512Mi of direct memory (-XX:MaxDirectMemorySize)) = 3200Mi: {KILLED}. Set a limit of "
        "more than 3200Mi, or lower druid.worker.capacity, or the memory of a task in "
        "druid.indexer.runner.javaOptsArray",
    ),
    (
        node("middleManager", "-Xmx128m", "druid.worker.capacity=3\ndruid.indexer.runner.javaOpts=-Xmx1g", "3Gi"),
        "128Mi of heap (-Xmx) + 3 tasks (druid.worker.capacity) x (1Gi of heap (-Xmx)) = 3200Mi",
    ),
    (
        node("middleManager", "-Xmx128m", BUFFERS + TASKS.replace("512m", "499m")),
        "each task has 499Mi of direct memory (-XX:MaxDirectMemorySize), but druid.processing.buffer.sizeBytes needs "
        "100Mi x (2 numThreads + 2 numMergeBuffers + 1) = 500Mi: tasks that answer queries do not start. Set "
        "-XX:MaxDirectMemorySize=500m in druid.indexer.runner.javaOptsArray",
    ),
    (
        node(
            "middleManager",
            "-Xmx128m",
            f"{BUFFERS}{TASKS}druid.indexer.fork.property.druid.processing.buffer.sizeBytes=200MiB\n",
        ),
        "each task has 512Mi of direct memory (-XX:MaxDirectMemorySize), but druid.processing.buffer.sizeBytes needs "
        "200Mi x",
    ),
]


@pytest.mark.parametrize("group", GOOD)
def test_enough_or_unknown(group: dict[str, Any]) -> None:
    assert [*memory_warnings(druid.cluster(group))] == []


@pytest.mark.parametrize(("group", "expected"), BAD)
def test_too_little(group: dict[str, Any], expected: str) -> None:
    [found] = memory_warnings(druid.cluster(group))
    assert found.startswith("spec.nodes[brokers]: ")
    assert expected in found
    # what another script does with the options is unknown
    assert [*memory_warnings(druid.cluster(group, startScript="/own.sh"))] == []


def test_settings_of_the_cluster_count() -> None:
    spec: dict[str, Any] = {"common.runtime.properties": BUFFERS, "jvm.options": "-XX:MaxDirectMemorySize=299m"}
    limits = {"resources": {"limits": {"memory": "1Gi"}}}
    found = [*memory_warnings(druid.cluster({"extra.jvm.options": "-Xmx2g"}, **spec, **limits))]
    assert ["needs 100Mi" in found[0], "2Gi of heap (-Xmx) + 299Mi" in found[1], len(found)] == [True, True, 2]


def test_plan_has_the_warning_and_is_not_blocked() -> None:
    settled = converged(render(druid.cluster()))
    cluster = druid.cluster(node("historical", "-Xmx4g", memory="1Gi"))
    plan = decided(inputs(cluster, settled))
    assert [*memory_warnings(cluster)] == [each for each in plan.warnings if "OOMKilled" in each] != []
    assert "StatefulSet" in {step.key.kind for step in plan.steps}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_fit(path: Path) -> None:
    for resource in yaml.safe_load_all(path.read_text()):
        if resource["kind"] == "Druid":
            resource["metadata"].setdefault("namespace", "druid")
            assert [*memory_warnings(Cluster.from_resource(resource))] == []


PIECES = [
    *("-Xmx", "-XX:MaxDirectMemorySize=", "druid.processing.buffer.sizeBytes=", "druid.processing.numThreads="),
    *("druid.worker.capacity=", "druid.indexer.runner.javaOptsArray=", "druid.indexer.fork.property.", "-Ddruid."),
    *("9" * 19, "9" * 5000, "99999", "1", "g", "MiB", "t", "٣", "\n", "\n", " ", '"', "'", "\\", "[", "]", "{", "="),
    *("[" * 5000, '["-Xmx1g"]', "@", "$", "${a}", "\ud800", "\x00", "-1", "null", "5"),
]


def test_no_text_raises() -> None:
    source = random.Random(38)

    def text() -> str:
        return "".join(source.choices(PIECES, k=source.randint(0, 25)))

    for _case in range(300):
        kind = source.choice(["broker", "historical", "middleManager", "", "x"])
        variables = [{"name": source.choice(["DRUID_XMX", "JAVA_OPTS", "druid_worker_capacity"]), "value": text()}]
        group = node(kind, text(), text(), source.choice(["1Gi", "1e400", text(), 0]), env=variables)
        for found in memory_warnings(druid.cluster(group)):
            assert found.startswith("spec.nodes[brokers]: ")


@pytest.mark.parametrize("size", [1, 1023, 1024, 25 * 1024**2, 2**31 - 1])
@pytest.mark.parametrize("threads", [1, 7, 99999])
def test_remedy_is_enough(size: int, threads: int) -> None:
    text = f"druid.processing.buffer.sizeBytes={size}\ndruid.processing.numThreads={threads}\n"
    [found] = memory_warnings(druid.cluster(node("historical", "-XX:MaxDirectMemorySize=1", text)))
    remedy = found.partition("Set ")[2].partition(",")[0]
    assert [*memory_warnings(druid.cluster(node("historical", remedy, text)))] == []
