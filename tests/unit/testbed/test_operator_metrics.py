# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the stand-in of ansible-operator handles and exposes posted metrics."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._metrics.metrics import (
    DRUID_REQUESTS,
    METRICS,
    PHASES,
    Run,
    metric_values,
    requests_for,
)
from ansible_collections.druidops.druid.tests.testbed.operator.metrics import (
    Metric,
    PostedMetrics,
    RejectedError,
    exposition,
)


def after(*posted: Any) -> str:
    """What is exposed after these posts, without comments; a post is a type and a change, or raw bytes."""
    metrics = PostedMetrics()
    for each in posted:
        metrics.post(each if isinstance(each, bytes) else json.dumps({"name": "m", each[0]: each[1]}).encode())
    lines = exposition(metrics.metrics()).splitlines()
    return " ".join(line for line in lines if not line.startswith("#"))


ACCEPTED: list[tuple[str, list[Any], str]] = [
    ("a counter is known as 0", [("counter", {})], "m 0.0"),
    ("adds", [("counter", {"add": 2}), ("counter", {"add": 0.5})], "m 2.5"),
    ("cannot set to 0", [("gauge", {"set": 3}), ("gauge", {"set": 0})], "m 3.0"),
    ("gets to 0", [("gauge", {"set": 1e-9}), ("gauge", {"subtract": 1e-9})], "m 0.0"),
]


@pytest.mark.parametrize(("posted", "exposed"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_accepts(posted: list[Any], exposed: str) -> None:
    assert after(*posted) == exposed


def test_buckets_are_those_of_the_go_client() -> None:
    exposed = after(("histogram", {"observe": 0.3}), ("histogram", {"observe": 0}))
    bounds = ("0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf")
    counts = [f'm_bucket{{le="{bound}"}} {1 if index < 6 else 2}.0' for index, bound in enumerate(bounds)]
    assert exposed == " ".join([*counts, "m_sum 0.3", "m_count 2.0"])


REJECTED: list[tuple[str, list[Any], str]] = [
    ("nothing", [b""], "Expecting value"),
    ("no change", [b'{"name": "m"}'], "one metric"),
    ("two at once", [b'{"name": "m", "counter": {}, "gauge": {}}'], "one metric"),
    ("another type", [("counter", {}), ("gauge", {"add": 1})], "cannot change metric type of m, which is a counter"),
]


@pytest.mark.parametrize(("posted", "why"), [row[1:] for row in REJECTED], ids=[row[0] for row in REJECTED])
def test_rejects(posted: list[Any], why: str) -> None:
    with pytest.raises(RejectedError, match=why):
        after(*posted)


def test_exposition() -> None:
    metrics = [Metric("z", "gauge", "Z.", [("", {"a": "x"}, 1.0)])]
    assert exposition(metrics) == '# HELP z Z.\n# TYPE z gauge\nz{a="x"} 1.0\n'


# A reconcile that found nothing to do does not post them.
DURATIONS = [f"{phase}_duration_seconds" for phase in PHASES]


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("outcome", ["unchanged", "changed", "blocked", "failed"])
def test_accepts_the_metrics_of_reconciles(outcome: Any, kind: str) -> None:
    census = {metric.name: 0.0 for metric in METRICS[kind] if metric.type == "gauge"}
    phases = dict.fromkeys(PHASES, 0.5)
    requests = dict.fromkeys(("cache_requests", *DRUID_REQUESTS), 2)
    run = Run(0.5, outcome, phases, {"act": 1}, requests, 1, 1, census)
    metrics = PostedMetrics()
    for body in requests_for(kind, metric_values(run, 7.0)):
        metrics.post(json.dumps(body).encode())
    assert {each.name: each.type for each in metrics.metrics()} == {
        f"druidops_{kind}_{metric.name}": metric.type
        for metric in METRICS[kind]
        if outcome != "unchanged" or metric.name not in DURATIONS
    }
    exposed = exposition(metrics.metrics())
    assert f"\ndruidops_{kind}_reconciles_{outcome}_total 1.0\n" in exposed
    assert f"\ndruidops_{kind}_not_ready_since_timestamp_seconds 0.0\n" in exposed
