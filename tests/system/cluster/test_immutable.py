# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What only a new object can have: the object is recreated, its pods and their data stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.merge_keys import without_duplicates
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.admission import WORDS, limit, refusing
from ansible_collections.druidops.druid.tests.system.support.campaign import MANY, SEED, THIRDS, campaign, only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import (
    NAME,
    STATEFUL,
    STATELESS,
    autoscaler,
    claim_template,
)
from ansible_collections.druidops.druid.tests.system.support.go_operator import GoOperator, identities, take_over
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    one_pass,
)
from ansible_collections.druidops.druid.tests.system.support.killed_run import dying_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    MERGE,
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)


class Change(NamedTuple):
    """What is changed of the group historicals, and which object has to be recreated for it."""

    node: dict[str, Any]
    kind: str = "StatefulSet"
    name: str = STATEFUL


HEADLESS = {"type": "ClusterIP", "clusterIP": "None"}
CHANGES = {
    "service name": Change(
        {"services": [{"metadata": {"name": "%s-other"}, "spec": HEADLESS}], "updateStrategy": {"type": "OnDelete"}}
    ),
    "pod management": Change({"podManagementPolicy": "OrderedReady"}),
    "claim template changed": Change(
        {"volumeClaimTemplates": [{**claim_template(), "metadata": {"name": "data", "labels": {"a": "b"}}}]}
    ),
    "Service without an address": Change(
        {"services": [{"spec": HEADLESS}, {"metadata": {"name": "%s-api"}, "spec": HEADLESS}]},
        "Service",
        f"{STATEFUL}-api",
    ),
}


@pytest.fixture
def cluster(live: NamespaceClient) -> NamespaceClient:
    """A cluster whose pods run."""
    full_cluster.create(
        live, historicals=full_cluster.historicals(replicas=2), brokers=full_cluster.brokers(replicas=1)
    )
    assert one_pass(live, NAME).plan.findings == ()
    eventually(lambda: is_settled(live))
    return live


def is_settled(live: NamespaceClient) -> bool:
    """True when every workload has all its pods, ready, and the controllers know it."""
    return all(_has_its_pods(each) for kind in ("StatefulSet", "Deployment") for each in live.list(kind))


def _has_its_pods(workload: Manifest) -> bool:
    status = workload["status"]
    known = status.get("observedGeneration") == workload["metadata"]["generation"]
    return bool(known and status.get("readyReplicas", 0) == workload["spec"]["replicas"] == status.get("replicas", 0))


def change(live: NamespaceClient, node: dict[str, Any]) -> None:
    """Change the group historicals in the resource."""
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": node}}})


def kept(live: NamespaceClient, *kinds: str) -> dict[tuple[str, str], str]:
    """Return the uids of all objects of these kinds."""
    return {(kind, each["metadata"]["name"]): each["metadata"]["uid"] for kind in kinds for each in live.list(kind)}


def belongs_to_its_workload(live: NamespaceClient) -> bool:
    """True when every pod of the StatefulSet is controlled by the one that is there now."""
    uid = live.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    pods = (pod for pod in live.list("Pod") if pod["metadata"]["name"].startswith(STATEFUL))
    return all(owner["uid"] == uid for pod in pods for owner in pod["metadata"]["ownerReferences"])


@pytest.mark.parametrize("what", CHANGES)
def test_is_recreated_and_nothing_else_is_deleted(cluster: NamespaceClient, what: str) -> None:
    replacement = CHANGES[what]
    old = cluster.get(replacement.kind, replacement.name)["metadata"]["uid"]
    data, everything = kept(cluster, "Pod", "PersistentVolumeClaim"), identities(cluster)
    change(cluster, replacement.node)

    mark = cluster.mark()
    checked = one_pass(cluster, NAME, check_mode=True)
    recreated = [tuple(step.key) for step in checked.plan.steps if step.operation.verb == "recreate"]
    assert (replacement.kind, replacement.name) in recreated
    assert [write for write in cluster.writes(mark) if not write.dry_run] == []
    assert identities(cluster) == everything

    assert one_pass(cluster, NAME).plan.findings == ()
    assert cluster.get(replacement.kind, replacement.name)["metadata"]["uid"] != old
    assert data.items() <= kept(cluster, "Pod", "PersistentVolumeClaim").items()
    assert one_pass(cluster, NAME).plan.steps == ()
    eventually(lambda: belongs_to_its_workload(cluster))
    assert data.items() <= kept(cluster, "Pod", "PersistentVolumeClaim").items()
    others = {key: identity for key, identity in everything.items() if "historicals" not in key[1]}
    after = identities(cluster)
    assert {key: after[key] for key in others} == others


