# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An object with a desired name that is not owned by this cluster is never changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.steps.step import LEAVES
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import (
    NAME,
    STATEFUL,
    STATELESS,
    claim_template,
)
from ansible_collections.druidops.druid.tests.system.support.go_operator import identities
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)

SELECTED = {"theirs": "yes"}
TEMPLATE = {"metadata": {"labels": SELECTED}, "spec": {"containers": [{"name": "theirs", "image": "example.com/x"}]}}
WORKLOAD = {"selector": {"matchLabels": SELECTED}, "template": TEMPLATE, "replicas": 0}
# A foreign object of each kind with the name of one of ours, and the group of ours.
THEIRS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "common ConfigMap": (f"ConfigMap {NAME}-druid-common-config", None, {"data": {"theirs": "yes"}}),
    "ConfigMap": (f"ConfigMap {STATEFUL}-config", "historicals", {"data": {"theirs": "yes"}}),
    "Service": (f"Service {STATEFUL}", "historicals", {"spec": {"selector": SELECTED, "ports": [{"port": 1}]}}),
    "StatefulSet": (f"StatefulSet {STATEFUL}", "historicals", {"spec": {**WORKLOAD, "serviceName": "theirs"}}),
    "PodDisruptionBudget": (
        f"PodDisruptionBudget {STATEFUL}",
        "historicals",
        {"spec": {"maxUnavailable": 3, "selector": {"matchLabels": SELECTED}}},
    ),
    "PersistentVolumeClaim": ("PersistentVolumeClaim extra", "historicals", {"spec": claim_template()["spec"]}),
    "Deployment": (f"Deployment {STATELESS}", "brokers", {"spec": WORKLOAD}),
    "Ingress": (
        f"Ingress {STATELESS}",
        "brokers",
        {"spec": {"defaultBackend": {"service": {"name": "theirs", "port": {"number": 1}}}}},
    ),
    "HorizontalPodAutoscaler": (
        f"HorizontalPodAutoscaler {STATELESS}",
        "brokers",
        {"spec": full_cluster.autoscaler("Deployment", "theirs")},
    ),
}


def unlabelled(_live: NamespaceClient, _name: str) -> dict[str, Any]:
    """No field identifies the owner."""
    return {}


def labelled_like_ours(_live: NamespaceClient, name: str) -> dict[str, Any]:
    """Like a copy of ours, but without an owner."""
    group = {"nodeSpecUniqueStr": name.removesuffix("-config"), "component": "historical"}
    return {"labels": {"app": "druid", "druid_cr": NAME, **group}}


