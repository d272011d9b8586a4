# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster is deleted completely, and its data only if that is specified and announced."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.kind import DRUID
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.plan import Plan
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.errors import ApiError
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.result import of_outcome
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.in_process import (
    cluster_request,
    connection,
    one_pass,
    run,
    until_ready,
)
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, without_status
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

ABSENT: dict[str, Any] = {"state": "absent", "wait": True, "wait_sleep": 1, "wait_timeout": 300}
CLAIMS = {"segments-druid-wiki-data-0", "druid-wiki-routers"}
CLAIM = "PersistentVolumeClaim"


def named(output: str) -> set[str]:
    """Return the PVCs that were named before they were deleted."""
    return set(re.findall(r"^wiki: Deletes PVC (\S+) and the data in its volume\.$", output, re.M))


def planned(output: str) -> set[str]:
    """Return the PVCs that a plan would delete."""
    return set(re.findall(r"delete PersistentVolumeClaim ([^\s\",]+)", output))


KEEPS = only_first(1, [False, True], "the same with PVCs that are deleted")
CHECK = only_first(1, [((),), (("--check",),)], "the same without check mode")


@pytest.mark.parametrize("keeps_claims", KEEPS)
def test_by_resource(ansible: Ansible, live: NamespaceClient, keeps_claims: bool) -> None:
    live.create(all_kinds_cluster.resource(disablePVCDeletionFinalizer=keeps_claims))
    until_ready(live, "wiki")
    mark = live.mark()
    plan = ansible.cluster("wiki", "--check", "--diff", state="absent")
    assert plan.changed
    assert "delete Druid wiki" in plan.output
    assert planned(plan.output) == (set() if keeps_claims else CLAIMS)
    assert [each for each in live.writes(mark) if not each.dry_run] == []

    removed = ansible.cluster("wiki", **ABSENT)
    assert removed.changed
    assert named(removed.output) == planned(plan.output)
    assert live.find("Druid", "wiki") is None
    kept = {(CLAIM, name) for name in CLAIMS} if keeps_claims else set()
    eventually(lambda: live.created_objects() == kept)
    eventually(lambda: not live.list("Pod"))
    assert [each["metadata"]["name"] for each in live.list(CLAIM) if each["metadata"].get("deletionTimestamp")] == []
    mark = live.mark()
    assert not ansible.cluster("wiki", **ABSENT).changed
    assert without_status(live.writes(mark)) == []


@pytest.mark.parametrize("keeps_claims", KEEPS)
def test_without_resource(ansible: Ansible, live: NamespaceClient, keeps_claims: bool) -> None:
    spec = all_kinds_cluster.spec()
    until_ready(live, "wiki", spec=spec, without_resource=True)
    options = {"without_resource": True} if keeps_claims else {"spec": spec}
    mark = live.mark()
    plan = ansible.cluster("wiki", "--check", "--diff", state="absent", **options)
    assert plan.changed
    assert planned(plan.output) == (set() if keeps_claims else CLAIMS)
    assert [each for each in live.writes(mark) if not each.dry_run] == []

    removed = ansible.cluster("wiki", **ABSENT, **options)
    assert removed.changed
    assert named(removed.output) == planned(plan.output)
    assert keeps_claims == (
        "These PVCs are retained, since spec is not set, or sets disablePVCDeletionFinalizer" in removed.output
    )
    assert live.created_objects() == ({(CLAIM, name) for name in CLAIMS} if keeps_claims else set())
    mark = live.mark()
    assert not ansible.cluster("wiki", **ABSENT, **options).changed
    assert without_status(live.writes(mark)) == []


def test_variables_without_a_specification_keep_the_claims(live: NamespaceClient) -> None:
    until_ready(live, "wiki", spec=all_kinds_cluster.spec(), without_resource=True)
    removed = one_pass(live, "wiki", absent=True, without_resource=True)
    assert any(each.startswith("These PVCs are retained, since spec is not set") for each in removed.warnings)
    eventually(lambda: live.created_objects() == {(CLAIM, name) for name in CLAIMS})


@pytest.mark.parametrize(
    "options",
    only_first(1, [{"spec": all_kinds_cluster.spec()}, {"without_resource": True}], "the same with a specification"),
    ids=["deleted", "kept"],
)
@pytest.mark.parametrize("check", CHECK, ids=["done", "checked"])
def test_without_resource_keeps_the_cluster_of_a_resource(
    ansible: Ansible, live: NamespaceClient, options: dict[str, Any], check: tuple[str, ...]
) -> None:
    live.create(all_kinds_cluster.resource())
    until_ready(live, "wiki")
    mark = live.mark()
    refused = ansible.cluster("wiki", *check, state="absent", status=2, **options)
    assert "that cluster has a resource, and nothing was deleted." in refused.output
    assert live.writes(mark) == []
    assert live.created_objects() == all_kinds_cluster.OBJECTS


