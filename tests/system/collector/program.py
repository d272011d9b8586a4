# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The real OpenTelemetry Collector with the configuration of the chart, on ports of its own."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.druidops.druid.tests.system.collector import chart_sources
from ansible_collections.druidops.druid.tests.system.collector.conftest import CHART
from testbed.opentelemetry import program
from testbed.ports import reserved_ports
from testbed.processes import Processes


def objects(values: Mapping[str, Any], directory: Path) -> list[dict[str, Any]]:
    """Return the objects that Helm renders of the chart with these values."""
    file = directory / "values.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    text = chart_sources.run("template", "telemetry", str(CHART), "--namespace", "tenant", "--values", str(file))
    return [each for each in yaml.safe_load_all(text) if each]


def configuration(values: Mapping[str, Any], directory: Path) -> str:
    """Return the configuration in the Secret of the chart."""
    [secret] = [each for each in objects(values, directory) if each["kind"] == "Secret"]
    return base64.b64decode(secret["data"]["config.yaml"]).decode()


def validated(text: str, directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Have the collector validate a configuration, as the init container of the chart does."""
    file = directory / "config.yaml"
    file.write_text(text, encoding="utf-8")
    command = [program(), "validate", f"--config={file}"]
    return subprocess.run(command, env={**os.environ, **environment}, check=False, capture_output=True, text=True)


@dataclass(frozen=True)
class Collector:
    """One that runs, with the ports that it listens on."""

    grpc: int
    http: int
    metrics: int
    health: int
    processes: Processes

    def served(self) -> str:
        """Return the metrics that it serves to Prometheus."""
        return _read(f"http://127.0.0.1:{self.metrics}/metrics")

    def send(self, signal: str, body: Mapping[str, Any]) -> None:
        """Send a request of OTLP in JSON."""
        url, headers = f"http://127.0.0.1:{self.http}/v1/{signal}", {"Content-Type": "application/json"}
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200

    def log(self) -> str:
        """Return what it has printed."""
        return self.processes.log_tail("collector")


@contextmanager
def collector(text: str, directory: Path, changes: Mapping[str, Any] | None = None) -> Iterator[Collector]:
    """Run one with this configuration; `changes` replace parts of it, as do its ports."""
    directory.mkdir()
    (directory / "config.yaml").write_text(text, encoding="utf-8")
    processes = Processes(directory)
    with reserved_ports(4) as ports:
        found = Collector(*ports, processes)
        files = ("config.yaml", _written(directory / "ports.json", _ports(found)))
        more = _written(directory / "changes.json", changes or {})
        words = [f"--config={directory / each}" for each in (*files, more)]
        processes.start("collector", [str(program()), *words], detached=False)
        try:
            health = f"http://127.0.0.1:{found.health}/"
            processes.wait_for("the collector", lambda: bool(_read(health)), not_yet=(OSError,))
            yield found
        finally:
            processes.kill()


def _written(file: Path, document: Mapping[str, Any]) -> str:
    file.write_text(json.dumps(document), encoding="utf-8")
    return file.name


def _ports(one: Collector) -> dict[str, Any]:
    """Return the addresses on loopback; its own metrics have a fixed port."""
    receiver = {"grpc": {"endpoint": _address(one.grpc)}, "http": {"endpoint": _address(one.http)}}
    return {
        "extensions": {"health_check": {"endpoint": _address(one.health)}},
        "receivers": {"otlp": {"protocols": receiver}},
        "exporters": {"prometheus": {"endpoint": _address(one.metrics)}},
        "processors": {"batch": {"timeout": "100ms"}},
        "service": {"telemetry": {"metrics": {"level": "none"}}},
    }


def _address(port: int) -> str:
    return f"127.0.0.1:{port}"


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())
