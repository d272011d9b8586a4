# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster with PVCs that its groups do not need, for tests of what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.storage.orphans import KINDS
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Inputs, Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import timestamp
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid, rolling
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.deciding import inputs
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import (
    CREATED,
    converged,
    entry,
)

Manifest = dict[str, Any]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WORKLOADS = ("StatefulSet", "Deployment")
TEMPLATES = [{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}]


def cluster(node: Manifest | None = None, **spec: Any) -> Cluster:
    """Return a cluster with one pod of one group."""
    return druid.cluster({"volumeClaimTemplates": TEMPLATES, **(node or {})}, **{"deleteOrphanPvc": True, **spec})


def marks(seconds: int, annotated: int | str | None = None) -> Manifest:
    """Return the labels and annotations of a PVC that was marked some seconds ago; the annotation may differ."""
    since = NOW - timedelta(seconds=seconds)
    annotation = annotated if isinstance(annotated, str) else timestamp(NOW - timedelta(seconds=annotated or seconds))
    labels = {"toBeDeleted": "yes", "deletionTS": str(int(since.timestamp()))}
    return {"labels": labels, "annotations": {"druid.apache.org/orphaned-since": annotation}}


def claim(name: str, group: str = "druid-c-brokers", labels: Manifest | None = None, **metadata: Any) -> Manifest:
    """Return a PVC as the StatefulSet controller creates it for the group; these labels in addition."""
    own = {"app": "druid", "druid_cr": "c", "nodeSpecUniqueStr": group, "component": "broker", **(labels or {})}
    fields = {"f:metadata": {"f:labels": {}}, "f:spec": {"f:resources": {}}}
    creation = {"creationTimestamp": CREATED, "managedFields": [entry("kube-controller-manager", fields, "Update")]}
    identity = {
        **creation,
        "name": name,
        "namespace": "ns",
        "uid": f"uid-of-{name}",
        "resourceVersion": "7",
        "labels": own,
    }
    spec = {"resources": {"requests": {"storage": "1Gi"}}}
    head = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Bound"}}
    return {**head, "metadata": {**identity, **metadata}, "spec": spec}


def pod(name: str, claim_name: str) -> Manifest:
    """Return a pod of another owner that mounts a PVC."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}]
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "ns"}, "spec": {"volumes": volumes}}


def autoscaler(target: str, maximum: int) -> Manifest:
    """Return a HorizontalPodAutoscaler of another owner."""
    spec = {"scaleTargetRef": {"kind": "StatefulSet", "name": target}, "maxReplicas": maximum}
    return {"kind": "HorizontalPodAutoscaler", "metadata": {"name": "h", "namespace": "ns"}, "spec": spec}


def stateful_set(name: str, template: str = "d", replicas: int = 0, **volume: Any) -> Manifest:
    """Return a StatefulSet of another owner."""
    spec = {
        "replicas": replicas,
        "volumeClaimTemplates": [{"metadata": {"name": template}}],
        "template": {"spec": {"volumes": [volume] if volume else []}},
    }
    return {"kind": "StatefulSet", "metadata": {"name": name, "namespace": "ns"}, "spec": spec}


def observed(which: Cluster, claims: Iterable[Manifest]) -> Observed:
    """Return the live state of a cluster whose pods are available."""
    live = converged(render(which)).objects.values()
    found = (rolling.available(each) if each["kind"] in WORKLOADS else each for each in live)
    pods = (pod for each in live if each["kind"] == "StatefulSet" for pod in rolling.ready_pods(each))
    return Observed().with_objects((*found, *pods, *claims))


def orphan_inputs(
    which: Cluster, claims: Iterable[Manifest], others: Iterable[Manifest] = (), live: Observed | None = None
) -> Inputs:
    """Return the inputs of a decision; `others` are further objects of the namespace."""
    found = live or observed(which, claims)
    namespace = (*found.objects.values(), *others)
    lists = {kind: tuple(each for each in namespace if each["kind"] == kind) for kind in KINDS}
    return inputs(which, found, lists=lists, now=NOW)
