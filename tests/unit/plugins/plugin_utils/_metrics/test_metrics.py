# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The definitions of the metrics, the requests that a reconcile posts, and their push to a real server."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import (
    METRICS,
    OBJECTS,
    PushError,
    Run,
    metric_values,
    push,
    requests_for,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._metrics.endpoint import Endpoint, serving
from hypothesis import given
from hypothesis import strategies as st

CENSUS = {
    "clusters": 2.0,
    "clusters_ready": 1.0,
    "clusters_progressing": 0.0,
    "clusters_degraded": 0.0,
    "clusters_paused": 0.0,
    "not_ready_since_timestamp_seconds": 1e9,
    "degraded_since_timestamp_seconds": 0.0,
}
UNITS = ("seconds", "total", "records", "clusters", "ingestions", "collectors", *OBJECTS)
CONDITIONS = ("ready", "progressing", "suspended", "degraded", "paused")


@pytest.mark.parametrize(
    "metric", [metric for of_kind in METRICS.values() for metric in of_kind], ids=lambda each: each.name
)
def test_names_follow_the_conventions_of_prometheus(metric: Any) -> None:
    assert re.fullmatch("[a-z]+(_[a-z]+)*", metric.name)
    assert metric.name.endswith((*UNITS, *CONDITIONS))
    assert metric.name.endswith("_total") is (metric.type == "counter")
    assert metric.description.endswith(".")


@pytest.mark.parametrize("kind", METRICS)
def test_names_are_unique(kind: str) -> None:
    assert len({metric.name for metric in METRICS[kind]}) == len(METRICS[kind])


VALUES: list[tuple[str, Run, dict[str, float]]] = [
    ("nothing to do", Run(0.5, "unchanged", phases={"observe": 0.25}), {"reconciles_unchanged_total": 1}),
    (
        "phases",
        Run(0.5, "changed", phases={"observe": 0.25, "act": 0.125}),
        {"observe_duration_seconds": 0.25, "act_duration_seconds": 0.125, "reconciles_changed_total": 1},
    ),
    (
        "requests",
        Run(0.5, "unchanged", requests={"cache_requests": 9, "kubernetes_writes": 0}),
        {"cache_requests_total": 9, "reconciles_unchanged_total": 1},
    ),
    (
        "objects",
        Run(0.5, "changed", applied=3, removed=2),
        {"objects_applied_total": 3, "objects_removed_total": 2, "reconciles_changed_total": 1},
    ),
    (
        "errors",
        Run(0.5, "blocked", errors={"act": 2}),
        {"act_errors_total": 2, "reconciles_blocked_total": 1},
    ),
    ("failed", Run(0.5, "failed", errors={"observe": 1}), {"observe_errors_total": 1, "reconciles_failed_total": 1}),
]


@pytest.mark.parametrize(("run", "expected"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_metric_values(run: Run, expected: dict[str, float]) -> None:
    always = {"reconcile_duration_seconds": 0.5, "last_reconcile_timestamp_seconds": 7.0}
    values = metric_values(run, 7.0)
    assert values == {**always, **expected}
    # ansible-operator does not accept booleans as numbers.
    assert not [name for name, value in values.items() if isinstance(value, bool)]


def test_census_includes_all_counters() -> None:
    found = metric_values(Run(0.5, "unchanged", census=CENSUS), 7.0)
    durations = {metric.name for metric in METRICS["druid"] if metric.type == "histogram"} - {
        "reconcile_duration_seconds"
    }
    assert found.keys() == {metric.name for metric in METRICS["druid"]} - durations
    assert found.items() >= CENSUS.items()
    assert found["reconciles_failed_total"] == 0


POSTS: list[tuple[str, float, list[dict[str, Any]]]] = [
    ("clusters", 3.0, [{"gauge": {"set": 3.0}}]),
    ("clusters", 0.0, [{"gauge": {"set": 1e-9}}, {"gauge": {"subtract": 1e-9}}]),
    ("objects_applied_total", 2, [{"counter": {"add": 2}}]),
    ("objects_applied_total", 0, [{"counter": {}}]),
    ("act_duration_seconds", 0.0, [{"histogram": {"observe": 0.0}}]),
]


@pytest.mark.parametrize(("name", "value", "changes"), POSTS)
def test_requests_for_a_metric(name: str, value: float, changes: list[dict[str, Any]]) -> None:
    [metric] = [each for each in METRICS["druid"] if each.name == name]
    head = {"name": f"druidops_druid_{name}", "description": metric.description}
    assert requests_for("druid", {name: value}) == [{**head, **change} for change in changes]


@given(st.dictionaries(st.sampled_from([each.name for each in METRICS["druid"]]), st.floats(0, 1e12)))
def test_each_request_is_one_change_of_one_metric(found: dict[str, float]) -> None:
    requests = requests_for("druid", found)
    assert {each["name"].removeprefix("druidops_druid_") for each in requests} == found.keys()
    assert all(len(each.keys() & {"counter", "gauge", "histogram"}) == 1 for each in requests)
    assert json.loads(json.dumps(requests)) == requests


def test_requests_to_druid_are_posted() -> None:
    found = metric_values(Run(0.5, "unchanged", requests={"druid_reads": 2, "druid_writes": 0}, census={}), 7.0)
    assert {name: value for name, value in found.items() if name.startswith("druid")} == {
        "druid_reads_total": 2,
        "druid_writes_total": 0,
        "druid_request_errors_total": 0,
    }
    posted = {body["name"]: body.get("counter") for body in requests_for("druidingestion", found)}
    assert posted["druidops_druidingestion_druid_reads_total"] == {"add": 2}


BODIES = [{"name": f"m{number}", "counter": {"add": number}} for number in range(3)]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@contextmanager
def unresponsive_server() -> Iterator[str]:
    """Run a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"


def test_all_metrics_are_posted_on_one_connection(endpoint: Endpoint) -> None:
    push(endpoint.url, BODIES, timeout=60)
    assert endpoint.posted == [("/metrics", body) for body in BODIES]
    assert len(endpoint.connections) == 1


def test_rejected_metric_is_named_and_the_others_are_posted(endpoint: Endpoint) -> None:
    endpoint.rejected = {"m1"}
    with pytest.raises(PushError, match=r"rejected metrics: m1: 400 cannot change metric type"):
        push(endpoint.url, BODIES, timeout=60)
    assert len(endpoint.posted) == 3


def test_missing_response_is_an_error() -> None:
    with unresponsive_server() as url, pytest.raises(PushError, match="could not be pushed to http"):
        push(url, BODIES, timeout=0.05)


def test_nothing_is_posted_after_the_timeout(endpoint: Endpoint) -> None:
    with pytest.raises(PushError, match="could not be pushed"):
        push(endpoint.url, BODIES, timeout=0)
    assert endpoint.posted == []


@pytest.mark.parametrize("url", ["http://localhost:port/metrics", "http://127.0.0.1:1/metrics", "nothing", ""])
def test_invalid_or_unreachable_url(url: str) -> None:
    with pytest.raises(PushError, match="pushed to"):
        push(url, BODIES)