def test_the_subdomain_of_running_pods_stays_headless(cluster: NamespaceClient) -> None:
    before = cluster.get("Service", STATEFUL)["metadata"]["uid"]
    change(cluster, {"services": [{"spec": {"type": "ClusterIP"}}, {"metadata": {"name": "%s-api"}}]})
    [finding] = one_pass(cluster, NAME).plan.findings
    assert (finding.reason, finding.object) == ("InvalidSpec", f"Service {STATEFUL}")
    assert cluster.get("Service", STATEFUL)["metadata"]["uid"] == before
    change(cluster, {"stopped": True})
    one_pass(cluster, NAME)
    eventually(lambda: not [key for key in kept(cluster, "Pod") if key[1].startswith(STATEFUL)])
    assert one_pass(cluster, NAME).plan.findings == ()
    assert cluster.get("Service", STATEFUL)["spec"]["clusterIP"] != "None"


def test_volume_claim_template_is_removed(cluster: NamespaceClient) -> None:
    """The mount is removed with it, which restarts the pods by the rollout; the PVCs are data and are kept."""
    claims = kept(cluster, "PersistentVolumeClaim")
    assert claims
    change(cluster, {"volumeClaimTemplates": None, "volumeMounts": None})
    assert one_pass(cluster, NAME).plan.findings == ()
    assert "volumeClaimTemplates" not in cluster.get("StatefulSet", STATEFUL)["spec"]
    eventually(lambda: is_settled(cluster))
    assert kept(cluster, "PersistentVolumeClaim") == claims
    assert one_pass(cluster, NAME).plan.steps == ()


def test_keeps_the_replicas_of_an_autoscaler(live: NamespaceClient) -> None:
    scaler = autoscaler("StatefulSet", STATEFUL)
    full_cluster.create(live, historicals=full_cluster.historicals(replicas=1, hpAutoscaler=scaler))
    one_pass(live, NAME)
    scale = f"{live.path('StatefulSet', STATEFUL)}/scale"
    live.plane.request("PATCH", scale, {"spec": {"replicas": 4}}, user="person", content_type=MERGE)
    eventually(lambda: is_settled(live))
    pods = kept(live, "Pod")
    assert len(pods) == 4
    change(live, {"podManagementPolicy": "OrderedReady"})
    assert one_pass(live, NAME).plan.findings == ()
    workload = live.get("StatefulSet", STATEFUL)
    assert (workload["spec"]["replicas"], workload["metadata"]["generation"]) == (4, 1)
    assert one_pass(live, NAME).plan.steps == ()
    eventually(lambda: belongs_to_its_workload(live))
    assert kept(live, "Pod") == pods


@pytest.mark.parametrize("is_deleted_first", [True, False], ids=["deleted before", "deleted after"])
def test_keeps_the_replicas_of_a_deleted_external_autoscaler(live: NamespaceClient, is_deleted_first: bool) -> None:
    """The controller of Kubernetes has scaled, and still owns the replicas of the new StatefulSet."""
    policy = {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}
    full_cluster.create(live, historicals=full_cluster.historicals(replicas=2, **policy))
    one_pass(live, NAME)
    spec = autoscaler("StatefulSet", STATEFUL, smallest=4)
    live.create({"kind": "HorizontalPodAutoscaler", "metadata": {"name": "external"}, "spec": spec})
    eventually(lambda: live.get("StatefulSet", STATEFUL)["spec"]["replicas"] == 4 and is_settled(live))
    data, owners = kept(live, "Pod", "PersistentVolumeClaim"), owners_of_replicas(live)
    assert (len(data), owners) == (8, {("kube-controller-manager", "Update", "scale")})
    if is_deleted_first:
        live.delete("HorizontalPodAutoscaler", "external")
        assert one_pass(live, NAME).plan.steps == ()
    old = live.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    change(live, {"podManagementPolicy": "OrderedReady"})
    assert one_pass(live, NAME).plan.findings == ()
    assert live.get("StatefulSet", STATEFUL)["metadata"]["uid"] != old
    assert owners_of_replicas(live) == owners
    assert one_pass(live, NAME).plan.steps == ()
    if not is_deleted_first:
        live.delete("HorizontalPodAutoscaler", "external")
    last = one_pass(live, NAME)
    assert last.plan.steps == ()
    assert len([text for text in last.warnings if "kubectl scale" in text]) == 1
    eventually(lambda: belongs_to_its_workload(live) and is_settled(live))
    assert owners_of_replicas(live) == owners
    assert kept(live, "Pod", "PersistentVolumeClaim") == data


