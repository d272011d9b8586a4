# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real OpenTelemetry Collector with the configuration of the chart: it scrapes pods, and forwards OTLP."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.collector import program
from ansible_collections.druidops.druid.tests.system.collector.conftest import CHART
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.private_file import private

DRUID: dict[str, Any] = {"druid": {"name": "wiki", "namespace": "druid", "metricsPort": 9000}}
OUT: dict[str, Any] = {"otlp": {"endpoint": "127.0.0.1:4317", "insecure": True}}
VARIANTS: dict[str, dict[str, Any]] = {"in": {}, "scrape": DRUID, "out": OUT, "scrape and out": {**DRUID, **OUT}}
# As Druid's emitter prints it.
METRICS = """\
# HELP druid_jvm_mem_used Druid metric jvm/mem/used
# TYPE druid_jvm_mem_used gauge
druid_jvm_mem_used{memKind="heap",} 1.25E8
"""
# A component with two names, which the collector does not list. The configuration with it is accepted.
NOT_LISTED = ("exporters", "otlp")
_RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"


@pytest.mark.parametrize("variant", VARIANTS)
def test_collector_accepts_the_configuration(variant: str, tmp_path: Path) -> None:
    done = program.validated(program.configuration(VARIANTS[variant], tmp_path), tmp_path)
    assert done.returncode == 0, done.stderr


def test_collector_refuses_what_it_could_not_start_with(tmp_path: Path) -> None:
    refused = program.validated(program.configuration({"config": "receivers: {}\n"}, tmp_path), tmp_path)
    assert refused.returncode != 0
    own = program.configuration({}, tmp_path).replace("check_interval", "check_intervall")
    refused = program.validated(program.configuration({"config": own}, tmp_path), tmp_path)
    assert refused.returncode != 0
    assert "check_intervall" in refused.stderr


def test_init_container_has_the_collector_validate_its_configuration(tmp_path: Path) -> None:
    own = program.configuration({}, tmp_path)
    for text, accepted in ((own, True), (own.replace("exporters: [debug]", "exporters: [another]"), False)):
        rendered = program.objects({"config": text}, tmp_path)
        [deployment] = [each for each in rendered if each["kind"] == "Deployment"]
        pod = deployment["spec"]["template"]["spec"]
        [init], [main] = pod["initContainers"], pod["containers"]
        assert [init[name] for name in ("image", "volumeMounts")] == [main[name] for name in ("image", "volumeMounts")]
        [mount] = [each["mountPath"] for each in init["volumeMounts"] if each["name"] == "config"]
        (tmp_path / "config.yaml").write_text(program.configuration({"config": text}, tmp_path))
        arguments = [each.replace(mount, str(tmp_path)) for each in init["args"]]
        done = subprocess.run([program.program(), *arguments], check=False, capture_output=True, text=True)
        assert (done.returncode == 0) == accepted, done.stderr


def test_components_are_those_of_the_chart(tmp_path: Path) -> None:
    printed = subprocess.run([program.program(), "components"], check=True, capture_output=True, text=True).stdout
    built = yaml.safe_load(printed)
    assert built["buildinfo"]["version"] == yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
    kinds = ("extensions", "receivers", "processors", "exporters")
    used = {
        (kind, name)
        for values in VARIANTS.values()
        for kind in kinds
        for name in yaml.safe_load(program.configuration(values, tmp_path))[kind]
    }
    assert NOT_LISTED in used
    assert {(kind, each["name"]) for kind in kinds for each in built[kind]} == used - {NOT_LISTED}


def test_pods_of_the_cluster_are_scraped_and_signals_are_forwarded(live: NamespaceClient, tmp_path: Path) -> None:
    with served_metrics() as port, program.collector(program.configuration({}, tmp_path), tmp_path / "end") as end:
        create_pod(live, "druid-wiki-brokers-0", "wiki")
        create_pod(live, "druid-other-brokers-0", "other")
        values = {
            "druid": {"name": "wiki", "namespace": live.namespace, "metricsPort": port, "scrapeInterval": "1s"},
            "otlp": {"endpoint": f"127.0.0.1:{end.grpc}", "insecure": True},
        }
        text = program.configuration(values, tmp_path)
        with program.collector(text, tmp_path / "front", discovery(live, text, values, tmp_path)) as front:
            # both collectors serve what one of them has scraped
            for each in (front, end):
                found = eventually(lambda each=each: lines(each.served(), "druid_jvm_mem_used"))
                assert len(found) == 1, found
                labels = ('memKind="heap"', 'pod="druid-wiki-brokers-0"', 'druid="wiki"', 'group="druid-wiki-brokers"')
                assert [label for label in labels if label not in found[0]] == []
                assert f'namespace="{live.namespace}"' in found[0]
            front.send("logs", {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "a"}}]}]}]})
            eventually(lambda: '"log records": 1' in end.log())
            front.send("traces", {"resourceSpans": [{"scopeSpans": [{"spans": [span()]}]}]})
            eventually(lambda: '"spans": 1' in end.log())


def span() -> dict[str, Any]:
    return {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "query", "kind": 2}


def lines(text: str, name: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(f"{name}{{")]


def create_pod(live: NamespaceClient, name: str, cluster: str) -> None:
    """Create a pod that no kubelet runs, whose address is that of this machine."""
    labels = {"druid_cr": cluster, "nodeSpecUniqueStr": f"druid-{cluster}-brokers"}
    spec = {"schedulerName": "none", "containers": [{"name": "druid", "image": "druid"}]}
    live.create({"kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec})
    status = {"status": {"phase": "Running", "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}}
    path = f"/api/v1/namespaces/{live.namespace}/pods/{name}/status"
    live.plane.request("PATCH", path, status, content_type="application/merge-patch+json")


def discovery(live: NamespaceClient, text: str, values: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Return the scrape configuration of the chart, with the account that the chart creates, outside of a pod."""
    rendered = program.objects(values, directory)
    [role] = [each for each in rendered if each["kind"] == "Role"]
    live.plane.request("POST", f"{_RBAC}/{live.namespace}/roles", role)
    live.create({"kind": "ServiceAccount", "metadata": {"name": "telemetry"}})
    [binding] = [each for each in rendered if each["kind"] == "RoleBinding"]
    binding["subjects"][0]["namespace"] = live.namespace
    live.plane.request("POST", f"{_RBAC}/{live.namespace}/rolebindings", binding)
    accounts = f"/api/v1/namespaces/{live.namespace}/serviceaccounts/telemetry/token"
    token = live.plane.request("POST", accounts, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    content = json.loads(live.plane.kubeconfig().read_text(encoding="utf-8"))
    content["users"][0]["user"] = {"token": token}
    kubeconfig = private(directory / "telemetry.kubeconfig")
    kubeconfig.write_text(json.dumps(content), encoding="utf-8")
    receiver = yaml.safe_load(text)["receivers"]["prometheus"]
    [scrape] = receiver["config"]["scrape_configs"]
    [found] = scrape["kubernetes_sd_configs"]
    found["kubeconfig_file"] = str(kubeconfig)
    return {"receivers": {"prometheus": receiver}}


@contextmanager
def served_metrics() -> Iterator[int]:
    """Serve the metrics of a Druid, and yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.end_headers()
            self.wfile.write(METRICS.encode())

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
