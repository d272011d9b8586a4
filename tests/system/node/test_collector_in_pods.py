# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real collectors in pods: one receives the metrics and logs of a real Druid, and sends them to another."""

from __future__ import annotations

import base64
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.collector.conftest import CHART, Collectors, resource
from ansible_collections.druidops.druid.tests.system.support import druid_in_pods, observed_druid, real_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.api import Api
from testbed.control_plane import ControlPlane
from testbed.node import running
from testbed.node.images import collector
from testbed.pytest_plugin import new_namespace

pytestmark = pytest.mark.xdist_group("node")

# With an anchor and variables, as people write them; Base64 has lines.
CONFIG = """\
receivers:
  otlp:
    protocols: {grpc: {endpoint: "0.0.0.0:${env:GRPC_PORT}"}}
exporters:
  debug: {verbosity: detailed}
  prometheus: {endpoint: "0.0.0.0:8889"}
service:
  pipelines:
    logs: &pipeline
      receivers: [otlp]
      exporters: [debug]
    metrics:
      <<: *pipeline
      exporters: [prometheus]
"""
GROUPS = ("brokers", "coordinators", "historicals", "indexers", "routers")


@dataclass(frozen=True)
class Pods:
    """A Druid and two collectors: `telemetry` scrapes it, and sends to `end`."""

    collectors: Collectors
    live: NamespaceClient

    def served(self, name: str) -> str:
        """The metrics that a collector serves to Prometheus."""
        address = self.live.get("Service", name)["spec"]["clusterIP"]
        with urllib.request.urlopen(f"http://{address}:8889/metrics", timeout=10) as answer:
            return str(answer.read().decode())

    def printed(self, name: str) -> str:
        """What the pod of a collector has printed."""
        (pod,) = self.pods(name)
        return running.printed(self.live.plane.ca_file.parent, pod, "collector")

    def pods(self, name: str) -> list[dict[str, Any]]:
        """The pods of a collector."""
        label = "app.kubernetes.io/instance"
        return [each for each in self.live.list("Pod") if each["metadata"]["labels"].get(label) == name]


@pytest.fixture(scope="module")
def pods(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pods]:
    """All created by the playbooks."""
    values, metadata = (yaml.safe_load((CHART / name).read_text()) for name in ("values.yaml", "Chart.yaml"))
    name = f"docker.io/{values['image']['repository']}:{metadata['appVersion']}"
    running.load(running.machine_of(control_plane.ca_file.parent), collector.image(name))
    with new_namespace(control_plane) as namespace:
        live = NamespaceClient(control_plane, namespace)
        # Not as a variable: Ansible would take parts of Log4j's pattern for a template.
        live.create(observed_druid.resource(tmp_path_factory.mktemp("exporter"), "telemetry"))
        ansible, created = druid_in_pods.created(live, tmp_path_factory.mktemp("playbooks"))
        assert "5/5 pods ready" in created.output
        collectors = Collectors(ansible, live)
        live.create({"kind": "Secret", "metadata": {"name": "ports"}, "stringData": {"GRPC_PORT": "4317"}})
        config = {"config": base64.encodebytes(CONFIG.encode()).decode(), "configEncoding": "Base64"}
        live.create(resource("end", release="end", collector=config, values={"environmentSecrets": ["ports"]}))
        sent = {"otlp": {"endpoint": "end:4317", "insecure": True}}
        scraped = {"metricsPort": observed_druid.METRICS_PORT, "scrapeInterval": "5s"}
        live.create(resource(cluster=real_cluster.NAME, values={**sent, "druid": scraped}))
        for each in ("end", "telemetry"):
            collectors.run(each, wait=True, helm_timeout=120)
        yield Pods(collectors, live)
        for each in ("telemetry", "end"):
            collectors.run(each, state="absent", wait=True)
        ansible.cluster(real_cluster.NAME, state="absent", wait=True, wait_sleep=1)
        eventually(lambda: live.names("Pod") == {"zookeeper-0"})


@campaign("the collector as a process, which scrapes a server that stands in for a Druid")
def test_each_pod_of_the_cluster_is_scraped(pods: Pods) -> None:
    for name in ("telemetry", "end"):
        found = eventually(lambda name=name: of_all_groups(pods.served(name)))
        for group, line in found.items():
            assert f'pod="druid-{real_cluster.NAME}-{group}-' in line
            assert f'druid="{real_cluster.NAME}"' in line
            assert float(line.rpartition(" ")[2]) > 1


@campaign("the collector as a process, which accepts requests of OTLP")
def test_metrics_and_requests_of_the_log_arrive(pods: Pods) -> None:
    router = pods.live.get("Service", f"druid-{real_cluster.NAME}-routers")
    query = {"query": "SELECT 'a \"quoted\" text' AS shown"}

    def arrived() -> bool:
        Api(f"http://{router['spec']['clusterIP']}:8888").request("POST", "/druid/v2/sql", query)
        text = pods.printed("end")
        return "jvm/mem/used" in text and "quoted" in text

    eventually(arrived)
    text = pods.printed("end")
    assert "InstrumentationScope org.apache.druid.server.log.LoggingRequestLogger" in text
    assert f"service.instance.id: Str(druid-{real_cluster.NAME}-brokers-0)" in text


@campaign("the program refuses it; an upgrade of simulated pods that cannot be scheduled")
def test_configuration_that_the_collector_refuses_does_not_replace_its_pod(pods: Pods) -> None:
    (before,) = pods.pods("end")
    broken = {"config": CONFIG.replace("exporters: [debug]", "exporters: [none]"), "configEncoding": "Plain"}
    pods.live.merge("Collector", "end", {"spec": {"collector": broken}})
    pods.collectors.run("end", wait=False)
    eventually(lambda: len(pods.pods("end")) == 2)
    pods.collectors.run("end", wait=False)
    assert pods.collectors.reason("end") == "PodsNotReady"
    (after,) = (each for each in pods.pods("end") if each["metadata"]["uid"] == before["metadata"]["uid"])
    assert condition(after, "Ready")["status"] == "True"


def of_all_groups(text: str) -> dict[str, str]:
    """A metric of each JVM by the group of its pod, empty until all are there."""
    lines = [line for line in text.splitlines() if line.startswith("java_lang_Threading_ThreadCount{")]
    found = {group: line for line in lines for group in GROUPS if f'group="druid-{real_cluster.NAME}-{group}"' in line}
    return found if len(found) == len(GROUPS) else {}