def owners_of_replicas(live: NamespaceClient) -> set[tuple[str, str, str | None]]:
    """Return manager, operation and subresource of those that own the replicas of the StatefulSet."""
    entries = live.get("StatefulSet", STATEFUL)["metadata"]["managedFields"]
    owning = (each for each in entries if "f:replicas" in each["fieldsV1"].get("f:spec", {}))
    return {(each["manager"], each["operation"], each.get("subresource")) for each in owning}


def annotate_pods(live: NamespaceClient) -> None:
    """Add an annotation to the pods, as a user does."""
    note = {"note": "mine"}
    live.edit("StatefulSet", STATEFUL, lambda each: each["spec"]["template"]["metadata"].update(annotations=note))


def add_sidecar(live: NamespaceClient) -> None:
    sidecar = {"name": "sidecar", "image": "example.com/sidecar", "env": [{"name": "A", "value": "b"}]}
    live.edit("StatefulSet", STATEFUL, lambda each: each["spec"]["template"]["spec"]["containers"].append(sidecar))


def add_variable(live: NamespaceClient) -> None:
    def add(workload: Manifest) -> None:
        workload["spec"]["template"]["spec"]["containers"][0]["env"].insert(0, {"name": "MINE", "value": "text"})

    live.edit("StatefulSet", STATEFUL, add)


def apply_label(live: NamespaceClient) -> None:
    """Add a label to the pods, as a tool with its own field manager does."""
    template = {"metadata": {"labels": {"example.com/tool": "x"}}}
    body = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": STATEFUL},
        "spec": {"template": template},
    }
    path = f"{live.path('StatefulSet', STATEFUL)}?fieldManager=tool"
    live.plane.request("PATCH", path, body, user="person", content_type="application/apply-patch+yaml")


ADDITIONS: dict[str, tuple[Callable[[NamespaceClient], object], str]] = {
    "restart": (lambda live: live.restart("StatefulSet", STATEFUL), "kubectl-rollout"),
    "annotation": (annotate_pods, "kubectl-edit"),
    "sidecar": (add_sidecar, "kubectl-edit"),
    "variable": (add_variable, "kubectl-edit"),
    "label": (apply_label, "tool"),
}


def is_rolled_out(live: NamespaceClient) -> bool:
    """True when the controller has compared all pods with the template as it is now."""
    workload = live.get("StatefulSet", STATEFUL)
    status = workload["status"]
    is_known = status.get("observedGeneration") == workload["metadata"]["generation"]
    return is_settled(live) and is_known and status.get("updatedReplicas") == workload["spec"]["replicas"]


def shares(workload: Manifest) -> dict[tuple[str, str], Any]:
    """Return who owns what, bookkeeping of controllers left out."""
    entries = [each for each in workload["metadata"]["managedFields"] if "subresource" not in each]
    return {(each["manager"], each["operation"]): each["fieldsV1"] for each in entries}


