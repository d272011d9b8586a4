# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Deployment and ReplicaSet controllers: one ReplicaSet per pod template."""

from __future__ import annotations

from itertools import count

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.tests.simulator.pods import (
    adopt,
    controlled_by,
    digest,
    is_available,
    is_ready,
    pod_of,
)
from ansible_collections.druidops.druid.tests.simulator.store import Manifest, Store, reference_to

_HASH = "pod-template-hash"


def sync(store: Store) -> None:
    """Reconcile each Deployment, then each ReplicaSet."""
    for live in store.of_kind("Deployment"):
        if not is_terminating(live):
            _sync_deployment(store, live)
    for live in store.of_kind("ReplicaSet"):
        if not is_terminating(live):
            _sync_replica_set(store, live)


def _sync_deployment(store: Store, live: Manifest) -> None:
    adopt(store, "ReplicaSet", live)
    name = f"{live['metadata']['name']}-{digest(live['spec']['template'])}"
    if store.get("ReplicaSet", live["metadata"]["namespace"], name) is None:
        store.create(_replica_set(live, name))
    replicas = live["spec"]["replicas"]
    pods = [pod for each in controlled_by(store, "ReplicaSet", live) for pod in controlled_by(store, "Pod", each)]
    updated = [pod for pod in pods if pod["metadata"]["name"].startswith(f"{name}-")]
    available = _available(store, live, pods)
    is_complete = len(_available(store, live, updated)) >= replicas
    for each in controlled_by(store, "ReplicaSet", live):
        if each["metadata"]["name"] == name:
            _scale(store, each, replicas)
        elif is_complete:
            _scale(store, each, 0)
    ready = len([*filter(is_ready, pods)])
    status = {"observedGeneration": live["metadata"]["generation"], "replicas": len(pods)}
    counts = {"updatedReplicas": len(updated), "readyReplicas": ready, "availableReplicas": len(available)}
    store.update({**live, "status": {**status, **{each: number for each, number in counts.items() if number}}})


def _available(store: Store, live: Manifest, pods: list[Manifest]) -> list[Manifest]:
    return [pod for pod in pods if is_available(pod, live, store.clock.now())]


def _replica_set(live: Manifest, name: str) -> Manifest:
    spec, label = live["spec"], {_HASH: name.rpartition("-")[2]}
    template = spec["template"]
    labels = {**template["metadata"]["labels"], **label}
    metadata = {"name": name, "namespace": live["metadata"]["namespace"], "labels": labels}
    selector = {"matchLabels": {**spec["selector"]["matchLabels"], **label}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {**metadata, "ownerReferences": [reference_to(live)]},
        "spec": {"replicas": spec["replicas"], "selector": selector, "template": template},
    }


def _scale(store: Store, replica_set: Manifest, replicas: int) -> None:
    store.update({**replica_set, "spec": {**replica_set["spec"], "replicas": replicas}})


def _sync_replica_set(store: Store, live: Manifest) -> None:
    adopt(store, "Pod", live)
    pods = [pod for pod in controlled_by(store, "Pod", live) if not is_terminating(pod)]
    replicas, name = live["spec"]["replicas"], live["metadata"]["name"]
    for pod in pods[replicas:]:
        store.delete(pod)
    free = (f"{name}-{number}" for number in count() if _is_free(store, live, f"{name}-{number}"))
    for _missing in range(replicas - len(pods)):
        label = {_HASH: name.rpartition("-")[2]}
        store.create(pod_of(live, next(free), live["spec"]["template"], label))


def _is_free(store: Store, live: Manifest, name: str) -> bool:
    return store.get("Pod", live["metadata"]["namespace"], name) is None
