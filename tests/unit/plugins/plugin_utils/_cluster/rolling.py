# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters in the middle of a rollout, for tests of its policies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.decide.changes import (
    changed_objects,
    desired_state,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.inputs import Observed
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render import render
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Cluster
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import Step
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.server import stored

Manifest = dict[str, Any]

OLD, NEW = "apache/druid:36.0.0", "apache/druid:37.0.0"
# In the order of an upgrade.
TYPES = {
    "historicals": "historical",
    "middlemanagers": "middleManager",
    "brokers": "broker",
    "coordinators": "coordinator",
}


def cluster(image: str = OLD, nodes: dict[str, Any] | None = None, annotations: Any = None, **spec: Any) -> Cluster:
    """Return a cluster of four groups that rolls one after the other; `nodes` are further fields by group."""
    groups = {
        key: {**druid.NODE, "nodeType": kind, "replicas": 2, **((nodes or {}).get(key) or {})}
        for key, kind in TYPES.items()
    }
    resource = druid.resource(image=image, **{"nodes": groups, "rollingDeploy": True, **spec})
    resource["metadata"]["annotations"] = annotations or {}
    return Cluster.from_resource(resource)


def available(live: Manifest) -> Manifest:
    """Return a workload whose pods are all available and of the current revision."""
    replicas = live["spec"].get("replicas", 1)
    counts = ("replicas", "readyReplicas", "updatedReplicas", "availableReplicas")
    status = {"observedGeneration": 1, "currentRevision": "a", "updateRevision": "a"}
    return {**live, "status": {**status, **dict.fromkeys(counts, replicas)}}


def observed(which: Cluster, **status: Any) -> Observed:
    """Return the live state of a cluster whose pods are available; `status` has further fields by group.

    If no pod of a group is ready according to its status, its pods are not ready.
    """
    live = [stored(manifest) for manifest in render(which).objects]
    down = [f"druid-c-{key}" for key, fields in status.items() if fields.get("readyReplicas") == 0]
    pods = [
        {**each, "status": {**each["status"], "conditions": []}} if workload["metadata"]["name"] in down else each
        for workload in live
        if workload["kind"] in ("StatefulSet", "Deployment")
        for each in ready_pods(workload)
    ]
    found = [available(each) if each["kind"] in ("StatefulSet", "Deployment") else each for each in live]
    changed = {f"druid-c-{key}": fields for key, fields in status.items()}
    return (
        Observed()
        .with_objects(pods)
        .with_objects(
            {**each, "status": {**each["status"], **changed[each["metadata"]["name"]]}}
            if each["metadata"]["name"] in changed and "status" in each
            else each
            for each in found
        )
    )


def ready_pods(workload: Manifest) -> list[Manifest]:
    """Return the pods of a workload, all ready."""
    group = workload["metadata"]["name"].removeprefix("druid-c-")
    ready = [{"type": "Ready", "status": "True"}]
    first = workload["spec"].get("ordinals", {}).get("start", 0)
    ordinals = range(first, first + workload["spec"].get("replicas", 1))
    pods = [{"apiVersion": "v1", **pod(group, ordinal, conditions=ready)} for ordinal in ordinals]
    if workload["kind"] == "StatefulSet":
        return [{**each, "spec": {"subdomain": workload["spec"]["serviceName"]}} for each in pods]
    return [_of_a_deployment(each) for each in pods]


def _of_a_deployment(pod: Manifest) -> Manifest:
    metadata = pod["metadata"]
    labels = {name: text for name, text in metadata["labels"].items() if name != "controller-revision-hash"}
    name = metadata["name"].replace(metadata["labels"]["nodeSpecUniqueStr"], f"{labels['nodeSpecUniqueStr']}-5c6d")
    return {**pod, "metadata": {**metadata, "name": name, "labels": {**labels, "pod-template-hash": "5c6d"}}}


def pod(group: str, ordinal: int = 0, revision: str = "a", waiting: str = "", **status: Any) -> Manifest:
    """Return a pod of a group; `waiting` is the reason for which its container waits."""
    name = f"druid-c-{group}"
    fixed = {"app": "druid", "component": TYPES.get(group, group), "druid_cr": "c", "nodeSpecUniqueStr": name}
    labels = {**fixed, "controller-revision-hash": revision}
    state = {"waiting": {"reason": waiting}} if waiting else {"running": {}}
    metadata = {"name": f"{name}-{ordinal}", "namespace": "ns", "uid": f"uid-of-{name}-{ordinal}", "labels": labels}
    containers = [{"name": name, "state": state, **status.pop("container", {})}]
    return {"kind": "Pod", "metadata": metadata, "spec": {}, "status": {"containerStatuses": containers, **status}}


def steps(which: Cluster, live: Observed) -> tuple[Step, ...]:
    """Return the steps to the desired state, before any policy; a dry run would return what is predicted."""
    found = changed_objects(which, desired_state(which, live), live)
    return tuple(found)


def restarted(plan: Plan) -> list[str]:
    """Return the groups that a plan restarts now."""
    return [step.group or "" for step in plan.steps if step.restart.pods]


def predicted(step: Step) -> Step:
    """Return a recreation with the result of its dry run."""
    return replace(step, after={**(step.live or {}), "spec": {**(step.live or {})["spec"], **step.manifest["spec"]}})