@pytest.mark.parametrize("what", only_first(2, ADDITIONS, "the same for two of them"))
def test_keeps_foreign_additions_to_pods(cluster: NamespaceClient, what: str) -> None:
    """Without it the new StatefulSet would have another revision, and replace the pods that it was to keep."""
    add, manager = ADDITIONS[what]
    add(cluster)
    eventually(lambda: is_rolled_out(cluster))
    assert one_pass(cluster, NAME).plan.steps == ()
    before = cluster.get("StatefulSet", STATEFUL)
    data = kept(cluster, "Pod", "PersistentVolumeClaim")
    change(cluster, {"podManagementPolicy": "OrderedReady"})
    [step] = one_pass(cluster, NAME, check_mode=True).plan.steps
    assert (step.operation.verb, step.restart.is_requested) == ("recreate", False)
    assert one_pass(cluster, NAME).plan.findings == ()
    after = cluster.get("StatefulSet", STATEFUL)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"]["template"] == before["spec"]["template"]
    assert shares(after).keys() == {("druidops", "Apply"), next(key for key in shares(before) if key[0] == manager)}
    assert shares(after)[("druidops", "Apply")] == shares(before)[("druidops", "Apply")]
    assert one_pass(cluster, NAME).plan.steps == ()
    eventually(lambda: belongs_to_its_workload(cluster) and is_rolled_out(cluster))
    assert kept(cluster, "Pod", "PersistentVolumeClaim") == data


def test_keeps_foreign_additions_to_a_service(cluster: NamespaceClient) -> None:
    replacement = CHANGES["Service without an address"]
    mine = {"labels": {"example.com/mine": "yes"}, "annotations": {"example.com/mine": "yes"}}
    old = cluster.merge("Service", replacement.name, {"metadata": mine})["metadata"]
    change(cluster, replacement.node)
    assert one_pass(cluster, NAME).plan.findings == ()
    new = cluster.get("Service", replacement.name)["metadata"]
    assert new["uid"] != old["uid"]
    assert (new["labels"], new["annotations"]) == (old["labels"], old["annotations"])
    assert one_pass(cluster, NAME).plan.steps == ()


def test_keeps_foreign_additions_to_pods_with_duplicates(golden: NamespaceClient) -> None:
    """The Go operator's template stays as it is, and so does the time of a restart."""
    GoOperator(golden, "hand").run().settled()
    twice = next(each for each in golden.list("StatefulSet") if has_duplicates(each))
    name = twice["metadata"]["name"]
    golden.restart("StatefulSet", name)
    eventually(lambda: is_settled(golden) and has_restarted(golden, name))
    take_over(golden, "hand")
    pods = kept(golden, "Pod")
    group = name.removeprefix("druid-hand-")
    golden.merge("Druid", "hand", {"spec": {"nodes": {group: {"podManagementPolicy": "OrderedReady"}}}})
    assert one_pass(golden, "hand").plan.findings == ()
    after = golden.get("StatefulSet", name)
    assert after["metadata"]["uid"] != twice["metadata"]["uid"]
    assert has_duplicates(after)
    assert one_pass(golden, "hand").plan.steps == ()
    eventually(lambda: is_settled(golden) and has_restarted(golden, name))
    assert kept(golden, "Pod") == pods


def has_duplicates(workload: Manifest) -> bool:
    return bool(without_duplicates(workload["spec"]["template"])[1])


def has_restarted(live: NamespaceClient, name: str) -> bool:
    """True when all pods of the StatefulSet are of its template, and the controller knows it."""
    workload = live.get("StatefulSet", name)
    status = workload["status"]
    return bool(
        status["currentRevision"] == status["updateRevision"]
        and status["observedGeneration"] == workload["metadata"]["generation"]
    )


def test_is_rejected_if_pods_would_be_lost(cluster: NamespaceClient) -> None:
    pod = f"{STATEFUL}-1"
    cluster.merge("Pod", pod, {"metadata": {"labels": {"component": None}}})
    eventually(lambda: not cluster.get("Pod", pod)["metadata"].get("ownerReferences"))
    before = cluster.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    change(cluster, {"podManagementPolicy": "OrderedReady", "runtime.properties": "changed=too"})
    mark = cluster.mark()
    outcome = one_pass(cluster, NAME)
    assert [(finding.reason, finding.group) for finding in outcome.plan.findings] == [
        ("PodsWouldBeOrphaned", "historicals")
    ]
    assert pod in outcome.plan.findings[0].message
    assert condition(cluster.get("Druid", NAME), "Degraded")["reason"] == "PodsWouldBeOrphaned"
    assert [write for write in without_status(cluster.writes(mark)) if "dry run" not in write] == []
    assert cluster.get("StatefulSet", STATEFUL)["metadata"]["uid"] == before
    assert kept(cluster, "Pod")


