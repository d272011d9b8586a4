# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argo CD, kstatus (Flux) and kubectl wait agree with the condition Ready in each state of a cluster."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import KubernetesError
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
    until_reached,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    MERGE,
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.permissions import grant
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import group
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource
from testbed.clients import kubectl
from testbed.kstatus import kstatus
from testbed.lua import health

_PAGE = Path(__file__).parents[3] / "docs/gitops.md"
[_SCRIPTS] = re.findall(r"^```yaml\n(data:\n.*?)^```", _PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
# Our own health script for Argo CD.
SCRIPT = yaml.safe_load(yaml.safe_load(_SCRIPTS)["data"]["resource.customizations"])["druid.apache.org/*"]["health.lua"]
ROWS = yaml.safe_load(Path(__file__).with_name("health.yml").read_text(encoding="utf-8"))
NAME = "c"
NEW = {"spec": {"image": "apache/druid:37.0.0"}}
NEVER = {"metadata": {"annotations": {"test/ready": "never"}}}
NOWHERE = "http://127.0.0.1:1"


def create(live: NamespaceClient, **spec: Any) -> None:
    """Create two groups of two pods; there is no Druid at its address."""
    nodes = {key: group(key, key.removesuffix("s")) for key in ("historicals", "coordinators")}
    fixed = {"image": "apache/druid:36.0.0", "common.runtime.properties": "a=b", "rollingDeploy": True}
    live.create(resource(NAME, {**fixed, "endpoint": {"url": NOWHERE}, "nodes": nodes, **spec}))


def created(live: NamespaceClient) -> None:
    create(live)
    until_ready(live, NAME)


def changed(live: NamespaceClient, patch: Manifest) -> None:
    created(live)
    live.merge("Druid", NAME, patch)
    one_pass(live, NAME)


def later(live: NamespaceClient, minutes: int = 2) -> None:
    """Reconcile as if it was some minutes later."""
    clock = Clock(now=lambda: datetime.now(UTC) + timedelta(minutes=minutes))
    run(connection(live), cluster_request(NAME, live.namespace), lambda _text: None, clock)


def until(live: NamespaceClient, reason: str) -> None:
    """Reconcile until the condition Ready has this reason."""
    eventually(lambda: one_pass(live, NAME) and condition(live.get("Druid", NAME), "Ready")["reason"] == reason)


def creating(live: NamespaceClient) -> None:
    create(live)
    one_pass(live, NAME)


def ready_and_changed(live: NamespaceClient) -> None:
    created(live)
    live.merge("Druid", NAME, NEW)


def rolling_out(live: NamespaceClient) -> None:
    changed(live, {"spec": {**NEW["spec"], "nodes": {"historicals": {"podAnnotations": {"test/ready": "never"}}}}})
    until(live, "RollingOut")


def waiting_for_druid(live: NamespaceClient) -> None:
    """It answered at the start of the rollout."""
    changed(live, NEW)
    rollout = {"rollout": {"druidBefore": {"unavailableSegments": 0, "missingReplicas": 0, "supervisorsNotRunning": 0}}}
    path = f"{live.path('Druid', NAME)}/status"
    live.plane.request("PATCH", path, {"status": rollout}, user="admin", content_type=MERGE)

    def waits() -> bool:
        one_pass(live, NAME)
        return "Druid has recovered" in condition(live.get("Druid", NAME), "Ready")["message"]

    eventually(waits)


def lost_pod(live: NamespaceClient) -> None:
    created(live)
    live.merge("Pod", "druid-c-historicals-0", NEVER)
    until(live, "PodsNotReady")


def crashing(live: NamespaceClient) -> None:
    create(live, podAnnotations={"test/start": "crash"})
    until(live, "PodsFailing")


def crash_loop(live: NamespaceClient) -> None:
    crashing(live)
    later(live)


def rejected_pods(live: NamespaceClient) -> None:
    live.create({"kind": "ResourceQuota", "metadata": {"name": "pods"}, "spec": {"hard": {"pods": "0"}}})
    create(live)
    until(live, "PodsNotCreated")
    later(live)


def stalled(live: NamespaceClient) -> None:
    rolling_out(live)
    later(live, 60)


def blocked(live: NamespaceClient) -> None:
    created(live)
    live.merge("ConfigMap", "druid-c-historicals-config", {"immutable": True})
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"runtime.properties": "new=1"}}}})
    one_pass(live, NAME)


