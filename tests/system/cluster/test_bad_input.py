# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An error is reported once and clearly, and leaves nothing that a second run would not complete."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    Manifest,
    NamespaceClient,
    condition,
)
from ansible_collections.druidops.druid.tests.system.support.nesting import nested
from ansible_collections.druidops.druid.tests.system.support.permissions import grant
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible, messages

CREATED_BY_US = all_kinds_cluster.OBJECTS - {("PersistentVolumeClaim", "segments-druid-wiki-data-0")}


def test_file_without_a_resource(each_ansible: Ansible) -> None:
    broken = each_ansible.write("broken.yml", "{a: [")[1:]
    listed = each_ansible.write("list.json", [])[1:]
    service = each_ansible.write("service.yml", "{apiVersion: v1, kind: Service, metadata: {name: a}}")[1:]
    nameless = each_ansible.write("nameless.json", {**all_kinds_cluster.resource(), "metadata": {}})[1:]
    named = each_ansible.write("named.json", all_kinds_cluster.resource())[1:]
    missing, not_yaml, no_mapping, no_druid, no_name, two_names = messages(
        each_ansible,
        *({"resource": path} for path in ("missing.yml", broken, listed, service, nameless)),
        {"resource": named, "name": "other"},
    )
    assert "missing.yml" in missing
    assert f"resource: {broken} is neither JSON nor YAML" in not_yaml
    assert "resource: must have one Druid in druid.apache.org/v1alpha1, and has 0 among 0 documents" in no_mapping
    assert "resource: must be of kind Druid in druid.apache.org/v1alpha1, not of kind Service in v1." in no_druid
    assert "resource: metadata.name and the option name are not set." in no_name
    assert "resource: metadata.name is wiki, but the option name is other. Omit one of them." in two_names


def test_exported_list_beside_other_documents(live: NamespaceClient, ansible: Ansible) -> None:
    """As kubectl get --output yaml prints it, where it does not exist any more."""
    live.create(all_kinds_cluster.resource())
    exported = live.get("Druid", "wiki")
    live.delete("Druid", "wiki")
    listed = {"apiVersion": "v1", "kind": "List", "items": [{**exported, "status": {"druidNodeStatus": {}}}]}
    role = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "pods"}}
    ansible.write("exported.yml", f"{json.dumps(role)}\n---\n{json.dumps(listed)}\n")
    plans = [ansible.task(*mode, "-v", resource="exported.yml") for mode in (["--check"], [])]
    assert plans[0].results[-1]["plan"] == plans[1].results[-1]["plan"]
    assert live.get("Druid", "wiki")["metadata"]["uid"] != exported["metadata"]["uid"]
    assert ["only Druid wiki" in run.output and "ServiceAccount pods" in run.output for run in plans] == [True, True]
    assert "pods" not in live.names("ServiceAccount")


def test_missing_resource(each_ansible: Ansible, live: NamespaceClient) -> None:
    nowhere = {"namespace": "no-such-namespace"}
    no_resource, no_namespace, neither, unreachable = messages(
        each_ansible,
        {"name": "wiki"},
        {"resource": all_kinds_cluster.resource(), **nowhere},
        {"name": "wiki", "spec": all_kinds_cluster.spec(), **nowhere},
        {"name": "wiki", "host": "https://127.0.0.1:9", "api_key": "x"},
    )
    assert f"There is no Druid wiki in namespace {live.namespace}. Create it, or set" in no_resource
    remedy = 'in namespace no-such-namespace: 404 namespaces "no-such-namespace" not found. Create the namespace first'
    assert f"Cannot create Druid wiki {remedy}" in no_namespace
    assert f"ConfigMap wiki-druid-common-config {remedy}" in neither
    assert neither.count("404") == 1
    assert "the Kubernetes API at https://127.0.0.1:9 did not respond" in unreachable
    assert "Connection refused" in unreachable