@pytest.mark.parametrize("what", ["pod management", "Service without an address"])
def test_is_recreated_although_a_quota_is_full(cluster: NamespaceClient, what: str) -> None:
    replacement = CHANGES[what]
    counted = {"StatefulSet": "count/statefulsets.apps", "Service": "services"}[replacement.kind]
    limit(cluster, counted, len(cluster.list(replacement.kind)))
    old = cluster.get(replacement.kind, replacement.name)["metadata"]["uid"]
    data = kept(cluster, "Pod", "PersistentVolumeClaim")
    change(cluster, replacement.node)
    checked, done = one_pass(cluster, NAME, check_mode=True), one_pass(cluster, NAME)
    assert (checked.plan.findings, done.plan.findings) == ((), ())
    assert [step.key for step in checked.plan.steps] == [step.key for step in done.plan.steps]
    assert cluster.get(replacement.kind, replacement.name)["metadata"]["uid"] != old
    assert one_pass(cluster, NAME).plan.steps == ()
    eventually(lambda: belongs_to_its_workload(cluster))
    assert data.items() <= kept(cluster, "Pod", "PersistentVolumeClaim").items()


def test_is_kept_if_a_quota_rejects_its_replacement(cluster: NamespaceClient) -> None:
    limit(cluster, "count/statefulsets.apps", 0)
    assert_stays(cluster, "exceeded quota: limit")


def test_is_kept_if_a_policy_rejects_its_name(cluster: NamespaceClient) -> None:
    with refusing(cluster, "StatefulSet", STATEFUL):
        assert_stays(cluster, WORDS)


def assert_stays(live: NamespaceClient, words: str) -> None:
    """What cannot be recreated is not deleted."""
    before = live.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    change(live, {"podManagementPolicy": "OrderedReady"})
    [finding] = one_pass(live, NAME).plan.findings
    assert (finding.reason, finding.group) == ("RejectedByAPIServer", "historicals")
    assert words in finding.message
    assert live.get("StatefulSet", STATEFUL)["metadata"]["uid"] == before


# Whether the run is killed before or after a request is sent, and which one.
IS_SENT = [
    pytest.param(False, range(1, MANY, 3), id="before each third"),
    pytest.param(False, range(2 + SEED % 2, MANY, 3), id="before", marks=campaign("the same before others")),
    pytest.param(True, THIRDS, id="after", marks=campaign("the same before each third request")),
]
POLICIES = ("Parallel", "OrderedReady")


def deaths(steps: range = THIRDS) -> Iterator[tuple[int, str]]:
    """Yield number after number, each with another policy, so that each reconcile has something to recreate."""
    for number in steps:
        yield number, POLICIES[number % 2]


@pytest.mark.parametrize(("is_sent", "steps"), IS_SENT)
def test_completes_an_interrupted_recreation(live: NamespaceClient, is_sent: bool, steps: range) -> None:
    scaler = autoscaler("StatefulSet", STATEFUL)
    full_cluster.create(live, historicals=full_cluster.historicals(replicas=1, hpAutoscaler=scaler))
    one_pass(live, NAME)
    scale = f"{live.path('StatefulSet', STATEFUL)}/scale"
    live.plane.request("PATCH", scale, {"spec": {"replicas": 3}}, user="person", content_type=MERGE)
    eventually(lambda: is_settled(live))
    data = kept(live, "Pod", "PersistentVolumeClaim")
    assert len(data) == 6
    for number, policy in deaths(steps):
        change(live, {"podManagementPolicy": policy})
        was_killed = dying_pass(live, NAME, number, is_sent)
        if was_killed:
            assert one_pass(live, NAME).plan.findings == ()
        workload = live.get("StatefulSet", STATEFUL)
        assert (workload["spec"]["podManagementPolicy"], workload["spec"]["replicas"]) == (policy, 3), number
        assert one_pass(live, NAME).plan.steps == ()
        eventually(lambda: belongs_to_its_workload(live) and is_settled(live))
        assert kept(live, "Pod", "PersistentVolumeClaim") == data, number
        if not was_killed:
            break
    # The DELETE, a GET until it is deleted, the apply, the owners, status and events at the least.
    assert number > 5