def unreadable(live: NamespaceClient) -> None:
    """The user has no permission to read the objects of the cluster."""
    created(live)
    grant(live, {"apiGroups": ["druid.apache.org"], "resources": ["druids", "druids/status"], "verbs": ["*"]})
    with pytest.raises(KubernetesError):
        run(connection(live, "limited"), cluster_request(NAME, live.namespace), lambda _text: None, Clock())


def paused_with_changes(live: NamespaceClient) -> None:
    changed(live, {"spec": {"paused": True, **NEW["spec"]}})


def stopping(live: NamespaceClient) -> None:
    created(live)
    for name in live.names("Pod"):
        live.merge("Pod", name, {"metadata": {"annotations": {"test/delete-delay": "10s"}}})
    live.merge("Druid", NAME, {"spec": {"stopped": True}})
    until(live, "RollingOut")


def stopped(live: NamespaceClient) -> None:
    changed(live, {"spec": {"stopped": True}})
    until_reached(live, NAME)


def deleting(live: NamespaceClient) -> None:
    """The operator has deleted the workloads; the next reconcile goes on."""
    created(live)
    live.delete("Druid", NAME)
    request = cluster_request(NAME, live.namespace, options=Options(keep_finalizer=True))
    run(connection(live), request, lambda _text: None, Clock())


STATES: dict[str, Callable[[NamespaceClient], None]] = {
    "never_reconciled": create,
    "ready": created,
    "changed": ready_and_changed,
    "paused": lambda live: changed(live, {"spec": {"paused": True}}),
    **{
        state.__name__: state
        for state in (
            creating, rolling_out, waiting_for_druid, lost_pod, crashing, crash_loop, rejected_pods, stalled, blocked,
            unreadable, paused_with_changes, stopping, stopped, deleting,
        )
    },
}  # fmt: skip


def argocd(live: Manifest) -> str:
    """Return the health by the rules of the script for this kind that is part of Argo CD 3.

    The script itself (resource_customizations/druid.apache.org/Druid/health.lua) is not part of this repository.
    """
    # Of a resource that is being deleted, Argo CD asks no script.
    if live["metadata"].get("deletionTimestamp"):
        return "Progressing"
    node = live.get("status", {}).get("druidNodeStatus") or {}
    kind, status = node.get("druidNodeConditionType"), node.get("druidNodeConditionStatus")
    if (kind, status) == ("DruidClusterReady", "True"):
        return "Healthy"
    return "Degraded" if kind == "DruidNodeErrorState" or status == "False" else "Progressing"


def kubectl_wait(live: NamespaceClient) -> str:
    """Return whether kubectl takes the condition Ready for met."""
    words = ["wait", "druids", NAME, "--namespace", live.namespace, "--for=condition=Ready", "--timeout=0s"]
    command = [kubectl(), "--kubeconfig", live.plane.kubeconfig("admin"), *words]
    return "met" if subprocess.run(command, capture_output=True, check=False).returncode == 0 else "waits"


@pytest.mark.parametrize("row", ROWS, ids=[row["state"] for row in ROWS])
def test_tools_agree_with_the_condition_ready(live: NamespaceClient, row: dict[str, str]) -> None:
    STATES[row["state"]](live)
    found = {"apiVersion": "druid.apache.org/v1alpha1", "kind": "Druid", **live.get("Druid", NAME)}
    ready = next((each for each in found["status"].get("conditions") or () if each["type"] == "Ready"), {})
    tools = {"argocd": argocd(found), "kstatus": kstatus(found), "kubectl": kubectl_wait(live)}
    assert {"reason": ready.get("reason"), **tools} == {"reason": row.get("reason"), **{key: row[key] for key in tools}}
    assert health(SCRIPT, found) == ("Progressing" if row["state"] == "changed" else row["argocd"])
    is_current = found["status"]["observedGeneration"] == found["metadata"]["generation"]
    is_ready = ready.get("status") == "True" and is_current
    assert (tools["kubectl"] == "met", tools["kstatus"] == "Current") == (is_ready, is_ready)


def test_each_state_is_in_the_table() -> None:
    assert {row["state"] for row in ROWS} == STATES.keys()