REFUSED: dict[str, tuple[Manifest, str]] = {
    "text for a number": (all_kinds_cluster.changed("data", replicas="many"), "spec.nodes.data.replicas"),
    "a missing field": (all_kinds_cluster.changed("data", nodeType=None), "spec.nodes.data.nodeType"),
    "unknown node type": (all_kinds_cluster.changed("data", nodeType="peon"), "spec.nodes.data.nodeType"),
    "no quantity": (
        all_kinds_cluster.changed("data", resources={"requests": {"memory": "2 gigs"}}),
        "spec.nodes.data.resources.requests.memory",
    ),
    "service name": (
        all_kinds_cluster.changed("data", services=[{"metadata": {"name": "api"}}]),
        "spec.nodes[data].services",
    ),
    "two of a name": (
        all_kinds_cluster.changed("data", additionalContainer=[{"containerName": "a", "image": "a"}] * 2),
        "additionalContainer",
    ),
}


def test_rejected_by_the_crd(live: NamespaceClient, ansible: Ansible) -> None:
    resources = [merged(all_kinds_cluster.resource(), patch) for patch, _field in REFUSED.values()]
    from_server = messages(ansible, *({"resource": resource} for resource in resources))
    without_resource = messages(ansible, *({"name": "wiki", "spec": resource["spec"]} for resource in resources))
    for (_patch, field), *both in zip(REFUSED.values(), from_server, without_resource, strict=True):
        assert [field in message for message in both] == [True, True], both
        assert ["<nil>" in message for message in both] == [False, False], both
    assert live.created_objects() == set()


# The value of a field or an option where no address belongs, or where it must not have a password.
ADDRESS = "https://user:hunter2@druid.example.org:8888"
QUOTED: dict[str, Manifest] = {
    "a number": all_kinds_cluster.changed("data", **{"druid.port": ADDRESS}),
    "one of several words": all_kinds_cluster.changed("data", nodeType=ADDRESS, kind=ADDRESS),
    "a quantity": all_kinds_cluster.changed("data", resources={"requests": {"memory": ADDRESS}}),
    "a label": all_kinds_cluster.changed("data", podLabels={"team": ADDRESS}),
    "a name": all_kinds_cluster.changed("data", services=[{"metadata": {"name": ADDRESS}}]),
    "the address of Druid": {"spec": {"endpoint": {"url": ADDRESS}}},
    "the type of the authentication": {"spec": {"auth": {"type": ADDRESS}}},
}
OPTIONS: list[Manifest] = [
    {"name": "wiki", "wait_timeout": ADDRESS},
    {"name": "wiki", "state": ADDRESS},
    {"resource": ADDRESS},
]


def test_a_message_has_no_password_of_an_address(ansible: Ansible) -> None:
    resources = [merged(all_kinds_cluster.resource(), patch) for patch in QUOTED.values()]
    found = messages(
        ansible,
        *({"resource": resource} for resource in resources),
        *({"name": "wiki", "spec": resource["spec"]} for resource in resources),
        *OPTIONS,
    )
    assert [text for text in found if "hunter2" in text] == []


def merged(document: Manifest, patch: Manifest) -> Manifest:
    """Return the document with a merge patch applied to it."""
    result = {key: value for key, value in document.items() if patch.get(key, ...) is not None}
    for key, value in patch.items():
        if isinstance(value, dict):
            result[key] = merged(result.get(key) or {}, value)
        elif value is not None:
            result[key] = value
    return result


INVALID: dict[str, tuple[Manifest, str]] = {
    "no image": ({"spec": {"image": None}}, "spec.image: no image is set here or in groups data, "),
    "no label": (
        all_kinds_cluster.changed("data", podLabels={"team": "a b"}),
        'spec.nodes[data].podLabels[team]: "a b" cannot be the value of a label',
    ),
    "long name": (
        {"spec": {"nodes": {"d" * 50: all_kinds_cluster.group("historical", 8083)}}},
        "is 61 characters long, and the name of a StatefulSet can have 52; choose a shorter key or name for the "
        "cluster.",
    ),
    "two that want a name": (
        {
            "spec": {
                "nodes": {
                    "data": {"services": [{"metadata": {"name": "%s-api"}}]},
                    "data-api": all_kinds_cluster.group("historical", 8083),
                }
            }
        },
        '"druid-wiki-data-api" is the name of 2 objects of kind Service, defined by group data and group data-api',
    ),
    "a kind that is not supported": (
        all_kinds_cluster.changed("data", kind="DaemonSet"),
        'spec.nodes[data].kind: "DaemonSet" is not a supported kind of workload',
    ),
    "PVC templates of a Deployment": (
        all_kinds_cluster.changed("data", kind="Deployment"),
        "spec.nodes[data].volumeClaimTemplates: ",
    ),
    "more levels than anybody can read": (
        {"spec": {"dynamicConfig": {"coordinator": nested(450)}}},
        "it is nested too deeply (more than 100 levels)",
    ),
}