@campaign("the same histories in the simulator")
def test_completed_recreations_keep_the_replicas_of_a_deleted_external_autoscaler(live: NamespaceClient) -> None:
    """The old StatefulSet is deleted, so that only the autoscaler shows who set the replicas."""
    full_cluster.create(live, historicals=full_cluster.historicals(replicas=2))
    one_pass(live, NAME)
    spec = autoscaler("StatefulSet", STATEFUL, smallest=4)
    for number, policy in deaths():
        live.create({"kind": "HorizontalPodAutoscaler", "metadata": {"name": "external"}, "spec": spec})
        eventually(lambda: live.get("StatefulSet", STATEFUL)["spec"]["replicas"] == 4 and is_settled(live))
        change(live, {"podManagementPolicy": policy})
        was_killed = dying_pass(live, NAME, number, True)
        assert one_pass(live, NAME).plan.findings == ()
        assert one_pass(live, NAME).plan.steps == ()
        assert owners_of_replicas(live) == {("kube-controller-manager", "Update", "scale")}, number
        live.delete("HorizontalPodAutoscaler", "external")
        assert one_pass(live, NAME).plan.steps == ()
        assert live.get("StatefulSet", STATEFUL)["spec"]["replicas"] == 4, number
        if not was_killed:
            break
    # The DELETE, a GET until it is deleted, the creation, the owners, status and events at the least.
    assert number > 5


@pytest.mark.parametrize(("is_sent", "steps"), IS_SENT)
def test_completes_an_interrupted_recreation_of_a_service(live: NamespaceClient, is_sent: bool, steps: range) -> None:
    full_cluster.create(live)
    one_pass(live, NAME)
    for number in steps:
        address = HEADLESS if number % 2 else {"type": "ClusterIP"}
        change(live, {"services": [{"spec": HEADLESS}, {"metadata": {"name": "%s-api"}, "spec": address}]})
        was_killed = dying_pass(live, NAME, number, is_sent)
        if was_killed:
            assert one_pass(live, NAME).plan.findings == ()
        assert (live.get("Service", f"{STATEFUL}-api")["spec"]["clusterIP"] == "None") == (address is HEADLESS), number
        assert one_pass(live, NAME).plan.steps == ()
        if not was_killed:
            break
    assert number > 3


@pytest.mark.parametrize(("is_sent", "steps"), IS_SENT)
def test_completes_an_interrupted_recreation_of_a_deployment(
    live: NamespaceClient, is_sent: bool, steps: range
) -> None:
    """The Go operator selects by podLabels, too, which a resource may no longer have."""
    full_cluster.create(live)
    one_pass(live, NAME)
    ours = live.get("Deployment", STATELESS)["spec"]["selector"]
    for number in steps:
        old = with_a_selector_of_the_go_operator(live)
        was_killed = dying_pass(live, NAME, number, is_sent)
        if was_killed:
            assert one_pass(live, NAME).plan.findings == ()
        deployment = live.get("Deployment", STATELESS)
        assert (deployment["spec"]["selector"], deployment["metadata"]["uid"] != old) == (ours, True), number
        assert one_pass(live, NAME).plan.steps == ()
        if not was_killed:
            break
    assert number > 3


def with_a_selector_of_the_go_operator(live: NamespaceClient) -> str:
    """Put a Deployment of the Go operator in the place of ours; return its uid.

    Its controller has annotated it: until then, a reconcile may have to leave it to the next one.
    """
    before = live.get("Deployment", STATELESS)
    live.delete("Deployment", STATELESS)
    eventually(lambda: live.find("Deployment", STATELESS) is None)
    metadata = {key: before["metadata"][key] for key in ("name", "labels", "ownerReferences")}
    annotated = {**before, "metadata": {**metadata, "annotations": {"druidOpResourceHash": "x"}}}
    for labels in (annotated["spec"]["selector"]["matchLabels"], annotated["spec"]["template"]["metadata"]["labels"]):
        labels["team"] = "a"
    uid: str = live.create(annotated)["metadata"]["uid"]
    revision = "deployment.kubernetes.io/revision"
    eventually(lambda: revision in live.get("Deployment", STATELESS)["metadata"]["annotations"])
    return uid


