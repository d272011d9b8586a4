# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan names each consequence for pods and PVCs, also after an interrupted recreation, and then that happens."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import plan_output
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import HASH, GoOperator
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient

NAME, KEY, CLAIM = "c", "historicals", "PersistentVolumeClaim"
SET = f"druid-{NAME}-{KEY}"
CLAIMS = [f"data-{SET}-0", f"data-{SET}-1"]


@pytest.fixture
def cluster(live: NamespaceClient) -> NamespaceClient:
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=2, deleteOrphanPvc=True)))
    until_ready(live, NAME)
    return live


def interrupt(live: NamespaceClient, name: str = SET) -> None:
    """Delete a StatefulSet without its pods, as a recreation that was interrupted."""
    live.delete("StatefulSet", name, "Orphan")
    eventually(lambda: live.find("StatefulSet", name) is None)
    pods = [f"{name}-{ordinal}" for ordinal in range(2)]
    eventually(lambda: not any(live.get("Pod", pod)["metadata"].get("ownerReferences") for pod in pods))


def change(live: NamespaceClient, **more: Any) -> None:
    live.merge("Druid", NAME, {"spec": {"nodes": {KEY: more}}})


def planned(live: NamespaceClient, name: str = NAME) -> list[str]:
    return plan_output.lines(one_pass(live, name, check_mode=True).plan)


def restarts(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("restart")]


def uids(live: NamespaceClient, kind: str, name: str = SET) -> dict[str, str]:
    found = (each["metadata"] for each in live.list(kind))
    return {each["name"]: each["uid"] for each in found if name in each["name"]}


def test_pods_of_the_same_template_are_adopted(cluster: NamespaceClient) -> None:
    before = uids(cluster, "Pod")
    interrupt(cluster)
    lines = planned(cluster)
    assert (f"create StatefulSet {SET}" in lines, restarts(lines)) == (True, [])
    until_ready(cluster, NAME)
    assert uids(cluster, "Pod") == before


def test_pods_of_another_template_restart(cluster: NamespaceClient) -> None:
    before = uids(cluster, "Pod")
    interrupt(cluster)
    change(cluster, image="apache/druid:36.0.0")
    images = "image: apache/druid:34.0.0 -> apache/druid:36.0.0"
    assert restarts(planned(cluster)) == [f"restart 1: group {KEY} (StatefulSet {SET}), 2 pods: {images}"]
    until_ready(cluster, NAME)
    after = uids(cluster, "Pod")
    assert after.keys() == before.keys()
    assert not {*after.values()} & {*before.values()}


def test_pvcs_of_a_removed_group_are_orphaned(cluster: NamespaceClient) -> None:
    interrupt(cluster)
    cluster.merge("Druid", NAME, {"spec": {"nodes": {KEY: None}}})
    outcome = one_pass(cluster, NAME, check_mode=True)
    marked = "(deleteOrphanPvc: marked, then deleted after 60 s)"
    orphaned = [f"orphan 1 PVC of Pod {SET}-{n} {marked}: {CLAIMS[n]} (destructive)" for n in range(2)]
    assert [line for line in plan_output.lines(outcome.plan) if line.startswith("orphan")] == orphaned
    assert outcome.plan.is_destructive
    eventually(lambda: one_pass(cluster, NAME) and all(map(is_marked, claims(cluster))))


def claims(live: NamespaceClient) -> list[Manifest]:
    return [live.get(CLAIM, name) for name in CLAIMS]


def is_marked(claim: Manifest) -> bool:
    return "toBeDeleted" in claim["metadata"]["labels"]


def test_a_renamed_claim_template_leaves_the_volumes_behind(cluster: NamespaceClient) -> None:
    template = small_cluster.spec()["nodes"][KEY]["volumeClaimTemplates"][0]
    mount = {"name": "cache", "mountPath": "/data"}
    change(cluster, volumeClaimTemplates=[{**template, "metadata": {"name": "cache"}}], volumeMounts=[mount])
    lines = planned(cluster)
    left = "whose claim template is removed; the data stays"
    assert f"abandon 2 PVCs of StatefulSet {SET}, {left}: {', '.join(CLAIMS)}" in lines
    assert f"start with empty volumes cache: 2 pods of StatefulSet {SET}" in lines
    assert len(restarts(lines)) == 1
    before = uids(cluster, CLAIM)
    until_ready(cluster, NAME)
    after = uids(cluster, CLAIM)
    assert (before.items() <= after.items(), after.keys() - before.keys()) == (
        True,
        {f"cache-{SET}-{ordinal}" for ordinal in range(2)},
    )
    assert not any(map(is_marked, claims(cluster)))


def test_a_takeover_of_an_interrupted_recreation(golden: NamespaceClient) -> None:
    """The Go operator has deleted a StatefulSet to expand its PVCs, and was stopped."""
    GoOperator(golden, "hand").run().settled()
    sets = {each["metadata"]["name"]: each for each in golden.list("StatefulSet") if each["spec"]["replicas"] == 2}
    name = sorted(sets)[0]
    before = uids(golden, "Pod", name)
    interrupt(golden, name)
    lines = planned(golden, "hand")
    assert (f"create StatefulSet {name}" in lines, restarts(lines)) == (True, [])
    assert one_pass(golden, "hand").plan.findings == ()
    eventually(lambda: golden.get("StatefulSet", name).get("status", {}).get("readyReplicas") == 2)
    assert uids(golden, "Pod", name) == before
    assert HASH not in golden.get("StatefulSet", name)["metadata"].get("annotations", {})
