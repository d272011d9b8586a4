# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Druid of a real node with what a collector receives of it: metrics of each JVM, and logs over OTLP."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.support import real_cluster
from testbed.druid.artifacts import jmx_exporter

METRICS_PORT = 8000
_MOUNT = "/opt/exporter"
# Druid's own events and requests are lines of its log.
_PROPERTIES = """
druid.emitter=logging
druid.emitter.logging.logLevel=info
druid.monitoring.monitors=["org.apache.druid.java.util.metrics.JvmMonitor"]
druid.monitoring.emissionPeriod=PT10S
druid.request.logging.type=slf4j
"""
_EXPORTER = "includeObjectNames: ['java.lang:type=Threading']\n"


def log4j(collector: str) -> str:
    """Return the example of the documentation, for this collector."""
    page = (Path(__file__).parents[3] / "docs" / "collector.md").read_text(encoding="utf-8")
    [example] = [each.partition("```")[0] for each in page.split("```xml\n")[1:]]
    return example.replace("http://telemetry:4318", f"http://{collector}:4318")


def resource(directory: Path, collector: str) -> dict[str, Any]:
    """The Druid resource; the node mounts the agent of the directory, which no image has."""
    shutil.copy(jmx_exporter(), directory / "agent.jar")
    (directory / "config.yaml").write_text(_EXPORTER, encoding="utf-8")
    directory.chmod(0o755)
    cluster = real_cluster.resource()
    spec = cluster["spec"]
    spec["common.runtime.properties"] += _PROPERTIES
    spec["jvm.options"] += f"-javaagent:{_MOUNT}/agent.jar={METRICS_PORT}:{_MOUNT}/config.yaml\n"
    spec["log4j.config"] = log4j(collector)
    spec["volumes"].append({"name": "exporter", "hostPath": {"path": str(directory), "type": "Directory"}})
    spec["volumeMounts"].append({"name": "exporter", "mountPath": _MOUNT, "readOnly": True})
    return cluster
