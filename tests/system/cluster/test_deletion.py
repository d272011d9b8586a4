# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster in any state is deleted, however often a run is interrupted, together with its data, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster import names
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi, Transport
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support.campaign import STEPS, campaign, only_first
from ansible_collections.druidops.druid.tests.system.support.etcd_objects import store_spec
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import cluster_request, connection, one_pass
from ansible_collections.druidops.druid.tests.system.support.in_process import run as run_cluster
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)
from ansible_collections.druidops.druid.tests.system.support.small_cluster import (
    KEYS,
    claim,
    objects_of,
    resource,
    spec,
)

FINALIZER = "deletepvc.finalizers.druid.apache.org"
CLAIM = "PersistentVolumeClaim"
# More reconciles than these until a resource is released are too many.
PASSES = 3
# Fewer requests than this are not the whole story of a run.
FEWEST = 10

Everywhere = Callable[[Callable[[int], bool], str], None]


def deploy(live: NamespaceClient, name: str, specification: dict[str, Any] | None = None) -> None:
    """Create a cluster without pods, with a PVC for each group as pods create them."""
    live.create(resource(name, specification))
    assert one_pass(live, name).changed
    for key in KEYS:
        live.create(claim(name, key))


def test_wait_for_a_deleted_cluster_ends_with_its_deletion(live: NamespaceClient) -> None:
    deploy(live, "waited-for")
    live.delete("Druid", "waited-for")
    outcome = run_cluster(
        connection(live),
        cluster_request("waited-for", live.namespace, wait=True, wait_timeout=60, wait_sleep=0),
        lambda _text: None,
        Clock(),
    )
    assert (outcome.timed_out, outcome.problems) == (False, ())
    assert live.find("Druid", "waited-for") is None


def add_owned_claim(live: NamespaceClient, name: str) -> str:
    """Create a PVC of the resource itself as the Go operator does, which Kubernetes deletes with its owner."""
    owner = live.get("Druid", name)
    reference = {"apiVersion": owner["apiVersion"], "kind": "Druid", "name": name, "uid": owner["metadata"]["uid"]}
    owned = claim(name, KEYS[0], 7)
    owned["metadata"] |= {"name": f"{name}-extra", "ownerReferences": [{**reference, "controller": True}]}
    created: str = live.create(owned)["metadata"]["name"]
    return created


def deploy_with_pods(live: NamespaceClient, name: str) -> None:
    """Create a cluster with a pod and a PVC for each group."""
    live.create(resource(name, spec(replicas=1)))
    assert one_pass(live, name).changed
    eventually(lambda: [pod["status"]["phase"] for pod in live.list("Pod")] == ["Running"] * len(KEYS))


def own_claims(name: str) -> set[str]:
    """Return the names of the PVCs that `deploy` creates."""
    return {claim(name, key)["metadata"]["name"] for key in KEYS}


def until_deleted(live: NamespaceClient, name: str) -> None:
    """Reconcile as the operator does until the resource is deleted, which Kubernetes' own finalizer may delay."""
    for _pass in range(PASSES):
        if not is_held(live.find("Druid", name)):
            break
        one_pass(live, name)
    eventually(lambda: live.find("Druid", name) is None)


def is_held(resource: Manifest | None) -> bool:
    """True while our finalizer is there."""
    return resource is not None and names.FINALIZER in resource["metadata"].get("finalizers", [])


def left(live: NamespaceClient, name: str) -> set[str]:
    """Return what is left of a cluster and will stay."""
    found = (each for each in objects_of(live, name) if not each["metadata"].get("deletionTimestamp"))
    return {f"{each['kind']} {each['metadata']['name']}" for each in found}


def is_deleted(live: NamespaceClient, name: str) -> bool:
    """Wait until no object of a cluster remains."""
    return eventually(lambda: not objects_of(live, name))


def set_invalid(live: NamespaceClient, name: str) -> None:
    live.merge("Druid", name, {"spec": {"image": ""}})


def set_paused(live: NamespaceClient, name: str) -> None:
    live.merge("Druid", name, {"spec": {"paused": True}})


def set_ignored(live: NamespaceClient, name: str) -> None:
    live.merge("Druid", name, {"metadata": {"annotations": {"druid.apache.org/ignored": "true"}}})


