# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which PodDisruptionBudgets do not allow an eviction, as the API server decides it, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.rollout.disruption_budgets import (
    blocking_budgets,
    lasting_refusal,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp

Manifest = dict[str, Any]

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
POD = {"metadata": {"name": "p", "labels": {"group": "brokers", "app": "druid"}}}
SINCE_LONG = timestamp(NOW - timedelta(seconds=60))
# All expected pods are healthy, and none may be evicted.
NEVER = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 2, "expectedPods": 2}
# A pod of the budget is not healthy.
NOT_NOW = {**NEVER, "currentHealthy": 1}


def budget(name: str, selector: Manifest | None, generation: int = 1, **status: Any) -> Manifest:
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "generation": generation},
        "spec": {} if selector is None else {"selector": selector},
        "status": status,
    }


def mine(name: str = "a", generation: int = 1, **status: Any) -> Manifest:
    """Return a budget that selects the pod."""
    return budget(name, {"matchLabels": {"group": "brokers"}}, generation, **status)


def not_allowed(seconds: int, **more: str) -> Manifest:
    since = timestamp(NOW - timedelta(seconds=seconds))
    return {"type": "DisruptionAllowed", "status": "False", "lastTransitionTime": since, **more}


ALLOWS = {"observedGeneration": 1, "disruptionsAllowed": 1}
BLOCKING: list[tuple[str, list[Manifest], list[str]]] = [
    ("none", [], []),
    ("allows it", [mine(**ALLOWS)], []),
    ("does not allow it", [mine(**NEVER)], ["a"]),
    ("selects other pods", [budget("a", {"matchLabels": {"group": "x"}}, **NEVER)], []),
    ("an empty selector selects all", [budget("a", {}, **NEVER)], ["a"]),
    ("without a selector, none", [budget("a", None, **NEVER)], []),
    ("an expression", [budget("a", {"matchExpressions": [{"key": "app", "operator": "Exists"}]}, **NEVER)], ["a"]),
    ("no status yet", [mine()], ["a"]),
    ("the status of an earlier specification", [mine(generation=2, **ALLOWS)], ["a"]),
    ("two that allow it", [mine("b", **ALLOWS), mine("a", **ALLOWS)], ["a", "b"]),
    ("two, of which one does not allow it", [mine("b", **NEVER), mine("a", **ALLOWS)], ["a", "b"]),
    ("two, of which one selects other pods", [mine("b", **ALLOWS), budget("a", None, **NEVER)], []),
]


@pytest.mark.parametrize(("budgets", "names"), [row[1:] for row in BLOCKING], ids=[row[0] for row in BLOCKING])
def test_blocking_budgets(budgets: list[Manifest], names: list[str]) -> None:
    assert [each["metadata"]["name"] for each in blocking_budgets(POD, budgets)] == names


SELECTED_TWICE = (
    "PodDisruptionBudgets a, b select the same pods, and Kubernetes evicts no pod that more than one selects"
)
LASTING: list[tuple[str, list[Manifest], str | None]] = [
    ("never", [mine(**NEVER)], "PodDisruptionBudget a does not allow the eviction of any pod"),
    ("without pods", [mine(observedGeneration=1)], "PodDisruptionBudget a does not allow the eviction of any pod"),
    ("several", [mine("a"), mine("b")], SELECTED_TWICE),
    ("not yet observed", [mine(generation=2, **NEVER)], None),
    ("no status yet", [mine()], None),
    ("a pod has just been evicted", [mine(**NEVER, disruptedPods={"p": SINCE_LONG})], None),
    ("an unhealthy pod", [mine(**NOT_NOW, conditions=[not_allowed(59)])], None),
    ("an unhealthy pod, without conditions", [mine(**NOT_NOW)], None),
    (
        "an unhealthy pod for a long time",
        [mine(**NOT_NOW, conditions=[not_allowed(60, reason="InsufficientPods", message="")])],
        f"PodDisruptionBudget a has not allowed any eviction since {SINCE_LONG}",
    ),
    (
        "its controller fails",
        [mine(**NOT_NOW, conditions=[not_allowed(60, reason="SyncFailed", message="jobs.batch has no scale")])],
        f"PodDisruptionBudget a has not allowed any eviction since {SINCE_LONG} (jobs.batch has no scale)",
    ),
]


@pytest.mark.parametrize(("budgets", "cause"), [row[1:] for row in LASTING], ids=[row[0] for row in LASTING])
def test_lasting_refusals(budgets: list[Manifest], cause: str | None) -> None:
    end = "only one selects them" if len(budgets) > 1 else "it allows it"
    assert lasting_refusal(tuple(budgets), NOW) == (None if cause is None else (cause, end))
