# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which groups a reconcile restarts, and which of them are complete or blocked, as the store shows."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.tests.simulator.pods import condition, is_available
from ansible_collections.druidops.druid.tests.simulator.specification import NAMESPACE
from ansible_collections.druidops.druid.tests.simulator.stateful_set import is_updated, lacks_a_volume
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store

Pods = dict[str, Manifest]
_BUDGET = "PodDisruptionBudget"


def restarts(store: Store, before: Manifest, after: Manifest) -> bool:
    """True if the controller replaces pods that it would not have replaced before."""
    if before["kind"] != after["kind"]:
        return False
    if before["kind"] == "Deployment":
        return bool(before["spec"]["template"] != after["spec"]["template"])
    return bool(_replaced(store, after) - _replaced(store, before))


def _replaced(store: Store, live: Manifest) -> set[str]:
    """Return the names of the pods that the controller of a StatefulSet replaces or stops."""
    spec, name = live["spec"], live["metadata"]["name"]
    if spec["updateStrategy"]["type"] == "OnDelete":
        return set()
    first = spec["updateStrategy"]["rollingUpdate"]["partition"]
    pods = (store.get("Pod", NAMESPACE, f"{name}-{number}") for number in range(first, spec["replicas"]))
    return {pod["metadata"]["name"] for pod in pods if pod and not is_updated(pod, live)}


def is_rolling(store: Store, live: Manifest) -> bool:
    status = live.get("status") or {}
    if live["kind"] == "Deployment":
        return bool(status.get("updatedReplicas") != status.get("replicas"))
    return bool(_replaced(store, live))


def is_complete(store: Store, live: Manifest, ready: Pods) -> bool:
    """True if its status shows that, and its pods are there, and none is being replaced."""
    status, replicas, name = live.get("status") or {}, live["spec"]["replicas"], live["metadata"]["name"]
    own = [pod for pod in ready.values() if pod["metadata"]["labels"].get(names.GROUP_LABEL) == name]
    if len(own) < replicas:
        return False
    is_observed = status.get("observedGeneration") == live["metadata"]["generation"]
    return bool(is_observed and status.get("availableReplicas") == replicas)


def may_be_evicted(store: Store, live: Manifest, evicted: Iterable[Manifest], ready: Pods) -> bool:
    """True if a pod of the group could be evicted: all were available; or its controller creates none before that.

    Of a StatefulSet that fails to update its first pod without a volume, those after it can be missing.
    """
    names_of_stuck = {pod["metadata"]["name"] for pod in evicted if lacks_a_volume(pod, live)}
    if not names_of_stuck:
        return is_complete(store, live, ready)
    now = store.clock.now()
    available = {pod["metadata"]["name"] for pod in ready.values() if is_available(pod, live, now)}
    pods = [f"{live['metadata']['name']}-{number}" for number in range(live["spec"]["replicas"])]
    first = min(map(pods.index, names_of_stuck))
    missing = [name for name in pods if name not in available]
    return all(pods.index(name) > first and store.get("Pod", NAMESPACE, name) is None for name in missing)


def is_blocked(store: Store, live: Manifest) -> bool:
    """True if a pod can only be created after the eviction of another one, which a budget does not allow."""
    if live["kind"] != "StatefulSet":
        return False
    pods = [store.get("Pod", NAMESPACE, f"{live['metadata']['name']}-{n}") for n in range(live["spec"]["replicas"])]
    is_stuck = any(pod is not None and lacks_a_volume(pod, live) for pod in pods)
    budget = store.get(_BUDGET, NAMESPACE, live["metadata"]["name"])
    return is_stuck and None in pods and budget is not None and not budget["status"]["disruptionsAllowed"]


def image_of(live: Manifest) -> str:
    return str(live["spec"]["template"]["spec"]["containers"][0]["image"])


def is_failing(pod: Manifest) -> bool:
    """True if Kubernetes reports why the pod cannot run."""
    return bool(pod["status"].get("containerStatuses") or condition(pod, "PodScheduled"))


def replaces_pods(live: Manifest) -> bool:
    """True if the controller replaces pods of an earlier template."""
    strategy, replicas = live["spec"].get("updateStrategy") or {}, live["spec"]["replicas"]
    return strategy.get("type") != "OnDelete" and replicas > (strategy.get("rollingUpdate") or {}).get("partition", 0)