def set_contested(live: NamespaceClient, name: str) -> None:
    hashed = {"metadata": {"annotations": {"druidOpResourceHash": "again"}}}
    live.merge("StatefulSet", f"druid-{name}-brokers", hashed)


def set_reference_missing(live: NamespaceClient, name: str) -> None:
    reference = {"kind": "ConfigMap", "name": "nowhere", "namespace": live.namespace}
    live.merge("Druid", name, {"spec": {"extraCommonConfig": [reference]}})


def set_half_deleted(live: NamespaceClient, name: str) -> None:
    live.delete("StatefulSet", f"druid-{name}-brokers")
    live.delete("ConfigMap", f"{name}-druid-common-config")
    live.delete(CLAIM, f"data-druid-{name}-brokers-0")


def set_all_deleted(live: NamespaceClient, name: str) -> None:
    for each in objects_of(live, name):
        if each["kind"] != "Druid":
            live.delete(each["kind"], each["metadata"]["name"])


BY = "the same for a resource or by the operator"
STATES: dict[str, tuple[Callable[[NamespaceClient, str], None], str]] = {
    "as it should be": (lambda _live, _name: None, "NoPods"),
    "invalid": (set_invalid, "InvalidSpec"),
    "paused": (set_paused, "Paused"),
    "ignored": (set_ignored, "Ignored"),
    "contested": (set_contested, "ConflictingOperator"),
    "reference missing": (set_reference_missing, "ReferenceNotFound"),
    "half gone": (set_half_deleted, ""),
    "all gone": (set_all_deleted, ""),
}


@pytest.mark.parametrize(
    ("keep", "state"),
    only_first(
        len(STATES) + 1,
        [*((False, state) for state in STATES), *((True, state) for state in STATES)],
        "each state with the data, and one of them without it",
    ),
)
def test_deleted_in_every_state(live: NamespaceClient, state: str, keep: bool) -> None:
    deploy(live, "c", spec(disablePVCDeletionFinalizer=keep))
    assert (FINALIZER in (live.get("Druid", "c")["metadata"].get("finalizers") or ())) is not keep
    change, reason = STATES[state]
    change(live, "c")
    if reason:
        eventually(lambda: one_pass(live, "c").report and has_reason(live.get("Druid", "c"), reason))
    add_owned_claim(live, "c")
    # Without a finalizer, Kubernetes deletes the owned objects without a reconcile.
    live.merge("Druid", "c", {"metadata": {"finalizers": [FINALIZER]}})
    claims = {each for each in left(live, "c") if each.startswith(CLAIM)}
    live.delete("Druid", "c")
    until_deleted(live, "c")
    eventually(lambda: left(live, "c") == (claims if keep else set()))
    assert not [each for each in live.list(CLAIM) if each["metadata"].get("ownerReferences")]


def has_reason(resource: Manifest, reason: str) -> bool:
    return reason in {condition(resource, kind)["reason"] for kind in ("Ready", "Paused")}


@pytest.mark.parametrize("keep", [True, False])
def test_last_value_of_the_flag_applies(live: NamespaceClient, keep: bool) -> None:
    deploy(live, "c", spec())
    claims = {*own_claims("c"), add_owned_claim(live, "c")}
    live.merge("Druid", "c", {"spec": {"disablePVCDeletionFinalizer": not keep}})
    live.delete("Druid", "c")
    live.merge("Druid", "c", {"spec": {"disablePVCDeletionFinalizer": keep}})
    until_deleted(live, "c")
    eventually(lambda: left(live, "c") == {f"{CLAIM} {name}" for name in claims if keep})
    assert not [each for each in live.list(CLAIM) if each["metadata"].get("ownerReferences")]


@pytest.mark.parametrize("held", [True, False], ids=["held by others", "going at once"])
def test_state_absent_respects_the_flag_for_owned_objects(live: NamespaceClient, held: bool) -> None:
    deploy(live, "c", spec(disablePVCDeletionFinalizer=True))
    owned = add_owned_claim(live, "c")
    if held:
        live.merge("Druid", "c", {"metadata": {"finalizers": ["x.example.com/y"]}})
        live.delete("Druid", "c")
    planned = one_pass(live, "c", check_mode=True, absent=True).plan.steps
    assert [step.operation.verb for step in planned if step.key.name == owned] == ["update"]
    one_pass(live, "c", absent=True)
    assert "ownerReferences" not in live.get(CLAIM, owned)["metadata"]
    if held:
        live.merge("Druid", "c", {"metadata": {"finalizers": None}})
    eventually(lambda: left(live, "c") == {f"{CLAIM} {name}" for name in (*own_claims("c"), owned)})


