# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The alert rules of config/prometheus, tried with data by Prometheus' own tool."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.druidops.druid.tests.system.support.prometheus_files import CONFIG, DATA, alerts, data, rules
from testbed.clients import kubectl
from testbed.promtool import promtool


def test_alerts_fire_exactly_when_they_should(tmp_path: Path) -> None:
    shutil.copy(DATA, tmp_path / "alerts.yml")
    (tmp_path / "rules.yml").write_text(json.dumps(rules(annotated=False)), encoding="utf-8")
    promtool("test", "rules", str(tmp_path / "alerts.yml"))


def test_each_alert_is_tested_firing_and_not_firing() -> None:
    tried = [each for test in data()["tests"] for each in test["alert_rule_test"]]
    names = {rule["alert"] for rule in alerts()}
    assert {each["alertname"] for each in tried if each.get("exp_alerts")} == names
    assert {each["alertname"] for each in tried if not each.get("exp_alerts")} == names


def test_prometheus_accepts_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps(rules()), encoding="utf-8")
    promtool("check", "rules", "--lint=all", "--lint-fatal", str(file))


def test_rules_are_installed_with_one_line(tmp_path: Path) -> None:
    shutil.copytree(CONFIG.parent, tmp_path / "config")
    kustomization = tmp_path / "config" / "default" / "kustomization.yaml"
    text = kustomization.read_text(encoding="utf-8")
    assert text.count("  # - ../prometheus\n") == 1
    kustomization.write_text(text.replace("  # - ../prometheus\n", "  - ../prometheus\n"), encoding="utf-8")
    rendered = subprocess.run([kubectl(), "kustomize", kustomization.parent], capture_output=True, check=True).stdout
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for each in yaml.safe_load_all(rendered):
        by_kind.setdefault(each["kind"], []).append(each)
    [monitor], [rule], [service] = (by_kind[kind] for kind in ("ServiceMonitor", "PrometheusRule", "Service"))
    [dashboard] = by_kind["ConfigMap"]
    assert len({each["metadata"]["namespace"] for each in (monitor, rule, service, dashboard)}) == 1
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert rule["spec"] == rules()
    assert json.loads(dashboard["data"]["druid-operator.json"])["title"] == "Druid operator"
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
