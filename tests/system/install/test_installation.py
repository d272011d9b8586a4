# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of docs/installing-the-operator.md, exactly as documented, have the documented effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.install.test_install_crds import PLURALS, ours, theirs, versions_in
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import start
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.installation import (
    DOCUMENT,
    OPERATOR,
    Installer,
    Manifest,
    RefusedError,
    arguments,
    commands,
    container,
    environment,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.operator_account import FORBIDDEN, Account, Right, used
from testbed.control_plane import ControlPlane
from testbed.control_plane import control_plane as temporary
from testbed.operator_plugin import StartOperator
from testbed.private_file import private
from testbed.pytest_plugin import kubernetes

# The installed objects have fixed names: one after the other, in a cluster that no other test uses.
pytestmark = pytest.mark.xdist_group("installation")

SYSTEM = "druid-operator-system"
# That of config/samples/small.yaml.
CLUSTER = "small"
NAMESPACES = (SYSTEM, "druid", "analytics")
POLICIES = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
# What is not in a namespace, and with it all else. They go at the same time.
EVERYTHING = (
    *(f"crds/{plural}.druid.apache.org" for plural in PLURALS),
    "clusterroles/druid-operator-manager-role",
    "clusterrolebindings/druid-operator-manager-rolebinding",
    *(f"{kind}/druid-operator-ansible-operator-annotations" for kind in POLICIES),
    *(f"namespaces/{name}" for name in NAMESPACES),
)
SDK = "ansible.sdk.operatorframework.io"
UNINSTALLING = "Uninstalling without losing data"
MIGRATING = "Migrating from the Go operator's chart"
# The time of a leader election and of a reconcile. Only the real program reports that it has become the leader.
NEEDED = {Right("get", "leases"), Right("create", "leases"), Right("update", "leases"), Right("create", "events")}
# The addresses are those of a container.
ADDRESSES = ("--health-probe-bind-address", "--metrics-bind-address")


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A control plane without CRDs."""
    with temporary(kubernetes()) as found:
        yield found


@pytest.fixture
def shell(plane: ControlPlane, tmp_path: Path) -> Iterator[Installer]:
    """A shell for a cluster in which nothing is installed."""
    found = Installer(tmp_path, plane.kubeconfig())
    yield found
    for resource in all_resources(found):
        metadata = resource["metadata"]
        patch = '{"metadata": {"finalizers": null}}'
        found.run(f"kubectl patch druids {metadata['name']} -n {metadata['namespace']} --type merge --patch '{patch}'")
    # a namespace with terminating pods is synchronized again after half of their grace period
    found.run("kubectl delete deployments --all --all-namespaces --cascade=foreground")
    found.run(f"kubectl delete --ignore-not-found {' '.join(EVERYTHING)}")


def all_resources(shell: Installer) -> list[Manifest]:
    """Return the Druid resources of all namespaces."""
    if not shell.get("crds")["items"]:
        return []
    return list(shell.get("druids --all-namespaces")["items"])


def resource(shell: Installer) -> str:
    """Create a resource in a namespace without an operator, and return its uid."""
    metadata = {"name": "kept", "namespace": "default", "finalizers": ["druid.apache.org/test"]}
    body = {**small_cluster.resource("kept"), "metadata": metadata}
    (shell.directory / "resource.json").write_text(json.dumps(body), encoding="utf-8")
    shell.run("kubectl apply --filename resource.json")
    return uid(shell)


def uid(shell: Installer) -> str:
    """Return the uid of the resource, which is not being deleted."""
    metadata = shell.get("druids kept --namespace default")["metadata"]
    assert "deletionTimestamp" not in metadata
    return str(metadata["uid"])


def deployment(shell: Installer, namespace: str = SYSTEM) -> Manifest:
    """Return the operator's Deployment."""
    return shell.get(f"deployments {OPERATOR} --namespace {namespace}")


def check_crds_are_ours(plane: ControlPlane) -> None:
    """Compare the CRDs with those of the collection."""
    for plural in PLURALS:
        assert versions_in(plane, plural) == ours(plural)["spec"]["versions"], plural


def test_with_kubectl(shell: Installer, plane: ControlPlane, tmp_path: Path) -> None:
    shell.run(commands("With kubectl", 0))
    check_crds_are_ours(plane)
    check_changes_nothing(shell, "config/default")
    check_policy_is_in_effect(shell)
    with pytest.raises(RefusedError, match='violates PodSecurity "restricted'):
        shell.run(f"kubectl run other --namespace {SYSTEM} --image busybox --privileged")

    assert CLUSTER in shell.run(commands("With kubectl", 1))
    keeps_a_cluster(shell, plane, deployment(shell), "druid", tmp_path)
    change_as_documented(shell)

    before = resource(shell)
    shell.run(commands(UNINSTALLING, 1))
    assert uid(shell) == before
    check_crds_are_ours(plane)
    assert nothing_is_left(shell)


def check_changes_nothing(shell: Installer, variant: str) -> None:
    """Apply the variant again."""
    printed = shell.run(f"kubectl apply --kustomize {variant}").splitlines()
    assert printed
    assert [line for line in printed if not line.endswith(" unchanged")] == []


def check_policy_is_in_effect(shell: Installer) -> None:
    """A period that is no duration is rejected: ansible-operator would not even let the resource be deleted."""
    body = {
        **small_cluster.resource("typo"),
        "metadata": {"name": "typo", "annotations": {f"{SDK}/reconcile-period": "60"}},
    }
    (shell.directory / "typo.json").write_text(json.dumps(body), encoding="utf-8")

    def is_rejected() -> bool:
        try:
            shell.run("kubectl create --dry-run=server --namespace default --filename typo.json")
        except RefusedError as error:
            return "must be a duration such as 90s or 1h30m" in str(error)
        return False

    eventually(is_rejected)


def change_as_documented(shell: Installer) -> None:
    """Install with the kustomization of the document."""
    [text] = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
    (shell.directory / "operator").mkdir()
    (shell.directory / "operator" / "kustomization.yaml").write_text(text, encoding="utf-8")
    shell.run(commands("With kubectl", 2))
    shell.run(f"kubectl rollout status deployment/{OPERATOR} --namespace {SYSTEM}")
    changed = deployment(shell)
    assert changed["spec"]["replicas"] == changed["status"]["readyReplicas"] == 2
    assert container(changed)["image"].startswith("registry.example.com/druid-operator:")
    variables = environment(changed)
    assert (variables["RECONCILE_WAIT"], variables["MAX_CONCURRENT_RECONCILES"]) == ("5m", "4")


def theirs_are_there(shell: Installer) -> None:
    """Install foreign CRDs."""
    text = yaml.safe_dump_all(theirs(plural) for plural in PLURALS)
    (shell.directory / "theirs.yaml").write_text(text, encoding="utf-8")
    shell.run("kubectl create --filename theirs.yaml && kubectl wait --for condition=Established crds --all")


def nothing_is_left(shell: Installer) -> bool:
    """Return whether everything of the operator but its CRDs is deleted."""
    kinds = ",".join(
        ("deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings", *POLICIES)
    )
    selector = "--selector app.kubernetes.io/instance=druid-operator"
    return shell.get(f"{kinds} --all-namespaces {selector}")["items"] == []


@campaign("the installation for all namespaces, and an operator with several namespaces")
def test_with_kubectl_for_one_namespace(shell: Installer, plane: ControlPlane, tmp_path: Path) -> None:
    theirs_are_there(shell)
    before = resource(shell)
    shell.run(commands("With kubectl for one namespace"))
    check_crds_are_ours(plane)
    check_changes_nothing(shell, "config/namespaced")
    rendered = shell.objects("kubectl kustomize config/namespaced")
    assert {kind for kind, namespace, _name in rendered if not namespace} == {"CustomResourceDefinition"}
    shell.run("kubectl apply --namespace druid --filename config/samples/small.yaml")
    keeps_a_cluster(shell, plane, deployment(shell, "druid"), "druid", tmp_path)
    assert not may(shell, "list configmaps", "default", home="druid")
    # It belongs to no namespace: a Role seems to permit it in its own one.
    assert not may(shell, "get storageclasses.storage.k8s.io", "default", home="druid")
    shell.run(commands("With kubectl for one namespace", 1))
    assert may(shell, "get storageclasses.storage.k8s.io", "default", home="druid")

    shell.run(commands(UNINSTALLING, 2))
    assert uid(shell) == before
    assert nothing_is_left(shell)


def may(shell: Installer, what: str, namespace: str, home: str = SYSTEM) -> bool:
    """Return whether the operator, whose account is in the namespace `home`, has a right in a namespace."""
    question = f"kubectl auth can-i {what} --namespace {namespace} --as system:serviceaccount:{home}:{OPERATOR}"
    # it fails if the answer is no
    answer = shell.run(f"{question} || true").strip()
    assert answer in ("yes", "no")
    return answer == "yes"


def keeps_a_cluster(
    shell: Installer, plane: ControlPlane, installed: Manifest, namespace: str, directory: Path
) -> None:
    """Run the operator as its Deployment specifies, with its installed permissions, for the whole life of a cluster."""
    live = NamespaceClient(plane, namespace)
    login = account(shell, plane, installed["metadata"]["namespace"], directory)
    variables = environment(installed)
    watched = variables.pop("WATCH_NAMESPACE")
    log = directory / "operator.jsonl"
    own = {"DRUIDOPS_LOG": str(log), "RECONCILE_WAIT": "1h"}
    flags = [flag for flag in arguments(installed) if not flag.startswith(ADDRESSES)]
    flags.append(f"--leader-election-namespace={installed['metadata']['namespace']}")
    mark = live.mark()
    with ExitStack() as stack:
        started = start(
            StartOperator(plane, directory, stack),
            live,
            directory,
            namespaces=[watched] if watched else [],
            login=login,
            flags=flags,
            **{**variables, **own},
        )
        started.wait_until_ready(CLUSTER)
        live.delete("Druid", CLUSTER)
        # Its objects are Kubernetes' to collect, which takes notice of new CRDs twice a minute.
        eventually(lambda: not live.find("Druid", CLUSTER))
        live.mark()
        events = plane.audit.since(mark, login.username)
    assert [each for each in events if each.code == FORBIDDEN] == []
    assert used(events) >= NEEDED
    assert CLUSTER in {json.loads(line)["name"] for line in log.read_text(encoding="utf-8").splitlines()}


def account(shell: Installer, plane: ControlPlane, namespace: str, directory: Path) -> Account:
    """Return the account of the Deployment, with a token for it."""
    token = shell.run(f"kubectl create token {OPERATOR} --namespace {namespace}").strip()
    content = json.loads(plane.kubeconfig().read_text(encoding="utf-8"))
    content["users"][0]["user"] = {"token": token}
    kubeconfig = private(directory / "account.kubeconfig")
    kubeconfig.write_text(json.dumps(content), encoding="utf-8")
    return Account(f"system:serviceaccount:{namespace}:{OPERATOR}", kubeconfig)


def test_with_helm(shell: Installer, plane: ControlPlane) -> None:
    shell.run(commands("With Helm", 0))
    check_crds_are_ours(plane)
    check_policy_is_in_effect(shell)
    before = resource(shell)
    shell.run(commands("With Helm", 1))
    shell.run("kubectl create namespace druid && kubectl create namespace analytics")
    # its pods are new ones, and what the namespace enforces lets them in
    shell.run(commands("With Helm", 2))
    assert environment(deployment(shell))["WATCH_NAMESPACE"] == "druid,analytics"
    assert roles(shell) == {("Role", "druid"), ("Role", "analytics")}
    assert may(shell, "list configmaps", "druid")
    assert not may(shell, "list configmaps", SYSTEM)
    # where it is the leader, and watches nothing
    assert may(shell, "update leases/druid-operator", SYSTEM)
    assert may(shell, "create events", SYSTEM)
    shell.run(commands("Upgrading", 0))
    assert roles(shell) == {("Role", "druid"), ("Role", "analytics")}
    shell.run("helm rollback druid-operator 1 --namespace druid-operator-system --wait")
    assert roles(shell) == {("ClusterRole", "")}
    shell.run(commands("Upgrading", 1))
    assert roles(shell) == {("Role", "druid"), ("Role", "analytics")}

    shell.run(commands(UNINSTALLING, 0))
    assert nothing_is_left(shell)
    check_crds_are_ours(plane)
    assert uid(shell) == before
    shell.run(commands("With Helm", 0))
    assert uid(shell) == before


def roles(shell: Installer) -> set[tuple[str, str]]:
    """Return kind and namespace of what gives the operator its rights."""
    found = shell.get("roles,clusterroles --all-namespaces --selector app.kubernetes.io/instance=druid-operator")
    every = {(each["kind"], each["metadata"].get("namespace", "")) for each in found["items"]}
    return every - {("Role", SYSTEM)}


@pytest.fixture
def old_chart(shell: Installer) -> Path:
    """A chart with the CRDs and the names of the Go operator's, and its way to install CRDs."""
    chart = shell.directory / "old"
    for part in ("crds", "templates"):
        (chart / part).mkdir(parents=True)
    named = {"name": "druid-operator", "version": "0.4.0"}
    (chart / "Chart.yaml").write_text(yaml.safe_dump({"apiVersion": "v2", **named}), encoding="utf-8")
    for plural in PLURALS:
        (chart / "crds" / f"{plural}.yaml").write_text(yaml.safe_dump(theirs(plural)), encoding="utf-8")
    objects = yaml.safe_dump_all(old_objects())
    (chart / "templates" / "all.yaml").write_text(objects, encoding="utf-8")
    return chart


def old_objects() -> list[dict[str, Any]]:
    labels = {"app.kubernetes.io/name": "druid-operator", "control-plane": "controller-manager"}
    release = {"app.kubernetes.io/instance": "druid-operator"}
    pod = {"serviceAccountName": "druid-operator", "containers": [{"name": "manager", "image": "old"}]}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": {**labels, **release}},
        "template": {"metadata": {"labels": {**labels, **release}}, "spec": pod},
    }
    rbac = "rbac.authorization.k8s.io"
    role = {"apiGroup": rbac, "kind": "ClusterRole", "name": "druid-operator-manager-role"}
    subject = {"kind": "ServiceAccount", "name": "druid-operator", "namespace": SYSTEM}
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}
    port = {"name": "https", "port": 8443, "targetPort": "https"}
    metadata = {"name": "druid-operator", "labels": {**labels, **release}}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {**metadata, "name": "druid-operator-metrics-service"},
            "spec": {"ports": [port], "selector": {"control-plane": "controller-manager"}},
        },
        {"apiVersion": f"{rbac}/v1", "kind": role["kind"], "metadata": {"name": role["name"]}, "rules": [rule]},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "druid-operator-manager-rolebinding"},
            "roleRef": role,
            "subjects": [subject],
        },
    ]