def test_kept_pvcs_are_not_garbage_collected(live: NamespaceClient) -> None:
    deploy(live, "c")
    owned = add_owned_claim(live, "c")
    foreign_pod(live, owned)
    live.delete("Druid", "c")
    until_deleted(live, "c")
    eventually(lambda: left(live, "c") == {f"{CLAIM} {owned}"})
    assert "ownerReferences" not in live.get(CLAIM, owned)["metadata"]


def test_flag_adds_and_removes_the_finalizer(live: NamespaceClient) -> None:
    deploy(live, "c", spec())
    for keep in (True, False):
        live.merge(
            "Druid",
            "c",
            {"spec": {"disablePVCDeletionFinalizer": keep}, "metadata": {"finalizers": ["x.example.com/y"]}},
        )
        one_pass(live, "c")
        assert live.get("Druid", "c")["metadata"]["finalizers"] == ["x.example.com/y", *([] if keep else [FINALIZER])]
    live.delete("Druid", "c")
    one_pass(live, "c")
    assert live.get("Druid", "c")["metadata"]["finalizers"] == ["x.example.com/y"]
    eventually(lambda: not live.names(CLAIM))
    one_pass(live, "c")
    live.merge("Druid", "c", {"metadata": {"finalizers": None}})


def test_playbook_and_operator_agree_on_the_finalizer(live: NamespaceClient) -> None:
    """ansible-operator sets it before each run when it is missing."""
    deploy(live, "c", spec(disablePVCDeletionFinalizer=True))
    one_pass(live, "c")
    live.edit("Druid", "c", lambda found: found["metadata"].update(finalizers=[FINALIZER]), "ansible-operator")
    operator = cluster_request("c", live.namespace, options=Options(keep_finalizer=True))
    for _turn in range(2):
        assert not one_pass(live, "c").changed
        assert not run_cluster(connection(live), operator, lambda _text: None, Clock()).changed
        assert live.get("Druid", "c")["metadata"]["finalizers"] == [FINALIZER]
    live.delete("Druid", "c")
    until_deleted(live, "c")
    eventually(lambda: left(live, "c") == {f"{CLAIM} {name}" for name in own_claims("c")})


@pytest.mark.parametrize(
    "specification",
    only_first(
        2,
        [
            {"nodes": {"a": {"replicas": "many"}}, "extraCommonConfig": "text"},
            ["text"],
            "text",
            {},
            {"nodes": "text"},
            {"nodes": {"a": None}},
            {"nodes": {"a": "text"}},
            {"nodes": {}, "extraCommonConfig": ["text"]},
        ],
        "the same for two of them",
    ),
    ids=repr,
)
def test_deleted_whatever_etcd_contains(live: NamespaceClient, specification: Any) -> None:
    deploy(live, "c", spec())
    store_spec(live, "c", specification)
    live.delete("Druid", "c")
    until_deleted(live, "c")
    assert is_deleted(live, "c")


def test_reports_why_a_resource_without_specification_is_kept(live: NamespaceClient) -> None:
    deploy(live, "c", spec())
    store_spec(live, "c", None)
    live.delete("Druid", "c")
    # The API server rejects any change of it, even this one, until it has a specification. Nothing is deleted before.
    problem, *others = reported(one_pass(live, "c"))
    assert "spec: Required value" in problem
    assert all("because Druid c failed" in text for text in others)
    live.merge("Druid", "c", {"spec": spec()})
    until_deleted(live, "c")
    assert is_deleted(live, "c")


def reported(outcome: Outcome) -> list[str]:
    assert outcome.report is not None
    return [problem.message for problem in outcome.report.problems]


def test_deleted_with_its_namespace(live: NamespaceClient) -> None:
    deploy_with_pods(live, "c")
    live.plane.request("DELETE", f"/api/v1/namespaces/{live.namespace}", user="person")
    # Kubernetes would do it, too, but only when it comes to it.
    live.delete("Druid", "c")
    until_deleted(live, "c")
    assert is_deleted(live, "c")


