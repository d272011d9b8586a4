# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What config/prometheus has for Prometheus and Grafana, and what there is for it to be about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CONFIG = Path(__file__).parents[3] / "config" / "prometheus"
DATA = Path(__file__).parents[1] / "operator" / "alerts.yml"
JOB = "druid-operator"
# The metrics that Prometheus adds for each target.
TARGET = {"job": JOB, "namespace": "druid-operator-system", "pod": "druid-operator-0"}
UP = "up"
_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Sample(NamedTuple):
    """A line of what is scraped."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(exposition: str) -> list[Sample]:
    """Return the samples of a scrape."""
    lines = [line for line in exposition.splitlines() if not line.startswith("#")]
    found = [_SAMPLE.fullmatch(line) for line in lines]
    assert all(found), exposition
    return [
        Sample(each["name"], dict(_LABEL.findall(each["labels"] or "")), float(each["value"])) for each in found if each
    ]


def manifest(name: str) -> dict[str, Any]:
    """Return one of the manifests."""
    found: dict[str, Any] = yaml.safe_load((CONFIG / f"{name}.yaml").read_text(encoding="utf-8"))
    return found


def rules(annotated: bool = True) -> dict[str, Any]:
    """Return the groups of alert rules, as a file of Prometheus has them."""
    groups = manifest("rules")["spec"]["groups"]
    if annotated:
        return {"groups": groups}
    bare = [{key: value for key, value in rule.items() if key != "annotations"} for rule in alerts()]
    return {"groups": [{"name": "druid-operator", "rules": bare}]}


def alerts() -> list[dict[str, Any]]:
    """Return the alert rules."""
    return [rule for group in manifest("rules")["spec"]["groups"] for rule in group["rules"]]


def data() -> dict[str, Any]:
    """Return the data that the alert rules are tried with."""
    found: dict[str, Any] = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return found


def series_of_data() -> list[Sample]:
    """Return the series in these data, without their values."""
    texts = {each["series"] for test in data()["tests"] for each in test["input_series"]}
    return samples("\n".join(f"{text} 0" for text in sorted(texts)))


def dashboard() -> dict[str, Any]:
    """Return the dashboard."""
    found: dict[str, Any] = json.loads((CONFIG / "dashboard.json").read_text(encoding="utf-8"))
    return found


def queries() -> list[str]:
    """Return the queries of the dashboard, with what Grafana puts in."""
    targets = (target for panel in dashboard()["panels"] for target in panel.get("targets", ()))
    return [target["expr"].replace("$__rate_interval", "5m") for target in targets]


def names(expression: str) -> set[str]:
    """Return the names of metrics in an expression that contains no strings with words."""
    plain = re.sub(r"\{.*?\}|\[.*?\]|\boffset \w+", "", expression)
    plain = re.sub(r"\b(by|on|without|ignoring) \([^)]*\)", "", plain)
    words = re.findall(r"[a-z_][a-z0-9_]*\b(?!\s*\()", plain)
    return {word for word in words if word not in ("and", "or", "unless", "bool", "e")}


def tried_with(known: Iterable[Sample]) -> dict[str, Any]:
    """Return a file for promtool: each query has a result with only the known metrics, all of them growing."""
    series = [
        {"series": _series(each.name, {**TARGET, **each.labels}), "values": "2+1x120"}
        for each in [*known, Sample(UP, {}, 1)]
    ]
    tests = [
        {"expr": f"count({query}) > bool 0", "eval_time": "60m", "exp_samples": [{"labels": "{}", "value": 1}]}
        for query in queries()
    ]
    return {"tests": [{"interval": "1m", "input_series": series, "promql_expr_test": tests}]}


def _series(name: str, labels: Mapping[str, str]) -> str:
    return name + "{" + ",".join(_labels(labels)) + "}"


def _labels(labels: Mapping[str, str]) -> Iterator[str]:
    return (f'{name}="{text}"' for name, text in labels.items())