@pytest.mark.parametrize("check", CHECK, ids=["done", "checked"])
def test_warns_that_a_cluster_without_resource_is_kept(
    ansible: Ansible, live: NamespaceClient, check: tuple[str, ...]
) -> None:
    one_pass(live, "wiki", spec=all_kinds_cluster.spec(), without_resource=True)
    created = live.created_objects()
    mark = live.mark()
    warned = ansible.cluster("wiki", *check, state="absent")
    assert not warned.changed
    words = " ".join(warned.output.split())
    assert "[WARNING]: There is no Druid wiki in namespace" in words
    assert "StatefulSet druid-wiki-data" in words
    assert "set without_resource to true (in the role: druid_cluster_without_resource), or set its spec." in words
    assert live.writes(mark) == []
    assert live.created_objects() == created


def test_no_warning_if_there_is_no_cluster(live: NamespaceClient) -> None:
    one_pass(live, "wiki", spec=all_kinds_cluster.spec(), without_resource=True)
    live.create(all_kinds_cluster.resource("of-resource", disablePVCDeletionFinalizer=True))
    one_pass(live, "of-resource")
    for name in ("unknown", "no/label", "long" * 20):
        assert one_pass(live, name, absent=True) == Outcome(Plan())
    # As Kubernetes leaves them for a moment that deletes them after their owner.
    live.delete("Druid", "of-resource")
    assert one_pass(live, "of-resource", absent=True).warnings == ()


def test_without_resource_waits_until_all_objects_are_deleted(ansible: Ansible, live: NamespaceClient) -> None:
    until_ready(live, "wiki", spec=all_kinds_cluster.spec(), without_resource=True)
    live.merge("Service", "druid-wiki-data", {"metadata": {"finalizers": ["example.com/mine"]}})
    request = cluster_request("wiki", live.namespace, without_resource=True, absent=True, spec=all_kinds_cluster.spec())
    assert run(connection(live), request, lambda _text: None, Clock()).changed
    # Kubernetes needs time to delete the pods and their PVCs
    eventually(lambda: live.created_objects() == {("Service", "druid-wiki-data")})

    request = replace(request, wait=True, wait_timeout=6, wait_sleep=0.2)
    outcome = run(connection(live), request, lambda _text: None, Clock())
    reported = of_outcome(DRUID, request, outcome, fail_when_blocked=True)
    assert reported["msg"].endswith(
        ": timed out waiting for the deletion of Service druid-wiki-data (finalizers: example.com/mine) after 6 s."
    )
    assert reported["failed"]
    assert live.created_objects() == {("Service", "druid-wiki-data")}
    live.merge("Service", "druid-wiki-data", {"metadata": {"finalizers": None}})
    ansible.cluster("wiki", **ABSENT, spec=all_kinds_cluster.spec())
    assert live.created_objects() == set()


def test_without_resource_nothing_is_deleted_if_the_user_may_not_delete_all(live: NamespaceClient) -> None:
    until_ready(live, "wiki", spec=all_kinds_cluster.spec(), without_resource=True)
    everything, reading = ["*"], ["get", "list"]
    allow(
        live,
        {"apiGroups": [""], "resources": ["services", "pods", "persistentvolumeclaims"], "verbs": everything},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": reading},
        {"apiGroups": ["apps", "networking.k8s.io", "policy", "autoscaling"], "resources": ["*"], "verbs": everything},
        {"apiGroups": ["druid.apache.org"], "resources": ["druids"], "verbs": reading},
    )
    request = cluster_request("wiki", live.namespace, without_resource=True, absent=True, spec=all_kinds_cluster.spec())
    before = live.created_objects()
    outcome = run(connection(live, "limited"), request, lambda _text: None, Clock())
    assert not outcome.changed
    reported = of_outcome(DRUID, request, outcome, fail_when_blocked=True)
    assert reported["failed"]
    assert reported["msg"].count("The user needs the verb delete on configmaps") == len(live.names("ConfigMap"))
    assert live.created_objects() == before


def allow(live: NamespaceClient, *rules: dict[str, Any]) -> None:
    """Let the limited user do this much."""
    group = {"apiGroup": "rbac.authorization.k8s.io"}
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{live.namespace}"
    live.plane.request("POST", f"{path}/roles", {"metadata": {"name": "limited"}, "rules": list(rules)})
    binding = {
        "metadata": {"name": "limited"},
        "subjects": [{**group, "kind": "User", "name": "limited"}],
        "roleRef": {**group, "kind": "Role", "name": "limited"},
    }
    live.plane.request("POST", f"{path}/rolebindings", binding)
    api = connection(live, "limited")
    eventually(lambda: is_allowed(api, live.namespace))


def is_allowed(api: KubernetesApi, namespace: str) -> bool:
    """True once the authorizer has seen the role."""
    try:
        api.list_objects("Service", namespace)
    except ApiError:
        return False
    return True


def test_deletes_no_other_objects(ansible: Ansible, live: NamespaceClient) -> None:
    live.create({"kind": "ConfigMap", "metadata": {"name": "mine", "labels": {"app": "druid", "druid_cr": "wiki"}}})
    live.create(
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "mine",
                "labels": {"app": "druid", "druid_cr": "wiki", "nodeSpecUniqueStr": "druid-wiki-data"},
            },
            "spec": all_kinds_cluster.claim(),
        }
    )
    until_ready(live, "wiki", spec=all_kinds_cluster.spec(), without_resource=True)
    ansible.cluster("wiki", **ABSENT, spec=all_kinds_cluster.spec())
    eventually(lambda: live.created_objects() == {("ConfigMap", "mine"), ("PersistentVolumeClaim", "mine")})