def test_orphan_deletion_keeps_all_objects(live: NamespaceClient) -> None:
    deploy(live, "c", spec())
    everything = left(live, "c") - {"Druid c"}
    live.delete("Druid", "c", "Orphan")
    until_deleted(live, "c")
    assert left(live, "c") == everything
    # An object without owner belongs to the recreated resource of this name, and is deleted with it.
    live.create(resource("c"))
    one_pass(live, "c")
    live.delete("Druid", "c")
    until_deleted(live, "c")
    assert is_deleted(live, "c")


def test_orphan_deletion_keeps_all_objects_if_kubernetes_is_faster(live: NamespaceClient) -> None:
    deploy(live, "c", spec())
    everything = left(live, "c") - {"Druid c"}
    live.delete("Druid", "c", "Orphan")
    eventually(lambda: "orphan" not in live.get("Druid", "c")["metadata"]["finalizers"])
    until_deleted(live, "c")
    assert left(live, "c") == everything


def test_deletes_pvcs_of_pods_that_are_being_created(live: NamespaceClient) -> None:
    for name in ("c0", "c1", "c2"):
        live.create(resource(name, spec(replicas=3)))
        one_pass(live, name)
        live.delete("Druid", name)
        until_deleted(live, name)
    for name in ("c0", "c1", "c2"):
        assert is_deleted(live, name)


def foreign_pod(live: NamespaceClient, claim_name: str) -> None:
    """Create a pod without relation to the cluster that mounts that PVC."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim_name}}
    container = {"name": "reader", "image": "example.com/reader"}
    live.create(
        {"kind": "Pod", "metadata": {"name": "reader"}, "spec": {"containers": [container], "volumes": [volume]}}
    )


def foreign_claims(live: NamespaceClient) -> set[str]:
    """Create PVCs whose names look like those of the cluster a-b, and return their names."""
    other = claim("a", "b-historicals", ordinal=1)
    labelled = claim("a-b", "historicals", 2, app=None, component=None, nodeSpecUniqueStr=None)
    backup = claim("a-b", "historicals", 3)
    backup["metadata"]["name"] = "backup-of-historicals"
    owned = claim("a-b", "historicals", 4)
    owner = live.create({"kind": "ConfigMap", "metadata": {"name": "owner"}})["metadata"]["uid"]
    owned["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner, "controller": True}
    ]
    mounted = claim("a-b", "historicals", 5)
    found = (other, labelled, backup, owned, mounted)
    for each in found:
        live.create(each)
    foreign_pod(live, mounted["metadata"]["name"])
    return {each["metadata"]["name"] for each in found}


@pytest.mark.parametrize("by", only_first(2, ["operator", "variable", "hand"], BY))
def test_deletes_only_its_own_pvcs(live: NamespaceClient, by: str) -> None:
    foreign = foreign_claims(live)
    if by == "variable":
        one_pass(live, "a-b", without_resource=True, spec=spec())
        for key in KEYS:
            live.create(claim("a-b", key))
    else:
        deploy(live, "a-b")
    if by == "operator":
        live.delete("Druid", "a-b")
        until_deleted(live, "a-b")
    else:
        inputs: dict[str, Any] = {
            "absent": True,
            **({"without_resource": True, "spec": spec()} if by == "variable" else {}),
        }
        messages: list[str] = []
        request = cluster_request("a-b", live.namespace, **inputs)
        outcome = run_cluster(connection(live), request, messages.append, Clock())
        assert [text for text in outcome.warnings if "pod reader mounts it" in text]
        assert {
            name for name in own_claims("a-b") | foreign if any(f" {name} " in text for text in messages)
        } == own_claims("a-b")
    eventually(lambda: live.names(CLAIM) == foreign)
    assert [each["metadata"]["name"] for each in live.list(CLAIM) if each["metadata"].get("deletionTimestamp")] == []


@pytest.mark.parametrize("by", only_first(1, ["operator", "hand"], BY))
def test_reports_kept_data_if_orphan_deletion_is_uncertain(live: NamespaceClient, by: str) -> None:
    deploy(live, "c")
    common = "c-druid-common-config"
    live.merge("ConfigMap", common, {"metadata": {"ownerReferences": None}})
    plan = one_pass(live, "c", check_mode=True, absent=True)
    assert [str(step.key) for step in plan.plan.steps if step.key.kind == CLAIM] == []
    [warning] = plan.warnings
    assert warning.startswith(f"These PVCs are retained, since ConfigMap {common} has no owner")
    assert all(name in warning for name in own_claims("c"))
    if by == "operator":
        live.delete("Druid", "c")
        until_deleted(live, "c")
    else:
        assert warning in one_pass(live, "c", absent=True).warnings
    messages = [each["message"] for each in live.list("Event") if each["reason"] == "PVCsRetained"]
    assert messages == [warning]
    eventually(lambda: left(live, "c") == {f"ConfigMap {common}", *(f"{CLAIM} {name}" for name in own_claims("c"))})


def test_restores_the_owner_reference_first(live: NamespaceClient) -> None:
    deploy(live, "c")
    live.merge("ConfigMap", "c-druid-common-config", {"metadata": {"ownerReferences": None}})
    one_pass(live, "c")
    assert one_pass(live, "c", absent=True).warnings == ()
    assert is_deleted(live, "c")


@dataclass
class LateController:
    """Creates a PVC after the workloads are deleted and the PVCs are listed: a controller sync that was in progress."""

    live: NamespaceClient
    transport: Transport
    late: Manifest
    has_begun: bool = False
    is_created: bool = False

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send the request."""
        answer = self.transport.request(method, url, **arguments)
        self.has_begun = self.has_begun or (method == "DELETE" and "/statefulsets/" in url)
        if self.has_begun and method == "GET" and "/persistentvolumeclaims?" in url and not self.is_created:
            self.is_created = True
            self.live.create(self.late)
        return answer


