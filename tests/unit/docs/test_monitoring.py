# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Metrics, alerts and dashboard agree with each other and with docs/monitoring.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import METRICS, OBJECTS
from ansible_collections.druidops.druid.tests.system.support import prometheus_files
from ansible_collections.druidops.druid.tests.testbed.operator import own_metrics
from ansible_collections.druidops.druid.tests.testbed.operator.kinds import Kind
from ansible_collections.druidops.druid.tests.testbed.operator.metrics import Histogram, exposition
from ansible_collections.druidops.druid.tests.testbed.operator.work_queue import WorkQueue

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")
OWN = {f"druidops_{kind}_{metric.name}": metric for kind, metrics in METRICS.items() for metric in metrics}
PREFIXES = {f"druidops_druid{plural.removesuffix('s')}_": plural for plural in OBJECTS}
HISTOGRAM = [suffix for suffix, _labels, _value in Histogram().samples()]


def exposed() -> dict[str, set[str]]:
    """Return the names of all samples that can be scraped, each with the names of its labels."""
    controller = own_metrics.ControllerMetrics(Kind("druid.apache.org", "v1alpha1", "Druid"), 1, WorkQueue())
    metrics = [
        *own_metrics.of_process(),
        *controller.metrics(),
        own_metrics.of_election("druid-operator", is_leader=True),
        own_metrics.of_requests({("200", "GET"): 1}, "host"),
    ]
    found = {each.name: set(each.labels) for each in prometheus_files.samples(exposition(metrics))}
    for name, metric in OWN.items():
        suffixes = HISTOGRAM if metric.type == "histogram" else [""]
        found |= {f"{name}{each}": {"le"} if each == "_bucket" else set() for each in suffixes}
    return found


EXPOSED = exposed()
ALERTS = prometheus_files.alerts()


def test_all_metrics_are_documented() -> None:
    rows = re.findall(r"^\| `(druidops_\w+)` \| (\w+) \| (.+) \|$", DOCUMENT, re.M)
    listed = [(name, each) for name, each in OWN.items() if not name.startswith(tuple(PREFIXES))]
    assert rows == [(name, metric.type, metric.description) for name, metric in listed]


def test_metrics_of_objects_in_druid_are_those_of_ingestions() -> None:
    """They are documented by their prefixes."""
    of_ingestions = {metric.name for metric in METRICS["druidingestion"]} - {"highest_lag_records"}
    for prefix, plural in PREFIXES.items():
        assert f"`{prefix}`" in DOCUMENT
        found = {metric.name.replace(plural, "ingestions") for metric in METRICS[prefix.split("_")[1]]}
        assert found == of_ingestions - {"ingestions_suspended"}


@pytest.mark.parametrize("expression", [*prometheus_files.queries(), *(rule["expr"] for rule in ALERTS)])
def test_expressions_use_existing_metrics(expression: str) -> None:
    names = prometheus_files.names(expression)
    assert names
    assert names <= EXPOSED.keys() | {prometheus_files.UP}


def test_alerts_are_tested_with_existing_metrics() -> None:
    for series in prometheus_files.series_of_data():
        if series.name != prometheus_files.UP:
            assert series.labels.keys() <= EXPOSED[series.name] | prometheus_files.TARGET.keys(), series


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_alerts_contain_a_remedy(rule: dict[str, Any]) -> None:
    assert rule.keys() - {"keep_firing_for"} == {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in ("critical", "warning")
    annotations = rule["annotations"]
    assert annotations.keys() == {"summary", "description", "runbook_url"}
    page, anchor = annotations["runbook_url"].split("#")
    assert page == "https://github.com/druidops/druidops.druid/tree/main/docs/monitoring.md"
    assert f"\n### {rule['alert']}\n" in DOCUMENT
    assert anchor == rule["alert"].lower()


def test_all_alerts_are_documented() -> None:
    assert re.findall(r"^### (Druid\w+)$", DOCUMENT, re.M) == [rule["alert"] for rule in ALERTS]


def test_the_monitor_finds_the_metrics_service() -> None:
    monitor = prometheus_files.manifest("monitor")
    assert (monitor["apiVersion"], monitor["kind"]) == ("monitoring.coreos.com/v1", "ServiceMonitor")
    service = read("default/metrics_service.yaml")
    [added] = read("default/kustomization.yaml")["labels"]
    labels = service["metadata"]["labels"] | added["pairs"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert labels[monitor["spec"]["jobLabel"]] == prometheus_files.JOB
    [port] = service["spec"]["ports"]
    [endpoint] = monitor["spec"]["endpoints"]
    assert (endpoint["port"], endpoint["scheme"], endpoint["path"]) == (port["name"], "http", "/metrics")


def test_rules_are_a_prometheus_rule() -> None:
    rule = prometheus_files.manifest("rules")
    assert (rule["apiVersion"], rule["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert rule["spec"].keys() == {"groups"}
    assert len({each["alert"] for each in ALERTS}) == len(ALERTS)


def read(name: str) -> dict[str, Any]:
    """Return a manifest of config."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "config" / name).read_text(encoding="utf-8"))
    return found


def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
    """Return the cells of Grafana's grid, 24 in a row, that a panel takes."""
    place = panel["gridPos"]
    columns, rows = range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])
    return {(column, row) for column in columns for row in rows}


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    panels = prometheus_files.dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        assert not taken & cells(panel), panel["title"]
        taken |= cells(panel)
    assert {column for column, _row in taken} == set(range(24))


def test_dashboard_uses_the_selected_data_source() -> None:
    dashboard = prometheus_files.dashboard()
    assert [each["name"] for each in dashboard["templating"]["list"]] == ["datasource"]
    for panel in dashboard["panels"]:
        if panel["type"] != "row":
            sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
            assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in sources)
            assert panel["description"]


def test_the_dashboard_is_found_by_grafana() -> None:
    [generated] = prometheus_files.manifest("kustomization")["configMapGenerator"]
    assert generated["options"]["labels"] == {"grafana_dashboard": "1"}
    [entry] = generated["files"]
    assert (prometheus_files.CONFIG / entry.split("=")[1]).exists()
