# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster whose groups restart one after the other, and what a test observes of that."""

from __future__ import annotations

from typing import Any

from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import is_terminating
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import is_ready
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource

NAME = "c"
OLD, NEW = "apache/druid:36.0.0", "apache/druid:37.0.0"
# In the order of an upgrade.
TYPES = {
    "historicals": "historical",
    "middlemanagers": "middleManager",
    "brokers": "broker",
    "coordinators": "coordinator",
}


ONE = {"replicas": 1}


def group(key: str, kind: str, **more: Any) -> Manifest:
    """Return a group of two pods; the brokers are a Deployment."""
    return {
        "nodeType": kind,
        "kind": "Deployment" if key == "brokers" else "StatefulSet",
        "druid.port": 8080,
        "nodeConfigMountPath": f"/opt/druid/conf/druid/cluster/{key}",
        "runtime.properties": f"druid.service=druid/{key}",
        "replicas": 2,
        "services": [{"spec": {"clusterIP": "None"}}],
        **more,
    }


def spec(image: str = OLD, **nodes: Any) -> Manifest:
    """Return four groups; `nodes` are further fields by group."""
    groups = {key: group(key, kind, **nodes.get(key, {})) for key, kind in TYPES.items()}
    return {"image": image, "common.runtime.properties": "a=b", "rollingDeploy": True, "nodes": groups}


def create(live: NamespaceClient, **nodes: Any) -> None:
    """Create the four groups, and wait for their pods."""
    live.create(resource(NAME, spec(**nodes)))
    until_ready(live, NAME)


def unique_name(key: str) -> str:
    """Return the name of the workload of a group."""
    return f"druid-{NAME}-{key}"


def workload(live: NamespaceClient, key: str) -> Manifest:
    """Return the workload of a group."""
    return live.get("Deployment" if key == "brokers" else "StatefulSet", unique_name(key))


def image(live: NamespaceClient, key: str) -> str:
    """Return the image of the pods that the workload of a group creates."""
    containers = workload(live, key)["spec"]["template"]["spec"]["containers"]
    return str(next(each["image"] for each in containers if each["name"] == unique_name(key)))


def images(live: NamespaceClient) -> dict[str, str]:
    """Return the image of each group."""
    return {key: image(live, key) for key in TYPES}


def pods(live: NamespaceClient, key: str = "") -> dict[str, str]:
    """Return name and uid of each pod, of one group or of all."""
    names = (each["metadata"] for each in live.list("Pod"))
    return {each["name"]: each["uid"] for each in names if each["name"].startswith(unique_name(key))}


def unready_groups(live: NamespaceClient) -> set[str]:
    """Return the groups with pods that are terminating or not ready."""
    found = (each for each in live.list("Pod") if is_terminating(each) or not is_ready(_conditions(each)))
    names = (each["metadata"]["labels"]["nodeSpecUniqueStr"] for each in found)
    return {name.removeprefix(unique_name("")) for name in names}


def _conditions(pod: Manifest) -> list[Manifest]:
    found: list[Manifest] = (pod.get("status") or {}).get("conditions") or []
    return found


def order_of_restarts(live: NamespaceClient) -> list[str]:
    """Reconcile until the cluster is ready, and return the groups in the order in which they restarted.

    After each reconcile, only pods of the group that has restarted last may be unavailable.
    """
    found: list[str] = []

    def is_done() -> bool:
        found.extend(one_pass(live, NAME).plan.restarts)
        assert not found or unready_groups(live) <= {found[-1]}, (found, unready_groups(live))
        return condition(live.get("Druid", NAME), "Ready")["status"] == "True"

    eventually(is_done)
    return found