@pytest.mark.parametrize("by", only_first(1, ["resource", "variable"], BY))
def test_deletes_a_pvc_that_a_controller_creates_at_the_last_moment(live: NamespaceClient, by: str) -> None:
    if by == "resource":
        deploy_with_pods(live, "c")
    else:
        one_pass(live, "c", without_resource=True, spec=spec(replicas=1))
        eventually(lambda: [pod["status"]["phase"] for pod in live.list("Pod")] == ["Running"] * len(KEYS))
    inputs: dict[str, Any] = {} if by == "resource" else {"without_resource": True, "spec": spec()}
    api = connection(live)
    late = LateController(live, api.transport, claim("c", "brokers", 1))
    lines: list[str] = []
    request = cluster_request("c", live.namespace, absent=True, **inputs)
    outcome = run_cluster(replace(api, transport=late), request, lines.append, Clock())
    assert late.is_created
    assert is_deleted(live, "c")
    claims = {late.late["metadata"]["name"], *own_claims("c")}
    assert sorted(lines) == sorted(f"Deletes PVC {name} and the data in its volume." for name in claims)
    assert {step.key.name for step in outcome.plan.steps if step.key.kind == CLAIM} == claims


class Witness:
    """Sends each request, and records which PVCs were deleted, with the lines that were printed before."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.lines: list[str] = []
        self.deleted: list[tuple[str, list[str]]] = []

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        if method == "DELETE" and "/persistentvolumeclaims/" in url and "dryRun" not in url:
            self.deleted.append((url.rpartition("/")[2], [*self.lines]))
        return self.transport.request(method, url, **arguments)


@pytest.mark.parametrize("by", only_first(1, ["resource", "variable", "resource that is being deleted"], BY))
def test_names_a_pvc_before_it_is_deleted(live: NamespaceClient, by: str) -> None:
    if by == "variable":
        one_pass(live, "c", without_resource=True, spec=spec(replicas=1))
        eventually(lambda: set(live.names(CLAIM)) == own_claims("c"))
    else:
        deploy_with_pods(live, "c")
    if by == "resource that is being deleted":
        live.delete("Druid", "c")
    inputs: dict[str, Any] = {"without_resource": True, "spec": spec()} if by == "variable" else {}
    api = connection(live)
    witness = Witness(api.transport)
    request = cluster_request("c", live.namespace, absent=True, wait=True, wait_timeout=60, wait_sleep=0.1, **inputs)
    outcome = run_cluster(replace(api, transport=witness), request, witness.lines.append, Clock())
    assert outcome.changed
    assert not outcome.timed_out
    assert {name for name, _lines in witness.deleted} == own_claims("c")
    for name, lines in witness.deleted:
        assert f"Deletes PVC {name} and the data in its volume." in lines
    assert len(witness.lines) == len(set(witness.lines))


def test_waits_by_name_for_objects_with_foreign_finalizers_without_a_change(live: NamespaceClient) -> None:
    deploy(live, "c")
    live.merge("Druid", "c", {"metadata": {"finalizers": ["x.example.com/y"]}})
    live.delete("Druid", "c")
    one_pass(live, "c", absent=True)
    for check_mode in (True, False):
        mark = live.mark()
        again = one_pass(live, "c", check_mode=check_mode, absent=True)
        assert not again.changed
        assert again.plan.steps == ()
        assert without_status(live.writes(mark)) == []
    lines: list[str] = []
    request = cluster_request("c", live.namespace, absent=True, wait=True, wait_timeout=1, wait_sleep=0.1)
    waited = run_cluster(connection(live), request, lines.append, Clock())
    assert of_outcome(DRUID, request, waited, fail_when_blocked=True)["msg"].endswith(
        ": timed out waiting for the deletion of Druid c (finalizers: x.example.com/y) after 1 s."
    )
    assert lines == ["Waiting for the deletion of Druid c (finalizers: x.example.com/y)."]


def as_deployment(specification: dict[str, Any]) -> dict[str, Any]:
    """Return the specification with brokers that are a Deployment."""
    unset = ("volumeClaimTemplates", "volumeMounts")
    brokers = {name: value for name, value in specification["nodes"]["brokers"].items() if name not in unset}
    return {**specification, "nodes": {**specification["nodes"], "brokers": {**brokers, "kind": "Deployment"}}}


def left_alone(live: NamespaceClient, kind: str) -> None:
    """Delete the brokers' workload as a run does that is killed before it recreates it: its pods run on."""
    live.delete(kind, "druid-c-brokers", "Orphan")
    left_kind = {"StatefulSet": "Pod", "Deployment": "ReplicaSet"}[kind]
    eventually(lambda: live.find(kind, "druid-c-brokers") is None)
    assert [each for each in of_brokers(live, left_kind) if "ownerReferences" not in each["metadata"]]


