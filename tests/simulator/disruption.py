# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PodDisruptionBudgets: their controller (pkg/controller/disruption), and what the API server does at an eviction."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.pods import is_ready
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store, controller_of, matches

BUDGET = "PodDisruptionBudget"
VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def sync(store: Store) -> None:
    """Write the status of each budget."""
    for budget in store.of_kind(BUDGET):
        pods = [pod for pod in store.of_kind("Pod") if matches(budget["spec"]["selector"], pod)]
        healthy = len([*filter(is_ready, pods)])
        expected, desired = _desired(store, budget, pods)
        status = {
            "observedGeneration": budget["metadata"]["generation"],
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "disruptionsAllowed": max(0, healthy - desired) if expected else 0,
        }
        before = (budget.get("status") or {}).get("conditions") or ()
        store.update({**budget, "status": {**status, "conditions": [_condition(store, status, before)]}})


def _condition(store: Store, status: Manifest, before: Sequence[Manifest]) -> Manifest:
    """Return the condition of a budget with this status, as the controller and the API server write it."""
    found = ("True", "SufficientPods") if status["disruptionsAllowed"] else ("False", "InsufficientPods")
    times = [each["lastTransitionTime"] for each in before if each["status"] == found[0]]
    return {
        "type": "DisruptionAllowed",
        "status": found[0],
        "reason": found[1],
        "message": "",
        "observedGeneration": status["observedGeneration"],
        "lastTransitionTime": times[0] if times else store.clock.timestamp(),
    }


def _desired(store: Store, budget: Manifest, pods: list[Manifest]) -> tuple[int, int]:
    """Return how many pods are expected, and how many of them have to be healthy."""
    if "minAvailable" in budget["spec"]:
        return len(pods), budget["spec"]["minAvailable"]
    expected = _scale(store, pods)
    return expected, max(0, expected - budget["spec"]["maxUnavailable"])


def _scale(store: Store, pods: list[Manifest]) -> int:
    """Return the replicas of the workloads of these pods; a pod without one does not count."""
    found = {}
    for pod in pods:
        owner = _owner(store, pod)
        workload = owner and (_owner(store, owner) or owner)
        if workload is not None:
            found[workload["metadata"]["uid"]] = workload["spec"]["replicas"]
    return sum(found.values())


def _owner(store: Store, live: Manifest) -> Manifest | None:
    reference = controller_of(live)
    found = None if reference is None else store.by_uid(reference["uid"])
    return found if found is not None and "replicas" in (found.get("spec") or {}) else None


def refusal(store: Store, pod: Manifest) -> tuple[int, str] | None:
    """Return the code and message with which an eviction of the pod is refused; None if it is accepted.

    An accepted one counts until the controller reads the pods again.
    """
    if pod["status"]["phase"] == "Pending" or is_terminating(pod):
        return None
    budgets = [each for each in store.of_kind(BUDGET) if matches(each["spec"]["selector"], pod)]
    if len(budgets) > 1:
        return 500, SEVERAL
    for budget in budgets:
        status = budget.get("status") or {}
        if not is_ready(pod) and status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0:
            return None
        is_observed = status.get("observedGeneration", 0) == budget["metadata"]["generation"]
        if not is_observed or not status["disruptionsAllowed"]:
            return 429, VIOLATION
        left = {**status, "disruptionsAllowed": status["disruptionsAllowed"] - 1}
        if not left["disruptionsAllowed"]:
            left["conditions"] = [_condition(store, left, status["conditions"])]
        store.update({**budget, "status": left})
    return None