@pytest.mark.parametrize("mistake", INVALID)
def test_rejected_by_validation(live: NamespaceClient, mistake: str) -> None:
    patch, words = INVALID[mistake]
    live.create(merged(all_kinds_cluster.resource(), patch))
    assert one_pass(live, "wiki").report.problems  # type: ignore[union-attr]
    ready = condition(live.get("Druid", "wiki"), "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "InvalidSpec")
    assert words in ready["message"]
    assert live.created_objects() == set()


def test_missing_volume_can_be_added(live: NamespaceClient) -> None:
    """In a Deployment: Kubernetes 1.30 does not validate the volumes of a StatefulSet."""
    live.create(
        merged(
            all_kinds_cluster.resource(),
            all_kinds_cluster.changed("brokers", volumeMounts=[{"name": "var", "mountPath": "/var"}]),
        )
    )
    [problem] = one_pass(live, "wiki").report.problems  # type: ignore[union-attr]
    assert problem.reason == "RejectedByAPIServer"
    assert (
        '.name: Not found: "var". Add a volume of that name to the volumes of spec or of the group' in problem.message
    )


@pytest.mark.parametrize("provided", ["resource", "spec"])
@pytest.mark.parametrize("check_mode", [True, False], ids=["checked", "done"])
def test_suggests_the_field_for_a_typo(live: NamespaceClient, provided: str, check_mode: bool) -> None:
    """The message of the API server, which may change, and ours."""
    misspelt = all_kinds_cluster.resource()
    misspelt["metadata"]["namespace"] = live.namespace
    misspelt["spec"]["nodes"]["data"] |= {"replica": 1, "env": [{"name": "A", "vale": "a"}]}
    specified = (
        {"resource": misspelt} if provided == "resource" else {"spec": misspelt["spec"], "without_resource": True}
    )
    reported = one_pass(live, "wiki", check_mode, **specified).warnings
    for path, nearest in (("nodes.data.replica", "replicas"), ("nodes.data.env[0].vale", "value")):
        [warning] = [text for text in reported if path in text]
        assert warning.endswith(f" (did you mean {nearest}?)")


def test_task_fails_with_the_message_of_the_condition_until_it_is_fixed(
    each_ansible: Ansible, live: NamespaceClient
) -> None:
    resource = merged(all_kinds_cluster.resource(), INVALID["no label"][0])
    live.create(resource)
    by_resource, without_resource = messages(
        each_ansible,
        {"name": "wiki"},
        {"name": "wiki", "spec": resource["spec"]},
    )
    words = condition(live.get("Druid", "wiki"), "Ready")["message"]
    assert by_resource == without_resource
    assert words in by_resource
    live.merge("Druid", "wiki", all_kinds_cluster.changed("data", podLabels=None))
    each_ansible.task(name="wiki")
    assert live.created_objects() >= CREATED_BY_US


RULES = [
    {"apiGroups": ["druid.apache.org"], "resources": ["druids", "druids/status"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["configmaps", "services", "persistentvolumeclaims", "events"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": ["*"]},
    {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["*"]},
    {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["*"]},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]},
]


def test_installing_the_crds_names_the_missing_permissions(each_ansible: Ansible) -> None:
    assert each_ansible.plane is not None
    limited = str(each_ansible.plane.kubeconfig("limited"))
    refused = each_ansible.run("druidops.druid.install_crds", status=2, K8S_AUTH_KUBECONFIG=limited)
    needed = "The user needs the verbs get, create and patch on customresourcedefinitions.apiextensions.k8s.io"
    reported = " ".join(refused.output.split())
    assert needed in reported
    # the message of the server is part of the error, for a playbook that rescues it
    assert "Not all CRDs could be applied: Failed to " in reported


def test_message_names_the_missing_permission(ansible: Ansible, live: NamespaceClient) -> None:
    live.create(all_kinds_cluster.resource())
    limited: dict[str, Any] = {"name": "wiki", "kubeconfig": str(live.plane.kubeconfig("limited"))}
    [nothing] = messages(ansible, limited)
    assert "The user needs the verb get on druids.druid.apache.org (RBAC)" in nothing
    grant(live, *RULES)
    [no_list] = messages(ansible, limited)
    assert "The user needs the verb list on statefulsets.apps (RBAC)" in no_list
    grant(live, *RULES, {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["get", "list"]})
    [no_patch] = messages(ansible, limited)
    assert "The user needs the verb patch on statefulsets.apps (RBAC)" in no_patch
    # an apply of an object that does not exist needs both
    grant(live, *RULES, {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["get", "list", "patch"]})
    [no_create] = messages(ansible, limited)
    assert "The user needs the verb create on statefulsets.apps (RBAC)" in no_create
    assert "Nothing of group data is changed." in no_patch
    # what does not need it is there, whole groups only
    assert {name for _kind, name in live.created_objects()} == {
        "wiki-druid-common-config",
        "druid-wiki-brokers",
        "druid-wiki-brokers-config",
    }
    assert "statefulsets" in condition(live.get("Druid", "wiki"), "Degraded")["message"]
    grant(live, *RULES, {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["*"]})
    ansible.task(**limited)
    assert live.created_objects() >= CREATED_BY_US


FOREIGN: dict[str, Manifest] = {
    "ConfigMap": {"data": {"mine": "1"}},
    "Service": {"spec": {"ports": [{"port": 80}], "selector": {"app": "mine"}}},
    "StatefulSet": {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {}}},
    "Deployment": {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {}}},
    "Ingress": {"spec": {"defaultBackend": all_kinds_cluster.BACKEND}},
    "PodDisruptionBudget": {"spec": {"minAvailable": 0, "selector": {"matchLabels": {"a": "b"}}}},
    "HorizontalPodAutoscaler": {"spec": {"maxReplicas": 1, "scaleTargetRef": all_kinds_cluster.target("mine")}},
    "PersistentVolumeClaim": {"spec": {**all_kinds_cluster.claim(), "storageClassName": "none"}},
}
POD = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
WORKLOADS = ("StatefulSet", "Deployment")
LEAVES = ("Ingress", "PodDisruptionBudget", "HorizontalPodAutoscaler")


