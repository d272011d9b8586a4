# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A migration while the Go operator cleans up orphaned PVCs, or expands PVCs: nothing is lost, and no pod restarts."""

from __future__ import annotations

from ansible_collections.druidops.druid.tests.system.support import go_cluster, small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from testbed.go_operator import GoOperatorProgram

NAME = "c"
CLAIM = "PersistentVolumeClaim"
SETS = [f"druid-{NAME}-{key}" for key in small_cluster.KEYS]
ANNOTATION = "druid.apache.org/orphaned-since"


def run_by_go(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    """Create a cluster with two pods of each group, and have the Go operator start it."""
    live.create(go_cluster.resource(NAME, replicas=2))
    go_operator.start()

    def is_available(name: str) -> bool:
        return bool((live.find("StatefulSet", name) or {}).get("status", {}).get("readyReplicas", 0) == 2)

    eventually(lambda: all(map(is_available, SETS)), otherwise=lambda: go_operator.log[-3000:])


def take_over(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    go_operator.kill()
    live.merge("Druid", NAME, {"metadata": {"annotations": {"druid.apache.org/take-over": "true"}}})


def claims(live: NamespaceClient) -> dict[str, Manifest]:
    return {each["metadata"]["name"]: each for each in live.list(CLAIM)}


def uids(live: NamespaceClient, kind: str) -> dict[str, str]:
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in live.list(kind)}


def marked(live: NamespaceClient) -> dict[str, Manifest]:
    found = claims(live).items()
    return {name: each["metadata"] for name, each in found if "toBeDeleted" in each["metadata"]["labels"]}


def test_a_clean_up_of_the_go_operator(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    run_by_go(live, go_operator)
    nodes = {key: {"replicas": 1} for key in small_cluster.KEYS}
    live.merge("Druid", NAME, {"spec": {"nodes": nodes}})
    eventually(lambda: marked(live), otherwise=lambda: go_operator.log[-3000:])
    take_over(live, go_operator)
    before = uids(live, CLAIM)
    [name, metadata] = next(iter(marked(live).items()))
    # As if the Go operator had been stopped for a while: its own grace period is over.
    live.merge(CLAIM, name, {"metadata": {"labels": {"deletionTS": "1700000000"}}})
    assert ANNOTATION not in (metadata.get("annotations") or {})

    pods = uids(live, "Pod")
    eventually(lambda: until_ready(live, NAME) and not one_pass(live, NAME).changed)
    assert uids(live, CLAIM) == before
    assert marked(live).keys() == {f"data-{each}-1" for each in SETS}
    assert all(ANNOTATION in each["annotations"] for each in marked(live).values())

    live.merge(CLAIM, name, {"metadata": {"labels": {"toBeDeleted": None}}})
    live.merge("Druid", NAME, {"spec": {"orphanPvcGracePeriodSeconds": 0}})
    one_pass(live, NAME)
    left = {*(f"data-{each}-0" for each in SETS), name}
    eventually(lambda: claims(live).keys() == left)
    assert {name: before[name] for name in left} == uids(live, CLAIM)
    assert {name: pods.get(name) for name in uids(live, "Pod")} == uids(live, "Pod")


def test_an_expansion_of_the_go_operator(live: NamespaceClient, go_operator: GoOperatorProgram) -> None:
    run_by_go(live, go_operator)
    before = {kind: uids(live, kind) for kind in ("Pod", CLAIM)}
    stateful_sets = uids(live, "StatefulSet")
    spec = go_cluster.resource(NAME, replicas=2)["spec"]
    for node in spec["nodes"].values():
        node["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] = "2Gi"
    live.merge("Druid", NAME, {"spec": {**spec, "scalePvcSts": True}})
    # It has begun: a StatefulSet is deleted.
    eventually(lambda: uids(live, "StatefulSet") != stateful_sets, otherwise=lambda: go_operator.log[-3000:])
    take_over(live, go_operator)

    def is_finished() -> bool:
        until_ready(live, NAME)
        return not one_pass(live, NAME).changed

    eventually(is_finished)
    assert {each["spec"]["resources"]["requests"]["storage"] for each in claims(live).values()} == {"2Gi"}
    for each in live.list("StatefulSet"):
        [template] = each["spec"]["volumeClaimTemplates"]
        assert template["spec"]["resources"]["requests"]["storage"] == "2Gi"
    assert {kind: uids(live, kind) for kind in ("Pod", CLAIM)} == before