def deployments(shell: Installer) -> dict[str, int]:
    """Return the replicas of each Deployment in the operator's namespace."""
    items = shell.get(f"deployments --namespace {SYSTEM}")["items"]
    return {each["metadata"]["name"]: each["spec"]["replicas"] for each in items}


def test_replaces_the_release_of_another_chart(shell: Installer, plane: ControlPlane, old_chart: Path) -> None:
    shell.run(f"helm install druid-operator {old_chart} --namespace {SYSTEM} --create-namespace --wait")
    before = resource(shell)
    shell.run(commands(MIGRATING))
    assert deployments(shell) == {OPERATOR: 1}
    check_crds_are_ours(plane)
    assert uid(shell) == before

    shell.run(f"helm rollback druid-operator --namespace {SYSTEM} --wait")
    assert deployments(shell) == {"druid-operator": 1}
    check_crds_are_ours(plane)
    assert uid(shell) == before


@campaign("the CRDs of another client are replaced by server-side apply")
def test_foreign_crds_are_adopted_only_on_request(shell: Installer, plane: ControlPlane) -> None:
    theirs_are_there(shell)
    before = resource(shell)
    install = commands("With Helm", 0).strip()
    with pytest.raises(RefusedError, match="cannot be imported into the current release"):
        shell.run(install)
    assert nothing_is_left(shell)
    shell.run(f"{install} --set crd.enabled=false")
    assert versions_in(plane, "druids") != ours("druids")["spec"]["versions"]
    shell.run(f"helm uninstall druid-operator --namespace {SYSTEM}")
    shell.run(f"{install} --take-ownership")
    check_crds_are_ours(plane)
    assert uid(shell) == before