def of_another_controller(live: NamespaceClient, name: str) -> dict[str, Any]:
    """It has our labels, but another controller."""
    owner = live.create({"kind": "ConfigMap", "metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    return {**labelled_like_ours(live, name), "ownerReferences": [{**reference, "controller": True}]}


def of_another_druid(live: NamespaceClient, name: str) -> dict[str, Any]:
    """It carries our labels, but another Druid resource controls it."""
    owner = full_cluster.create(live, "another")
    reference = {"apiVersion": owner["apiVersion"], "kind": "Druid", "name": "another", "uid": owner["metadata"]["uid"]}
    return {**labelled_like_ours(live, name), "ownerReferences": [{**reference, "controller": True}]}


CASES = [
    *((what, labelled_like_ours) for what in THEIRS),
    ("Service", of_another_druid),
    *((what, whose) for whose in (unlabelled, of_another_controller) for what in THEIRS),
]
SAME = "the same for an object that has our labels"


@pytest.mark.parametrize(
    ("what", "whose"), only_first(len(THEIRS) + 1, CASES, SAME), ids=lambda each: getattr(each, "__name__", each)
)
def test_foreign_object_is_never_changed(
    live: NamespaceClient, what: str, whose: Callable[[NamespaceClient, str], dict[str, Any]]
) -> None:
    address, group, content = THEIRS[what]
    kind, _space, name = address.partition(" ")
    live.create({"kind": kind, "metadata": {"name": name, **whose(live, name)}, **content})
    historicals = full_cluster.historicals(persistentVolumeClaim=[claim_template("extra")])
    full_cluster.create(live, historicals=historicals, brokers=full_cluster.brokers())
    before = decided(live.get(kind, name))

    mark = live.mark()
    outcome = one_pass(live, NAME)
    assert [(finding.reason, finding.group) for finding in outcome.plan.findings] == [("NameConflict", group)]
    assert outcome.plan.findings[0].message.startswith(f"{kind} {name} exists and does not belong to this cluster: ")
    assert condition(live.get("Druid", NAME), "Degraded")["reason"] == "NameConflict"
    resource = KINDS[kind].plural
    assert [write for write in live.writes(mark) if (write.resource, write.name) == (resource, name)] == []
    assert decided(live.get(kind, name)) == before
    # No object of that group exists, unless nothing depends on this one, and all of the others.
    created = live.created_objects() - {(kind, name), ("ConfigMap", "owner")}
    blocked_groups = {STATEFUL: "historicals", STATELESS: "brokers"}
    there = {key for unique_name, key in blocked_groups.items() if any(unique_name in each for _kind, each in created)}
    blocked = {"historicals", "brokers"} if group is None else {group} - ({group} if kind in LEAVES else set())
    assert there == {"historicals", "brokers"} - blocked

    # Nor is it deleted with the cluster.
    live.delete("Druid", NAME)
    one_pass(live, NAME)
    eventually(lambda: live.find("Druid", NAME) is None)
    assert decided(live.get(kind, name)) == before


def test_the_cluster_is_completed_once_the_foreign_objects_are_deleted(live: NamespaceClient) -> None:
    theirs = [THEIRS[what] for what in ("common ConfigMap", "StatefulSet", "Ingress")]
    for address, _group, content in theirs:
        kind, _space, name = address.partition(" ")
        live.create({"kind": kind, "metadata": {"name": name}, **content})
    full_cluster.create(live, historicals=full_cluster.historicals(), brokers=full_cluster.brokers())
    assert len(one_pass(live, NAME).plan.findings) == len(theirs)
    for address, *_rest in theirs:
        kind, _space, name = address.partition(" ")
        live.delete(kind, name)
        eventually(lambda kind=kind, name=name: live.find(kind, name) is None)  # type: ignore[misc]
    assert one_pass(live, NAME).plan.findings == ()
    assert one_pass(live, NAME).plan.steps == ()
    assert live.created_objects() >= {("StatefulSet", STATEFUL), ("Deployment", STATELESS), ("Ingress", STATELESS)}


def decided(live: Manifest) -> Manifest:
    """Return all of an object but its status: that is the controllers'."""
    metadata = {key: value for key, value in live["metadata"].items() if key != "resourceVersion"}
    entries = [entry for entry in metadata.pop("managedFields") if entry["manager"] != "kube-controller-manager"]
    if live["kind"] == "PersistentVolumeClaim":
        # It is bound and protected.
        metadata = {key: value for key, value in metadata.items() if key not in ("annotations", "finalizers")}
        live["spec"].pop("volumeName", None)
    metadata.get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
    metadata.pop("generation", None)
    content = {key: value for key, value in live.items() if key != "status"}
    return {**content, "metadata": {key: value for key, value in metadata.items() if value}, "owners": entries}


@pytest.mark.parametrize("by", only_first(1, ["operator", "hand", "variable"], "the same by the operator"))
def test_keeps_the_data_of_a_foreign_stateful_set_of_our_form(live: NamespaceClient, by: str) -> None:
    """As restored from a backup: with our labels, also in its selector, and no owner."""
    labels = labelled_like_ours(live, STATEFUL)["labels"]
    template = {**TEMPLATE, "metadata": {"labels": labels}}
    content = {"selector": {"matchLabels": labels}, "template": template, "serviceName": "theirs", "replicas": 1}
    restored = {**content, "volumeClaimTemplates": [claim_template()]}
    live.create({"kind": "StatefulSet", "metadata": {"name": STATEFUL, "labels": labels}, "spec": restored})
    eventually(lambda: live.get("StatefulSet", STATEFUL)["status"].get("readyReplicas") == 1)
    specification = full_cluster.spec()
    options: dict[str, Any] = {"without_resource": True, "spec": specification} if by == "variable" else {}
    if by != "variable":
        full_cluster.create(live)
    [finding] = one_pass(live, NAME, **options).plan.findings
    assert finding.reason == "NameConflict"
    kept = f"data-{STATEFUL}-0"
    before = {
        key: live.get(*key)["metadata"]["uid"] for key in (("PersistentVolumeClaim", kept), ("Pod", f"{STATEFUL}-0"))
    }

    warning = f"PVC {kept} is retained: StatefulSet {STATEFUL} does not belong to this cluster"
    if by == "operator":
        live.delete("Druid", NAME)
        one_pass(live, NAME)
        assert [each for each in live.list("Event") if each["message"].startswith(warning)]
    else:
        removed = one_pass(live, NAME, absent=True, **options)
        assert [text for text in removed.warnings if text.startswith(warning)]
        assert kept not in {step.key.name for step in removed.plan.steps}
    eventually(lambda: live.find("Druid", NAME) is None)
    eventually(lambda: live.created_objects() == {("StatefulSet", STATEFUL), ("PersistentVolumeClaim", kept)})
    assert {key: live.get(*key)["metadata"]["uid"] for key in before} == before
    assert "deletionTimestamp" not in live.get("PersistentVolumeClaim", kept)["metadata"]


@pytest.mark.parametrize("first", ["a-b", "a"])
def test_clusters_with_conflicting_names_keep_each_others_objects(live: NamespaceClient, first: str) -> None:
    groups = {"a-b": "c", "a": "b-c"}
    second = next(name for name in groups if name != first)
    for name in (first, second):
        full_cluster.create(live, name, **{groups[name]: full_cluster.historicals(replicas=1)})
    assert one_pass(live, first).plan.findings == ()
    eventually(lambda: live.get("StatefulSet", "druid-a-b-c")["status"].get("readyReplicas") == 1)
    theirs = {key: live.get(*key) for key in owned_by(live, first)}
    assert ("PersistentVolumeClaim", "data-druid-a-b-c-0") in identities(live)
    claim = live.get("PersistentVolumeClaim", "data-druid-a-b-c-0")["metadata"]["uid"]

    outcome = one_pass(live, second)
    assert {(finding.reason, finding.group) for finding in outcome.plan.findings} == {("NameConflict", groups[second])}
    assert f"it belongs to Druid {first}" in outcome.plan.findings[0].message
    assert {key: decided(live.get(*key)) for key in theirs} == {key: decided(each) for key, each in theirs.items()}
    assert one_pass(live, first).plan.steps == ()

    # The second is deleted with all of its objects, and with nothing of the first, in particular not its data.
    live.delete("Druid", second)
    one_pass(live, second)
    eventually(lambda: live.find("Druid", second) is None)
    assert {key: decided(live.get(*key)) for key in theirs} == {key: decided(each) for key, each in theirs.items()}
    assert live.get("PersistentVolumeClaim", "data-druid-a-b-c-0")["metadata"]["uid"] == claim
    assert one_pass(live, first).plan.steps == ()


def test_cluster_defined_by_variables_cannot_have_the_name_of_a_resource(live: NamespaceClient) -> None:
    resource = full_cluster.create(live, NAME)
    one_pass(live, NAME)
    mark = live.mark()
    outcome = one_pass(live, NAME, spec=resource["spec"], without_resource=True)
    [finding] = outcome.plan.findings
    assert (finding.reason, finding.group) == ("NameConflict", None)
    assert finding.message.startswith(
        f"The objects of that name belong to the resource Druid {NAME} in namespace {live.namespace}. "
    )
    assert [each for each in live.writes(mark) if not each.dry_run and each.user == "druidops"] == []


def owned_by(live: NamespaceClient, name: str) -> set[tuple[str, str]]:
    """Return kind and name of all that the resource controls."""
    return {
        key
        for key in live.created_objects()
        for owner in live.get(*key)["metadata"].get("ownerReferences", [])
        if owner["name"] == name
    }
