# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PodDisruptionBudgets, of the cluster and of others, that do not allow the eviction of a pod.

The API server evicts no pod that several of them select, whatever each of them allows. A deletion by a controller, as
in a rollout, does not ask them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest, selector_matches
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since
from ansible_collections.druidops.druid.plugins.plugin_utils._values.text import join_limited

BUDGET = "PodDisruptionBudget"
# Its controller counts the pods again a moment after an eviction, and when the new pod is ready.
_DELAY_SECONDS = 60


def blocking_budgets(pod: Manifest, budgets: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Return those of the budgets of the namespace because of which the API server would not evict the pod now."""
    labels = pod["metadata"].get("labels") or {}
    found = [each for each in budgets if selector_matches(each["spec"].get("selector"), labels)]
    blocking = found if len(found) > 1 else [each for each in found if not _allows(each)]
    return tuple(sorted(blocking, key=lambda each: str(each["metadata"]["name"])))


def lasting_refusal(budgets: tuple[Manifest, ...], now: datetime) -> tuple[str, str] | None:
    """Return why the budgets do not allow the eviction, and until when; None if they may do so in a moment."""
    if len(budgets) > 1:
        listed = join_limited([each["metadata"]["name"] for each in budgets])
        return (
            f"{BUDGET}s {listed} select the same pods, and Kubernetes evicts no pod that more than one selects",
            "only one selects them",
        )
    [budget] = budgets
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if not _is_observed(budget) or status.get("disruptedPods"):
        return None
    if status.get("currentHealthy", 0) >= status.get("expectedPods", 0):
        return f"{BUDGET} {name} does not allow the eviction of any pod", "it allows it"
    allowed = _condition(status)
    since = str(allowed.get("lastTransitionTime") or "")
    if not since or seconds_since(since, now) < _DELAY_SECONDS:
        return None
    cause = f" ({allowed.get('message')})" if allowed.get("reason") == "SyncFailed" else ""
    return f"{BUDGET} {name} has not allowed any eviction since {since}{cause}", "it allows it"


def _allows(budget: Manifest) -> bool:
    return _is_observed(budget) and (budget.get("status") or {}).get("disruptionsAllowed", 0) > 0


def _is_observed(budget: Manifest) -> bool:
    """True if its controller has counted the pods for its current specification."""
    observed = (budget.get("status") or {}).get("observedGeneration", 0)
    return bool(observed >= budget["metadata"].get("generation", 0))


def _condition(status: Manifest) -> dict[str, Any]:
    found = (each for each in status.get("conditions") or () if each["type"] == "DisruptionAllowed")
    return next((each for each in found if each["status"] == "False"), {})
