# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A deletion that the API server rejects is known before the first write of its group, and check mode reports it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.admission import refusing
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    NamespaceClient,
    condition,
    without_status,
)
from ansible_collections.druidops.druid.tests.system.support.permissions import grant

NAME, KEY = "c", "historicals"
SET = f"druid-{NAME}-{KEY}"
DELETIONS = ("DELETE",)
READS = ["get", "list"]
WRITES = [*READS, "create", "update", "patch"]
RULES: list[dict[str, Any]] = [
    {"apiGroups": ["druid.apache.org"], "resources": ["druids", "druids/status"], "verbs": WRITES},
    {
        "apiGroups": [""],
        "resources": ["configmaps", "services", "events", "persistentvolumeclaims"],
        "verbs": [*WRITES, "delete"],
    },
    {"apiGroups": [""], "resources": ["pods", "resourcequotas"], "verbs": READS},
    {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": [*WRITES, "delete"]},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": [*WRITES, "delete"]},
    {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": [*WRITES, "delete"]},
    {"apiGroups": ["apps"], "resources": ["deployments", "statefulsets"], "verbs": WRITES},
    {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": READS},
]


@contextmanager
def without_the_right(live: NamespaceClient) -> Iterator[str]:
    grant(live, *RULES)
    yield "limited"


@contextmanager
def with_a_policy(live: NamespaceClient) -> Iterator[str]:
    with refusing(live, "StatefulSet", operations=DELETIONS):
        yield "druidops"


CAUSES = {"a policy": (with_a_policy, "not on a Sunday"), "a missing right": (without_the_right, "cannot delete")}
Cause = Callable[[NamespaceClient], AbstractContextManager[str]]


def pass_of(live: NamespaceClient, user: str, check_mode: bool = False) -> Outcome[Plan]:
    requested = cluster_request(NAME, live.namespace, options=Options(check_mode))
    return run(connection(live, user), requested, lambda _text: None, Clock())


@pytest.fixture
def cluster(live: NamespaceClient) -> NamespaceClient:
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=2)))
    until_ready(live, NAME)
    return live


def refused(live: NamespaceClient, user: str, words: str) -> str:
    """Reconcile in check mode, and then really; return the message, which is the same, and nothing is written."""
    mark = live.mark()
    [planned] = pass_of(live, user, check_mode=True).plan.findings
    outcome = pass_of(live, user)
    [finding] = outcome.plan.findings
    assert (finding, outcome.plan.steps) == (planned, ())
    assert (finding.reason, words in finding.message) == ("RejectedByAPIServer", True), finding.message
    assert f"StatefulSet {SET}" in finding.message
    writes = [*live.writes(mark, "druidops"), *live.writes(mark, "limited")]
    assert [write for write in without_status(writes) if "dry run" not in write] == []
    assert condition(live.get("Druid", NAME), "Degraded")["reason"] == "RejectedByAPIServer"
    progressing = condition(live.get("Druid", NAME), "Progressing")
    assert (progressing["status"], "pods are updated" in progressing["message"]) == ("False", False)
    return finding.message


@pytest.mark.parametrize("cause", CAUSES)
def test_nothing_of_a_group_is_written_if_its_recreation_is_rejected(cluster: NamespaceClient, cause: str) -> None:
    refuse, words = CAUSES[cause]
    template = small_cluster.spec()["nodes"][KEY]["volumeClaimTemplates"][0]
    template["metadata"]["annotations"] = {"backup": "daily"}
    changes = {
        "volumeClaimTemplates": [template],
        "image": "apache/druid:36.0.0",
        "runtime.properties": "druid.port=8083\nmore=yes",
    }
    cluster.merge("Druid", NAME, {"spec": {"nodes": {KEY: changes}}})
    with refuse(cluster) as user:
        assert refused(cluster, user, words).endswith(f"Nothing of group {KEY} is changed.")
    until_ready(cluster, NAME)
    claims = (each for each in cluster.list("PersistentVolumeClaim") if KEY in each["metadata"]["name"])
    assert [each["metadata"]["annotations"]["backup"] for each in claims] == ["daily"] * 2


@pytest.mark.parametrize("cause", CAUSES)
def test_no_object_of_a_removed_group_is_deleted_if_its_workload_has_to_stay(
    cluster: NamespaceClient, cause: str
) -> None:
    refuse, words = CAUSES[cause]
    cluster.merge("Druid", NAME, {"spec": {"nodes": {KEY: None}}})
    with refuse(cluster) as user:
        assert refused(cluster, user, words).endswith("No object of a removed group is deleted.")
        # All others are reconciled.
        cluster.merge(
            "Druid", NAME, {"spec": {"nodes": {"brokers": {"podDisruptionBudgetSpec": {"maxUnavailable": 2}}}}}
        )
        [step] = pass_of(cluster, user).plan.steps
        assert step.key.kind == "PodDisruptionBudget"
    eventually(lambda: one_pass(cluster, NAME) and SET not in cluster.names("StatefulSet") | cluster.names("Service"))


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_refused_removal_of_a_leaf_blocks_nothing_else(cluster: NamespaceClient, is_refused: bool) -> None:
    changes = {"podDisruptionBudgetSpec": None, "image": "apache/druid:36.0.0"}
    cluster.merge("Druid", NAME, {"spec": {"nodes": {KEY: changes}}})
    with refusing(cluster, "PodDisruptionBudget", operations=DELETIONS) if is_refused else nullcontext():
        outcome = one_pass(cluster, NAME)
    assert [(each.reason, each.object) for each in outcome.plan.findings] == (
        [("RejectedByAPIServer", f"PodDisruptionBudget {SET}")] if is_refused else []
    )
    assert f"StatefulSet {SET}" in {str(step.key) for step in outcome.plan.steps}


def everything(live: NamespaceClient) -> set[tuple[str, str]]:
    """Return the objects of the cluster, and the resource."""
    kinds = ("Druid", "StatefulSet", "Deployment", "Service", "ConfigMap", "PersistentVolumeClaim")
    return {(kind, name) for kind in kinds for name in live.names(kind)}


@pytest.mark.parametrize(
    ("how", "kind", "name"),
    [
        ({}, "PersistentVolumeClaim", f"data-{SET}-1"),
        ({"absent": True}, "PersistentVolumeClaim", f"data-{SET}-1"),
        ({"absent": True}, "Druid", NAME),
    ],
    ids=["by its finalizer", "by the task", "the resource itself"],
)
def test_nothing_of_a_cluster_is_deleted_if_one_object_has_to_stay(
    cluster: NamespaceClient, how: dict[str, Any], kind: str, name: str
) -> None:
    if not how:
        cluster.delete("Druid", NAME)
    before = everything(cluster)
    with refusing(cluster, kind, name, operations=DELETIONS):
        for check_mode in (True, False):
            outcome = one_pass(cluster, NAME, check_mode=check_mode, **how)
            [finding] = outcome.plan.problems
            assert "Nothing of the cluster is deleted." in finding.message
            way = "To delete the cluster and keep its PVCs, set disablePVCDeletionFinalizer: true."
            assert finding.message.endswith(way) is (kind == "PersistentVolumeClaim")
            assert (f"{kind} {name}" in finding.message, outcome.changed) == (True, False), finding.message
        assert everything(cluster) == before
        if not how:
            assert name in condition(cluster.get("Druid", NAME), "Degraded")["message"]
    eventually(lambda: one_pass(cluster, NAME, absent=True) and not cluster.list("Druid"))
    eventually(lambda: not cluster.list("PersistentVolumeClaim"))
