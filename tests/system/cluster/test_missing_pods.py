# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why pods are missing, or stay as they are: the conditions name the object, the cause, and the remedy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile import reasons
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import connection, one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import MERGE, NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import group
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource

NAME = "c"
HISTORICALS, BROKERS = "druid-c-historicals", "druid-c-brokers"
NEW = "apache/druid:37.0.0"
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "storageClassName": "gp2",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    },
}


def create(live: NamespaceClient, **historicals: Any) -> None:
    """Create a group with a StatefulSet, and one with a Deployment."""
    nodes = {
        "historicals": group("historicals", "historical", **historicals),
        "brokers": group("brokers", "broker"),
    }
    spec = {"image": "apache/druid:36.0.0", "common.runtime.properties": "a=b", "nodes": nodes}
    live.create(resource(NAME, spec))
    one_pass(live, NAME)


def degraded(live: NamespaceClient) -> tuple[str, str]:
    """Reconcile once, and return reason and message of the condition Degraded."""
    one_pass(live, NAME)
    found = condition(live.get("Druid", NAME), "Degraded")
    return found["reason"], found["message"]


def is_stalled(live: NamespaceClient, minutes: int) -> bool:
    """Reconcile as if it was some minutes later, and return whether the condition Stalled is true."""
    found = {**live.get("Druid", NAME), "kind": "Druid"}
    status = DRUID.reconcile(connection(live), found, Options(), Clock().now() + timedelta(minutes=minutes)).status
    kind = status["druidNodeStatus"]["druidNodeConditionType"]
    stalled = any(each["type"] == "Stalled" for each in status["conditions"])
    assert (kind == "DruidNodeErrorState") is stalled
    return stalled


def lists_of_events(live: NamespaceClient) -> int:
    """Reconcile once, and return how often that reads the events of the namespace."""
    mark = live.mark()
    one_pass(live, NAME)
    return sum((each.resource, each.verb) == ("events", "list") for each in live.requests(mark))


def enforce(live: NamespaceClient, level: str | None) -> None:
    """Set the level of the admission of pods in the namespace."""
    body = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}}
    live.plane.request("PATCH", f"/api/v1/namespaces/{live.namespace}", body, user="admin", content_type=MERGE)


def test_the_api_server_accepts_no_pod(live: NamespaceClient) -> None:
    enforce(live, "restricted")
    create(live)
    causes = [f"{kind}: FailedCreate: pods " for kind in (f"StatefulSet {HISTORICALS}", f"Deployment {BROKERS}")]
    eventually(lambda: all(cause in degraded(live)[1] for cause in causes))
    reason, message = degraded(live)
    assert reason == reasons.PODS_NOT_CREATED
    assert message.count("violates PodSecurity") == message.count("relax the label pod-security") == 2
    assert lists_of_events(live) == 1
    assert (is_stalled(live, 0), is_stalled(live, 5)) == (False, True)
    enforce(live, None)
    live.restart("StatefulSet", HISTORICALS)
    live.restart("Deployment", BROKERS)
    until_ready(live, NAME)
    assert degraded(live)[0] == reasons.AS_EXPECTED
    assert lists_of_events(live) == 0
    assert not is_stalled(live, 5)


def test_a_storage_class_does_not_exist(live: NamespaceClient) -> None:
    create(live, volumeMounts=[{"name": "data", "mountPath": "/druid/data"}], volumeClaimTemplates=[CLAIM])
    eventually(lambda: degraded(live)[0] == reasons.PODS_NOT_SCHEDULED)
    name = f"data-{HISTORICALS}-0"
    assert degraded(live)[1].startswith(
        f"PVC {name} of StorageClass gp2 has no volume: ProvisioningFailed: "
        'storageclass.storage.k8s.io "gp2" not found. Create this StorageClass, or specify another storageClassName'
    )
    assert (is_stalled(live, 0), is_stalled(live, 5)) == (False, True)


def test_a_deployment_is_paused(live: NamespaceClient) -> None:
    create(live)
    until_ready(live, NAME)
    live.merge("Deployment", BROKERS, {"spec": {"paused": True}})
    assert degraded(live)[0] == reasons.AS_EXPECTED
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"image": NEW}}}})
    eventually(lambda: degraded(live)[0] == reasons.ROLLOUT_PAUSED)
    command = f"kubectl rollout resume deployment/{BROKERS} --namespace {live.namespace}"
    assert command in degraded(live)[1]
    assert is_stalled(live, 0)
    live.merge("Deployment", BROKERS, {"spec": {"paused": None}})
    until_ready(live, NAME)


def test_a_config_map_is_immutable(live: NamespaceClient) -> None:
    create(live)
    live.merge("ConfigMap", f"{BROKERS}-config", {"immutable": True})
    live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"runtime.properties": "new=1"}}}})
    reason, message = degraded(live)
    assert reason == reasons.REJECTED_BY_API_SERVER
    assert f"delete it (kubectl delete configmap {BROKERS}-config --namespace {live.namespace})" in message
    assert is_stalled(live, 0)
    live.delete("ConfigMap", f"{BROKERS}-config")
    until_ready(live, NAME)