def test_selector_with_more_labels_than_the_new_pods(golden: NamespaceClient) -> None:
    """The Go operator selects by podLabels; OnDelete, so that the changed labels restart nothing."""
    operator = GoOperator(golden, "hand").run()
    operator.settled()
    take_over(golden, "hand")
    pods = kept(golden, "Pod")
    statefuls = {key: uid for key, uid in pods.items() if "brokers" not in key[1]}
    patch = {"updateStrategy": {"type": "OnDelete"}, "podLabels": {"team": "other"}}
    golden.merge("Druid", "hand", {"spec": patch})
    outcome = one_pass(golden, "hand")
    assert outcome.plan.findings == ()
    assert {step.key.kind for step in outcome.plan.steps if step.operation.verb == "recreate"} == {
        "StatefulSet",
        "Deployment",
    }
    for workload in golden.list("StatefulSet"):
        assert "team" not in workload["spec"]["selector"]["matchLabels"]
    eventually(lambda: _replica_sets_follow(golden))
    assert statefuls.items() <= kept(golden, "Pod").items()
    assert one_pass(golden, "hand").plan.steps == ()


def _replica_sets_follow(live: NamespaceClient) -> bool:
    """True when the Deployment that is there now controls the replica sets of the one before."""
    uid = live.get("Deployment", "druid-hand-brokers")["metadata"]["uid"]
    path = f"/apis/apps/v1/namespaces/{live.namespace}/replicasets"
    owners = [
        owner["uid"]
        for each in live.plane.request("GET", path)["items"]
        for owner in each["metadata"].get("ownerReferences", [{"uid": None}])
    ]
    return set(owners) == {uid}


@pytest.mark.parametrize("is_killed", [False, True], ids=["at once", "in two passes"])
def test_template_with_duplicates_is_recreated_unchanged(golden: NamespaceClient, is_killed: bool) -> None:
    operator = GoOperator(golden, "hand").run()
    operator.settled()
    take_over(golden, "hand")
    pods = kept(golden, "Pod")
    before = golden.get("StatefulSet", "druid-hand-historicals-hot")
    golden.merge("Druid", "hand", {"spec": {"nodes": {"historicals-hot": {"podManagementPolicy": "OrderedReady"}}}})
    if is_killed:
        assert dying_pass(golden, "hand", 1, is_sent=True)
    outcome = one_pass(golden, "hand")
    assert outcome.plan.findings == ()
    after = golden.get("StatefulSet", "druid-hand-historicals-hot")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"]["template"] == before["spec"]["template"]
    second = one_pass(golden, "hand")
    assert (second.plan.findings, second.plan.steps) == ((), ())
    operator.settled()
    assert kept(golden, "Pod") == pods
    # All of it is still ours: removed fields are removed.
    golden.merge("Druid", "hand", {"spec": {"workloadAnnotations": None}})
    one_pass(golden, "hand")
    deleted = golden.get("StatefulSet", "druid-hand-historicals-hot")
    assert "annotations" not in deleted["metadata"]
    assert deleted["spec"]["template"] == before["spec"]["template"]


def _is_deleted(cluster: NamespaceClient, kind: str) -> bool:
    assert one_pass(cluster, NAME).plan.findings == ()
    return STATEFUL not in cluster.names(kind)


def test_deployment_group_becomes_a_stateful_set_and_back(cluster: NamespaceClient) -> None:
    """Another kind is another object: the new one is created, the old one is deleted when its pods are replaced."""
    for kind, other in (("Deployment", "StatefulSet"), ("StatefulSet", "Deployment")):
        change(cluster, {"kind": kind, "volumeClaimTemplates": None, "volumeMounts": None})
        assert one_pass(cluster, NAME).plan.findings == ()
        assert cluster.names(kind) >= {STATEFUL} <= cluster.names(other)
        eventually(partial(_is_deleted, cluster, other))
        assert STATEFUL in cluster.names(kind)
        assert one_pass(cluster, NAME).plan.steps == ()
    assert STATELESS in cluster.names("Deployment")