def of_brokers(live: NamespaceClient, kind: str) -> list[Manifest]:
    return [each for each in live.list(kind) if each["metadata"]["name"].startswith("druid-c-brokers-")]


def deploy_and_leave_alone(live: NamespaceClient, kind: str, without_resource: bool = False, **more: Any) -> None:
    specification = spec(replicas=1, **more) if kind == "StatefulSet" else as_deployment(spec(replicas=1, **more))
    if without_resource:
        one_pass(live, "c", without_resource=True, spec=specification)
    else:
        live.create(resource("c", specification))
        one_pass(live, "c")
    eventually(lambda: [pod["status"]["phase"] for pod in live.list("Pod")] == ["Running"] * len(KEYS))
    left_alone(live, kind)


def test_orphaned_pods_are_deleted_with_a_resource_that_has_foreign_finalizers(live: NamespaceClient) -> None:
    deploy_and_leave_alone(live, "StatefulSet", disablePVCDeletionFinalizer=True)
    live.merge("Druid", "c", {"metadata": {"finalizers": ["x.example.com/y"]}})
    live.delete("Druid", "c")
    one_pass(live, "c", absent=True)
    eventually(lambda: not of_brokers(live, "Pod"))
    assert set(live.names(CLAIM)) == own_claims("c")


def nothing_runs(live: NamespaceClient) -> bool:
    return eventually(lambda: not live.list("Pod") and not live.list("ReplicaSet"))


