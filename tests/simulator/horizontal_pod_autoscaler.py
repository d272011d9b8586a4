# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HorizontalPodAutoscaler: sets the replicas of its target within its limits, unless they are 0.

Of several with the same target, each one only enforces its limits (the condition AmbiguousSelector).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ansible_collections.druidops.druid.tests.simulator import managed_fields
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store


def sync(store: Store, load: Mapping[str, int]) -> None:
    """Scale each target to what its load needs; without load it keeps its size."""
    autoscalers = [*store.of_kind("HorizontalPodAutoscaler")]
    number = Counter(_target(autoscaler) for autoscaler in autoscalers)
    for autoscaler in autoscalers:
        spec = autoscaler["spec"]
        target = spec["scaleTargetRef"]
        live = store.get(target["kind"], autoscaler["metadata"]["namespace"], target["name"])
        if live is None or live["spec"]["replicas"] == 0:
            continue
        store.autoscaled.add(target["name"])
        replicas = live["spec"]["replicas"]
        needed = load.get(target["name"], replicas) if number[_target(autoscaler)] == 1 else replicas
        replicas = min(max(needed, spec["minReplicas"]), spec["maxReplicas"])
        after = {**live, "spec": {**live["spec"], "replicas": replicas}}
        store.update(managed_fields.updated(live, after, "kube-controller-manager", "scale") if after != live else live)


def _target(autoscaler: Manifest) -> tuple[str, str]:
    found = autoscaler["spec"]["scaleTargetRef"]
    return found["kind"], found["name"]
