# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The CRDs come into a cluster that has none, and replace those that others have put there."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import EACH_CORE, campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import MERGE, Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible, messages
from testbed.api import ApiError
from testbed.control_plane import ControlPlane
from testbed.control_plane import control_plane as temporary
from testbed.pytest_plugin import kubernetes

ROOT = Path(__file__).parents[3]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLURALS = sorted(file.stem for file in (ROOT / "config" / "crd").glob("*s.yaml"))
APPLY = "application/apply-patch+yaml"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CREATED_BY_US = {(kind, name) for kind, name in all_kinds_cluster.OBJECTS if kind != "PersistentVolumeClaim"}


@pytest.fixture
def bare() -> Iterator[ControlPlane]:
    """A control plane without CRDs, of one test: the API server may take minutes to delete a CRD."""
    with temporary(kubernetes()) as plane:
        yield plane


@pytest.fixture(params=EACH_CORE)
def each_bare(bare: ControlPlane, tmp_path: Path, request: pytest.FixtureRequest) -> Ansible:
    """Each ansible-core, in a namespace of a cluster without CRDs."""
    namespace = bare.request("POST", "/api/v1/namespaces", {"metadata": {"generateName": "bare-"}})["metadata"]["name"]
    return Ansible(CORES[request.param], bare, namespace, tmp_path)


def test_without_crds_and_then_with_them(each_bare: Ansible) -> None:
    ansible, live = each_bare, NamespaceClient(each_bare.plane, each_bare.namespace)
    for message in messages(ansible, {"name": "wiki"}, {"resource": all_kinds_cluster.resource()}):
        assert "The CRD druids.druid.apache.org is not installed: run the playbook" in message
    ansible.task(name="wiki", spec=all_kinds_cluster.spec())
    assert live.created_objects() >= CREATED_BY_US
    assert "set without_resource to true" in " ".join(ansible.cluster("wiki", state="absent", status=2).output.split())
    assert live.created_objects() >= CREATED_BY_US
    ansible.task(name="wiki", spec=all_kinds_cluster.spec(), state="absent")
    eventually(lambda: not live.created_objects())
    assert ansible.run("druidops.druid.install_crds").changed
    assert not ansible.run("druidops.druid.install_crds").changed
    ansible.task(resource=all_kinds_cluster.resource())
    assert live.created_objects() >= CREATED_BY_US
    ansible.task(name="wiki", state="absent")
    assert live.find("Druid", "wiki") is None


def ours(plural: str) -> Manifest:
    """Return the CRD that comes with the collection."""
    content: Manifest = yaml.safe_load((ROOT / f"config/crd/{plural}.yaml").read_text(encoding="utf-8"))
    return content


def theirs(plural: str) -> Manifest:
    """Return a CRD of the same name as another program ships it: with another schema and other columns."""
    crd = copy.deepcopy(ours(plural))
    crd["metadata"]["annotations"] = {"controller-gen.kubebuilder.io/version": "v0.11.2"}
    crd["spec"]["names"].pop("shortNames", None)
    [version] = crd["spec"]["versions"]
    version["additionalPrinterColumns"] = [{"name": "Old", "type": "string", "jsonPath": ".spec.old"}]
    version["schema"]["openAPIV3Schema"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return crd


def kubectl_apply(plane: ControlPlane, crd: Manifest) -> None:
    """Make the CRD, and change it once, as `kubectl apply` without --server-side does."""
    specified = {**crd, "metadata": {**crd["metadata"], "annotations": {LAST_APPLIED: json.dumps(crd)}}}
    plane.request("POST", f"{CRDS}?fieldManager=kubectl-client-side-apply", specified)
    change = {"metadata": {"labels": {"changed": "once"}}}
    path = f"{CRDS}/{crd['metadata']['name']}?fieldManager=kubectl-client-side-apply"
    plane.request("PATCH", path, change, content_type=MERGE)


def helm(plane: ControlPlane, crd: Manifest) -> None:
    """Create the CRD, and replace it once, as Helm and Go programs without apply do."""
    plane.request("POST", f"{CRDS}?fieldManager=helm", crd)
    path = f"{CRDS}/{crd['metadata']['name']}"

    def replaced() -> bool:
        try:
            return bool(plane.request("PUT", f"{path}?fieldManager=helm", {**plane.request("GET", path), **spec(crd)}))
        except ApiError as error:
            # the server itself writes the conditions of a new CRD
            if error.status == 409:
                return False
            raise

    eventually(replaced)


def spec(crd: Manifest) -> Manifest:
    return {"spec": {**crd["spec"], "names": {**crd["spec"]["names"], "shortNames": ["old"]}}}


def server_side_apply(plane: ControlPlane, crd: Manifest) -> None:
    """Apply the CRD with another field manager."""
    path = f"{CRDS}/{crd['metadata']['name']}?fieldManager=argocd-controller"
    plane.request("PATCH", path, crd, content_type=APPLY)


# The response of the API server to an apply is the same for every ansible-core.
@pytest.mark.parametrize("each_bare", ["2.19"], indirect=True)
@pytest.mark.parametrize(
    "make",
    [
        server_side_apply,
        *(pytest.param(each, marks=campaign("the same for server-side apply")) for each in (kubectl_apply, helm)),
    ],
)
def test_replaces_foreign_crds(each_bare: Ansible, make: Callable[[ControlPlane, Manifest], None]) -> None:
    ansible, live = each_bare, NamespaceClient(each_bare.plane, each_bare.namespace)
    for plural in PLURALS:
        make(live.plane, theirs(plural))
    resource = stored_under_theirs(live)
    assert ansible.run("druidops.druid.install_crds").changed
    for plural in PLURALS:
        assert versions_in(live.plane, plural) == ours(plural)["spec"]["versions"]
    assert live.get("Druid", "wiki")["metadata"]["uid"] == resource["metadata"]["uid"]
    assert not ansible.run("druidops.druid.install_crds").changed
    ansible.task(name="wiki")
    assert live.created_objects() >= CREATED_BY_US
    ansible.task(name="wiki", state="absent")


def stored_under_theirs(live: NamespaceClient) -> dict[str, Any]:
    """Return a resource that was made while the CRD was the other one."""

    def stored() -> dict[str, Any] | None:
        try:
            return live.create(all_kinds_cluster.resource())
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    return eventually(stored)


def versions_in(plane: ControlPlane, plural: str) -> Any:
    """Return the versions of the CRD as the server has them."""
    return plane.request("GET", f"{CRDS}/{plural}.druid.apache.org")["spec"]["versions"]