@pytest.mark.parametrize("by", only_first(1, ["operator", "hand", "hand, keeping data", "variable"], BY))
@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_pods_of_an_interrupted_recreation_are_deleted_with_the_cluster(
    live: NamespaceClient, kind: str, by: str
) -> None:
    keep = by == "hand, keeping data"
    deploy_and_leave_alone(live, kind, by == "variable", disablePVCDeletionFinalizer=keep)
    if by == "operator":
        live.delete("Druid", "c")
        until_deleted(live, "c")
    else:
        inputs: dict[str, Any] = {"without_resource": True, "spec": spec()} if by == "variable" else {}
        one_pass(live, "c", absent=True, **inputs)
    assert nothing_runs(live)
    eventually(lambda: {each.partition(" ")[0] for each in left(live, "c")} == ({CLAIM} if keep else set()))


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment"])
def test_pods_of_an_interrupted_recreation_are_deleted_with_their_group(live: NamespaceClient, kind: str) -> None:
    deploy_and_leave_alone(live, kind)
    leaving = {each["metadata"]["uid"] for each in of_brokers(live, "Pod")}
    [stays] = {each["metadata"]["uid"] for each in live.list("Pod")} - leaving
    live.merge("Druid", "c", {"spec": {"nodes": {"brokers": None}}})
    planned = {str(step.key) for step in one_pass(live, "c", check_mode=True).plan.steps}
    left_kind = {"StatefulSet": "Pod", "Deployment": "ReplicaSet"}[kind]
    assert {f"{left_kind} {each['metadata']['name']}" for each in of_brokers(live, left_kind)} <= planned
    one_pass(live, "c")
    eventually(lambda: [each["metadata"]["uid"] for each in live.list("Pod")] == [stays])
    eventually(lambda: not live.list("ReplicaSet"))
    eventually(lambda: one_pass(live, "c") and (kind == "Deployment" or _has_orphaned_claim(live)))
    # If no group was removed, its remains are not searched.
    mark = live.mark()
    assert one_pass(live, "c").plan.steps == ()
    assert [each.resource for each in live.requests(mark) if each.resource == "replicasets"] == []


def _has_orphaned_claim(live: NamespaceClient) -> bool:
    return any("toBeDeleted" in each["metadata"]["labels"] for each in live.list("PersistentVolumeClaim"))


def test_workloads_are_deleted_before_their_pvcs(live: NamespaceClient) -> None:
    deploy_with_pods(live, "c")
    live.delete("Druid", "c")
    mark = live.mark()
    until_deleted(live, "c")
    deleted = [each.resource for each in live.writes(mark) if each.verb == "delete" and not each.dry_run]
    assert deleted == ["statefulsets"] * len(KEYS) + ["persistentvolumeclaims"] * len(KEYS)
    assert is_deleted(live, "c")


class Killed(BaseException):
    """The process is killed: the program under test cannot catch this."""