def foreign(kind: str, name: str, labels: dict[str, str]) -> Manifest:
    """Return an object of another owner, without pods."""
    body = {"kind": kind, "metadata": {"name": name, "labels": labels}, **FOREIGN[kind]}
    if kind in WORKLOADS:
        body["spec"] = {**body["spec"], "replicas": 0, "template": POD}
    return body


def referring(namespace: str) -> Manifest:
    return all_kinds_cluster.resource(extraCommonConfig=[{"name": "extra", "namespace": namespace}])


def test_missing_reference_blocks_until_it_exists(ansible: Ansible, live: NamespaceClient) -> None:
    live.create(referring(live.namespace))
    [missing] = messages(ansible, {"name": "wiki"})
    words = f"spec.extraCommonConfig: ConfigMap extra in namespace {live.namespace} does not exist."
    assert words in missing
    shown = ansible.cluster("wiki", status=2).output.partition(": Print the result]")[2]
    assert f"blocked: {words}" in shown
    assert words in condition(live.get("Druid", "wiki"), "Ready")["message"]
    assert live.created_objects() == set()
    live.create({"kind": "ConfigMap", "metadata": {"name": "extra"}, "data": {"extra.properties": "a=b"}})
    ansible.task(name="wiki")
    assert live.get("ConfigMap", "wiki-druid-common-config")["data"]["extra.properties"] == "a=b"


def test_reference_to_another_namespace_requires_permission(ansible: Ansible, live: NamespaceClient) -> None:
    resource = referring("kube-public")
    resource["spec"]["extraCommonConfig"][0]["name"] = "kube-root-ca.crt"
    live.create(resource)
    mark = live.plane.audit.mark()
    [refused] = messages(ansible, {"name": "wiki"})
    assert (
        "ConfigMap kube-root-ca.crt is in namespace kube-public. References to other namespaces are not permitted"
        in refused
    )
    assert [each for each in live.plane.audit.since(mark, "druidops") if each.namespace == "kube-public"] == []
    assert live.created_objects() == set()
    ansible.cluster("wiki", allowed_reference_namespaces=["kube-public"])
    assert "BEGIN CERTIFICATE" in live.get("ConfigMap", "wiki-druid-common-config")["data"]["ca.crt"]
