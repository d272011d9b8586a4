# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs of several groups grow, with the default storage class, and what a specification of volumes does not change."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import STEPS
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import claim_template
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_reached, until_ready
from ansible_collections.druidops.druid.tests.system.support.killed_run import dying_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    MERGE,
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.rolling_cluster import (
    NAME,
    group,
    pods,
    spec,
    unique_name,
    workload,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import resource

CLAIM = "PersistentVolumeClaim"
SET = unique_name("historicals")
MOUNT = {"name": "data", "mountPath": "/data"}


def create(live: NamespaceClient, cluster: Manifest, **nodes: Manifest) -> None:
    """Create the groups, and wait until their PVCs are bound."""
    live.create(resource(NAME, {**spec(), **cluster, "nodes": nodes}))
    until_ready(live, NAME)
    eventually(lambda: all(each["status"].get("capacity") for each in live.list(CLAIM)))


def historicals(**more: Any) -> Manifest:
    return group("historicals", "historical", **more)


def change(live: NamespaceClient, **fields: Any) -> None:
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": fields}}})


def sizes(live: NamespaceClient) -> dict[str, str]:
    """Return the requested size of each PVC."""
    return {each["metadata"]["name"]: each["spec"]["resources"]["requests"]["storage"] for each in live.list(CLAIM)}


def template_sizes(live: NamespaceClient, key: str) -> set[str]:
    """Return the sizes of the PVCs that the StatefulSet of a group creates."""
    templates = workload(live, key)["spec"]["volumeClaimTemplates"]
    return {each["spec"]["resources"]["requests"]["storage"] for each in templates}


def grow(live: NamespaceClient, name: str, storage: str) -> None:
    """Give the file system its new size, as the storage driver and the kubelet do."""
    body = {"status": {"capacity": {"storage": storage}}}
    live.plane.request("PATCH", f"{live.path(CLAIM, name)}/status", body, user="admin", content_type=MERGE)


def described(storage: str) -> tuple[Manifest, Manifest, Manifest]:
    """Return a template of the cluster, a stand-alone PVC of the first group, and a template of the second one."""
    cluster = {"volumeClaimTemplates": [claim_template(storage=storage)], "scalePvcSts": True}
    alone = {"persistentVolumeClaim": [claim_template("alone", storage)]}
    return cluster, alone, {"volumeClaimTemplates": [claim_template("more", storage)]}


def test_one_group_grows_after_the_other(live: NamespaceClient) -> None:
    """Templates of the cluster and of a group, and a stand-alone PVC."""
    cluster, alone, more = described("1Gi")
    second = group("middlemanagers", "middleManager", replicas=1, **more)
    create(live, cluster, historicals=historicals(replicas=1, **alone), middlemanagers=second)
    of_first, of_second = ["alone", f"data-{SET}-0"], [f"{name}-druid-c-middlemanagers-0" for name in ("data", "more")]
    assert sorted(sizes(live)) == sorted((*of_first, *of_second))
    for name in sizes(live):
        live.merge(CLAIM, name, {"metadata": {"annotations": {"test/resize": "never"}}})
    before = pods(live)

    cluster, alone, more = described("2Gi")
    nodes = {"historicals": alone, "middlemanagers": {**more, "replicas": 2}}
    live.merge("Druid", NAME, {"spec": {**cluster, "nodes": nodes}})
    one_pass(live, NAME)
    assert {name: sizes(live)[name] for name in (*of_first, *of_second)} == {
        **dict.fromkeys(of_first, "2Gi"),
        **dict.fromkeys(of_second, "1Gi"),
    }
    assert (template_sizes(live, "historicals"), template_sizes(live, "middlemanagers")) == ({"2Gi"}, {"1Gi"})
    # The number of pods does not wait.
    eventually(lambda: f"data-{unique_name('middlemanagers')}-1" in sizes(live))
    grow(live, of_first[0], "2Gi")
    one_pass(live, NAME)
    assert {sizes(live)[name] for name in of_second} == {"1Gi"}
    # Until then, the condition is about the new pod, or about the recreated StatefulSet that has not counted its pod.
    ready = {"historicals": 1, "middlemanagers": 2}
    eventually(lambda: {key: workload(live, key)["status"].get("readyReplicas") for key in ready} == ready)
    one_pass(live, NAME)
    message = condition(live.get("Druid", NAME), "Ready")["message"]
    assert f"PVC {of_second[0]} has 1Gi of 2Gi (the volumes of group historicals grow first)" in message
    grow(live, of_first[1], "2Gi")
    eventually(lambda: one_pass(live, NAME) and set(sizes(live).values()) == {"2Gi"})
    for name in of_second:
        grow(live, name, "2Gi")
    until_ready(live, NAME)
    assert template_sizes(live, "middlemanagers") == {"2Gi"}
    assert before.items() <= pods(live).items()
    assert one_pass(live, NAME).plan.steps == ()


def sized(first: str, second: str) -> dict[str, Manifest]:
    """Return two groups, each with a template of this size."""
    kinds = {"historicals": ("historical", first), "middlemanagers": ("middleManager", second)}
    return {
        key: group(key, kind, replicas=1, volumeClaimTemplates=[claim_template(storage=storage)])
        for key, (kind, storage) in kinds.items()
    }


def test_a_group_whose_volumes_cannot_grow_does_not_hold_another_one(live: NamespaceClient) -> None:
    """A quota has room for the second group only."""
    create(live, {"scalePvcSts": True}, **sized("1Gi", "1Gi"))
    of_second = f"data-{unique_name('middlemanagers')}-0"
    live.create({"kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"requests.storage": "4Gi"}}})
    eventually(lambda: live.get("ResourceQuota", "small").get("status", {}).get("used"))
    before = pods(live)

    live.merge("Druid", NAME, {"spec": {"nodes": sized("9Gi", "2Gi")}})
    outcome = one_pass(live, NAME)
    assert outcome.report is not None
    assert [problem.group for problem in outcome.report.problems] == ["historicals"]
    assert sizes(live) == {f"data-{SET}-0": "1Gi", of_second: "2Gi"}
    assert (template_sizes(live, "historicals"), template_sizes(live, "middlemanagers")) == ({"1Gi"}, {"2Gi"})
    assert pods(live) == before

    live.delete("ResourceQuota", "small")
    until_ready(live, NAME)
    assert sizes(live) == {f"data-{SET}-0": "9Gi", of_second: "2Gi"}


def test_volumes_do_not_wait_for_a_rollout(live: NamespaceClient) -> None:
    """The StatefulSet of the first group is recreated with new pods, so it waits for a rollout that has stalled."""
    nodes = sized("1Gi", "1Gi")
    create(
        live, {"scalePvcSts": True, "rollingDeploy": True}, **nodes, indexers=group("indexers", "indexer", replicas=1)
    )
    stuck = {"indexers": {"podAnnotations": {"test/ready": "never"}}}
    live.merge("Druid", NAME, {"spec": {"nodes": stuck}})
    one_pass(live, NAME)

    larger = sized("2Gi", "2Gi")
    larger["historicals"]["podAnnotations"] = {"new": "pods"}
    live.merge("Druid", NAME, {"spec": {"nodes": larger}})
    eventually(lambda: one_pass(live, NAME) and set(sizes(live).values()) == {"2Gi"})
    assert (template_sizes(live, "historicals"), template_sizes(live, "middlemanagers")) == ({"1Gi"}, {"2Gi"})


def test_a_pvc_that_others_have_expanded_further_stays(live: NamespaceClient) -> None:
    templates = {"volumeClaimTemplates": [claim_template()]}
    create(live, {"scalePvcSts": True}, historicals=historicals(**templates))
    first, second = sorted(sizes(live))
    live.merge(CLAIM, first, {"spec": {"resources": {"requests": {"storage": "5Gi"}}}})
    assert one_pass(live, NAME).plan.steps == ()
    change(live, volumeClaimTemplates=[claim_template(storage="2Gi")])
    until_ready(live, NAME)
    assert sizes(live) == {first: "5Gi", second: "2Gi"}
    assert one_pass(live, NAME).plan.steps == ()


@pytest.mark.parametrize("fewer", [{"stopped": True}, {"replicas": 1}], ids=["stopped", "fewer"])
def test_pvcs_without_a_pod_grow(live: NamespaceClient, fewer: Manifest) -> None:
    """Their file system grows with the next pod, and is not waited for."""
    flags = {"scalePvcSts": True, "deleteOrphanPvc": False}
    create(live, flags, historicals=historicals(volumeClaimTemplates=[claim_template()]))
    first, second = sorted(sizes(live))
    live.merge(CLAIM, second, {"metadata": {"annotations": {"test/resize": "never"}}})
    change(live, **fewer)
    until_reached(live, NAME)
    eventually(lambda: len(pods(live)) == (0 if "stopped" in fewer else 1))
    change(live, volumeClaimTemplates=[claim_template(storage="2Gi")])
    one_pass(live, NAME)
    assert set(sizes(live).values()) == {"2Gi"}
    assert template_sizes(live, "historicals") == {"2Gi"}
    pending = {"status": {"conditions": [{"type": "FileSystemResizePending", "status": "True"}]}}
    live.plane.request("PATCH", f"{live.path(CLAIM, second)}/status", pending, user="admin", content_type=MERGE)
    eventually(lambda: live.get(CLAIM, first)["status"]["capacity"]["storage"] == "2Gi")
    until_reached(live, NAME)
    assert condition(live.get("Druid", NAME), "Ready")["reason"] == (
        "Stopped" if "stopped" in fewer else "AllPodsReady"
    )
    assert one_pass(live, NAME).plan.steps == ()


@pytest.mark.parametrize("steps", STEPS)
def test_an_interrupted_expansion_is_finished(live: NamespaceClient, steps: range) -> None:
    create(live, {"scalePvcSts": True}, historicals=historicals(volumeClaimTemplates=[claim_template()]))
    before, claims = pods(live), {each["metadata"]["uid"] for each in live.list(CLAIM)}
    for number in steps:
        size = f"{number + 1}Gi"
        change(live, volumeClaimTemplates=[claim_template(storage=size)])
        was_killed = dying_pass(live, NAME, number, is_sent=True, first="PATCH")
        until_ready(live, NAME)
        assert (set(sizes(live).values()), template_sizes(live, "historicals")) == ({size}, {size}), number
        assert (pods(live), {each["metadata"]["uid"] for each in live.list(CLAIM)}) == (before, claims), number
        if not was_killed:
            break
    # Two dry runs, two PVCs, and the recreation at the least.
    assert number > 5


def warnings(live: NamespaceClient) -> str:
    found = (each for each in live.get("Druid", NAME)["status"]["conditions"] if each["type"] == "Warnings")
    return next((str(each["message"]) for each in found), "")


def test_a_segment_cache_that_is_larger_than_its_pvc(live: NamespaceClient) -> None:
    """It is a warning, and blocks nothing."""
    cache = 'druid.segmentCache.locations=[{"path":"/data/cache","maxSize":"2GiB"}]'
    node = historicals(replicas=1, volumeMounts=[MOUNT], volumeClaimTemplates=[claim_template()])
    create(live, {}, historicals={**node, "runtime.properties": cache})
    text = "druid.segmentCache.locations has a maxSize of 2147483648 bytes on volume data, and {} has only 1Gi"
    assert text.format("volumeClaimTemplates[data]") in warnings(live)
    change(live, volumeClaimTemplates=[claim_template(storage="2Gi")])
    until_ready(live, NAME)
    assert text.format(f"PVC data-{SET}-0") in warnings(live)
    live.merge("Druid", NAME, {"spec": {"scalePvcSts": True}})
    until_ready(live, NAME)
    one_pass(live, NAME)
    assert warnings(live) == ""


def annotated(**annotations: str | None) -> Manifest:
    template = claim_template()
    return {"volumeClaimTemplates": [{**template, "metadata": {**template["metadata"], "annotations": annotations}}]}


def test_annotations_of_pvcs(live: NamespaceClient) -> None:
    """Those of others stay, and all of them if they are not to be updated."""
    create(live, {"disablePVCAnnotationUpdate": True}, historicals=historicals(replicas=1, **annotated(team="a")))
    [name] = sizes(live)
    live.merge(CLAIM, name, {"metadata": {"annotations": {"own": "x"}}})
    before = pods(live)

    def found() -> tuple[str | None, str | None]:
        until_ready(live, NAME)
        annotations = live.get(CLAIM, name)["metadata"]["annotations"]
        return annotations.get("team"), annotations.get("own")

    change(live, **annotated(team="b"))
    assert found() == ("a", "x")
    live.merge("Druid", NAME, {"spec": {"disablePVCAnnotationUpdate": False}})
    change(live, **annotated(team="c"))
    assert found() == ("c", "x")
    change(live, volumeClaimTemplates=[claim_template()])
    assert found() == (None, "x")
    assert pods(live) == before