@dataclass
class Mortal:
    """Sends that many requests."""

    transport: Transport
    requests: int

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send the request, and die if it was the last."""
        answer = self.transport.request(method, url, **arguments)
        self.requests -= 1
        if self.requests == 0:
            raise Killed
        return answer


def is_killed(live: NamespaceClient, request: Request, requests: int) -> bool:
    """Make a run that is killed after this number of requests; False if it needs fewer."""
    api = connection(live)
    try:
        run(replace(api, transport=Mortal(api.transport, requests)), request)
    except Killed:
        return True
    return False


def run(api: KubernetesApi, request: Request) -> Outcome:
    outcome = run_cluster(api, request, lambda _text: None, Clock())
    assert outcome.report is None or outcome.report.problems == ()
    return outcome


@pytest.fixture(params=STEPS)
def killed_everywhere(record_property: Callable[[str, object], None], request: pytest.FixtureRequest) -> Everywhere:
    """Let an attempt die after its first request, then after a later one, until it is not killed any more."""
    steps: range = request.param

    def everywhere(attempt: Callable[[int], bool], what: str) -> None:
        requests = next(requests for requests in steps if not attempt(requests))
        assert requests > FEWEST
        killed = f"killed after one in {steps.step} of {requests - 1} requests"
        record_property("measurement", f"{what}: {killed}, and one more run finished it")

    return everywhere


@pytest.mark.parametrize("keep", [False, True], ids=["with its data", "but not its data"])
def test_second_run_completes_the_finalizer(live: NamespaceClient, keep: bool, killed_everywhere: Everywhere) -> None:
    def attempt(requests: int) -> bool:
        name = f"c{requests}"
        deploy(live, name)
        claims = {*own_claims(name), add_owned_claim(live, name)}
        if keep:
            live.merge("Druid", name, {"spec": {"disablePVCDeletionFinalizer": True}})
        live.delete("Druid", name)
        killed = is_killed(live, cluster_request(name, live.namespace), requests)
        until_deleted(live, name)
        assert {each for each in left(live, name) if each.startswith(CLAIM)} == {
            f"{CLAIM} {each}" for each in claims if keep
        }
        assert not keep or "ownerReferences" not in live.get(CLAIM, f"{name}-extra")["metadata"]
        return killed

    killed_everywhere(attempt, "finalizer")


def test_second_run_completes_a_deletion_in_the_foreground(
    live: NamespaceClient, killed_everywhere: Everywhere
) -> None:
    """All PVCs are deleted once the deletion is recorded; before, none may be, since Kubernetes deletes all objects."""

    def attempt(requests: int) -> bool:
        name = f"c{requests}"
        deploy(live, name)
        claims = {f"{CLAIM} {each}" for each in own_claims(name)}
        live.delete("Druid", name, "Foreground")
        api = connection(live)
        mortal, killed = replace(api, transport=Mortal(api.transport, requests)), False
        try:
            run_cluster(mortal, cluster_request(name, live.namespace), lambda _text: None, Clock())
        except Killed:
            killed = True
        annotations = (live.find("Druid", name) or {}).get("metadata", {}).get("annotations") or {}
        until_deleted(live, name)
        kept = {each for each in left(live, name) if each.startswith(CLAIM)}
        assert kept in ((set(),) if "druid.apache.org/deletes-pvcs" in annotations else (set(), claims))
        return killed

    killed_everywhere(attempt, "in the foreground")


def test_second_run_completes_the_deletion_of_a_resource(live: NamespaceClient, killed_everywhere: Everywhere) -> None:
    def attempt(requests: int) -> bool:
        request = cluster_request(f"c{requests}", live.namespace, absent=True)
        deploy(live, request.name)
        killed = is_killed(live, request, requests)
        run(connection(live), request)
        assert live.find("Druid", request.name) is None
        assert not {each for each in left(live, request.name) if each.startswith(CLAIM)}
        return killed

    killed_everywhere(attempt, "absent by resource")
    eventually(lambda: not [name for kind in CREATED_KINDS for name in live.names(kind)])


@campaign("the same with a resource")
@pytest.mark.parametrize("is_specified", [True, False], ids=["with its data", "but not its data"])
def test_second_run_completes_the_deletion_without_resource(
    live: NamespaceClient, is_specified: bool, killed_everywhere: Everywhere
) -> None:
    def attempt(requests: int) -> bool:
        name = f"c{requests}"
        one_pass(live, name, without_resource=True, spec=spec())
        for key in KEYS:
            live.create(claim(name, key))
        request = cluster_request(
            name, live.namespace, without_resource=True, absent=True, spec=spec() if is_specified else None
        )
        killed = is_killed(live, request, requests)
        run(connection(live), request)
        eventually(lambda: left(live, name) == {f"{CLAIM} {each}" for each in own_claims(name) if not is_specified})
        return killed

    killed_everywhere(attempt, "absent by variable")


def test_deleted_after_an_interrupted_creation(live: NamespaceClient, killed_everywhere: Everywhere) -> None:
    def attempt(requests: int) -> bool:
        name = f"c{requests}"
        live.create(resource(name))
        killed = is_killed(live, cluster_request(name, live.namespace), requests)
        live.delete("Druid", name)
        until_deleted(live, name)
        return killed

    killed_everywhere(attempt, "deleted half created")
    eventually(lambda: not [name for kind in CREATED_KINDS for name in live.names(kind)])


def test_keeps_the_finalizer_while_an_object_cannot_be_deleted(live: NamespaceClient) -> None:
    """An object that cannot be deleted keeps the resource; a workload that cannot be deleted keeps the PVCs."""
    deploy(live, "c")
    live.delete("Druid", "c")
    api = connection(live)
    refused = replace(api, transport=Forbidding(api.transport, "statefulsets/druid-c-brokers"))
    outcome = run_cluster(refused, cluster_request("c", live.namespace), lambda _text: None, Clock())
    assert any("druid-c-brokers" in text for text in reported(outcome))
    assert live.names(CLAIM) == own_claims("c")
    assert FINALIZER in live.get("Druid", "c")["metadata"]["finalizers"]
    assert condition(live.get("Druid", "c"), "Degraded")["status"] == "True"
    until_deleted(live, "c")
    assert is_deleted(live, "c")


@dataclass
class Forbidding:
    """Sends no DELETE of that object: the response is a rejection."""

    transport: Transport
    path: str

    def request(self, method: str, url: str, **arguments: Any) -> Any:
        """Send the request, or let the server reject one like it."""
        if method == "DELETE" and self.path in url:
            return self.transport.request("DELETE", url.partition("/apis")[0] + "/version", **arguments)
        return self.transport.request(method, url, **arguments)
