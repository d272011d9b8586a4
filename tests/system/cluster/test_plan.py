# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The output of `--check --diff` is exactly what is written afterwards."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import KINDS
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import Ansible

SECRETS = ("hunter2-old", "hunter2-new", "old-key-7788", "new-key-7788")
CHANGED = """\
--- before: ConfigMap {namespace}/wiki-druid-common-config
+++ after: ConfigMap {namespace}/wiki-druid-common-config
@@ -1,8 +1,8 @@
 apiVersion: v1
 data:
   common.runtime.properties: |
-    druid.zk.service.enabled=false
-    druid.metadata.storage.connector.password=********
+    druid.zk.service.enabled=true
+    druid.metadata.storage.connector.password=******** (changed)
 kind: ConfigMap
 metadata:
   labels:
"""
DELETED = """\
--- before: Ingress {namespace}/druid-wiki-brokers
+++ after: Ingress {namespace}/druid-wiki-brokers (absent)
@@ -1,23 +0,0 @@
-apiVersion: networking.k8s.io/v1
-kind: Ingress
"""
CREATED = """\
--- before: PodDisruptionBudget {namespace}/druid-wiki-brokers (absent)
+++ after: PodDisruptionBudget {namespace}/druid-wiki-brokers
"""
LIMIT = """\
+spec:
+  maxUnavailable: 1
+  selector:
"""
SCALED = """\
   podManagementPolicy: Parallel
-  replicas: 1
+  replicas: 2
   revisionHistoryLimit: 10
"""
SECRET_VARIABLE = """\
         - name: AWS_SECRET_ACCESS_KEY
-          value: '********'
+          value: '******** (changed)'
"""
RESTARTS = """\
restart 1: group data (StatefulSet druid-wiki-data), 1 pod: {causes}
restart 2: group brokers (Deployment druid-wiki-brokers), 1 pod: {causes}
restart 3: group routers (StatefulSet druid-wiki-routers), 1 pod: {causes}
"""
CAUSES = (
    "ConfigMap wiki-druid-common-config (common.runtime.properties), "
    "env[AWS_SECRET_ACCESS_KEY].value: ******** -> ******** (changed)"
)
# The node types in the order in which Druid wants servers updated; names that are sorted the other way round.
UPDATED = {
    "group-7": "historical",
    "group-6": "middleManager",
    "group-5": "indexer",
    "group-4": "broker",
    "group-3": "router",
    "group-2": "overlord",
    "group-1": "coordinator",
}
TOUCHED = {
    ("ConfigMap", "wiki-druid-common-config"),
    ("StatefulSet", "druid-wiki-data"),
    ("Deployment", "druid-wiki-brokers"),
    ("PodDisruptionBudget", "druid-wiki-brokers"),
    ("StatefulSet", "druid-wiki-routers"),
    ("Ingress", "druid-wiki-brokers"),
}
ALL_BUT_CLAIMS_OF_SETS = all_kinds_cluster.OBJECTS - {("PersistentVolumeClaim", "segments-druid-wiki-data-0")}


def before() -> Manifest:
    """Return the specification that is there."""
    spec = all_kinds_cluster.spec()
    spec["rollingDeploy"] = False
    spec["common.runtime.properties"] += "druid.metadata.storage.connector.password=hunter2-old\n"
    spec["env"] = [{"name": "AWS_SECRET_ACCESS_KEY", "value": "old-key-7788"}]
    return spec


def after() -> Manifest:
    """Return the proposed specification."""
    spec = before()
    spec["common.runtime.properties"] = (
        "druid.zk.service.enabled=true\ndruid.metadata.storage.connector.password=hunter2-new\n"
    )
    spec["env"] = [{"name": "AWS_SECRET_ACCESS_KEY", "value": "new-key-7788"}]
    del spec["nodes"]["brokers"]["ingress"]
    spec["nodes"]["brokers"]["podDisruptionBudgetSpec"] = {"maxUnavailable": 1}
    spec["nodes"]["data"]["replicas"] = 2
    return spec


def printed(output: str, namespace: str) -> set[tuple[str, str]]:
    """Return kind and name of each object whose diff was printed."""
    return set(re.findall(rf"^--- before: (\w+) {namespace}/(\S+)", output, re.M))


def written(live: NamespaceClient, mark: Any) -> set[tuple[str, str]]:
    """Return kind and name of each object that was written, dry runs, status and events excepted."""
    return set(written_in_order(live, mark))


def written_in_order(live: NamespaceClient, mark: Any) -> list[tuple[str, str]]:
    """Return the same, each as often as it was written, in the order of the requests."""
    kinds = {kind.plural: name for name, kind in KINDS.items()}
    writes = [each for each in live.writes(mark) if not each.dry_run and each.subresource != "status"]
    writes.sort(key=lambda each: each.received)
    return [(kinds[each.resource], each.name) for each in writes if each.resource != "events"]


def state(live: NamespaceClient) -> dict[tuple[str, str], str]:
    """
    Return the state of each object, including the resource.

    PVCs are changed by the volume controller. An autoscaler has no generation, and its version changes with its status.
    """
    kinds = {kind for kind, _name in all_kinds_cluster.OBJECTS} - {"PersistentVolumeClaim"} | {"Druid"}
    found = [(kind, each, each["metadata"]) for kind in kinds for each in live.list(kind)]
    return {
        (kind, metadata["name"]): f"{metadata['uid']} {_version(kind, each)}"
        for kind, each, metadata in found
        if metadata["name"] != "kube-root-ca.crt"
    }


def _version(kind: str, found: Manifest) -> Any:
    if kind == "HorizontalPodAutoscaler":
        return found["spec"]
    return found["metadata"].get("generation", found["metadata"]["resourceVersion"])


def test_prints_each_change_and_applies_exactly_these(each_ansible: Ansible, live: NamespaceClient) -> None:
    live.create({**all_kinds_cluster.resource(), "spec": before()})
    one_pass(live, "wiki")
    live.merge("Druid", "wiki", {"spec": {**after(), "nodes": {**after()["nodes"], "brokers": None}}})
    live.merge("Druid", "wiki", {"spec": {"nodes": {"brokers": after()["nodes"]["brokers"]}}})
    earlier, mark = state(live), live.mark()

    plan = each_ansible.cluster("wiki", "--check", "--diff")
    assert plan.changed
    for text in (CHANGED, DELETED, CREATED, LIMIT, SCALED, SECRET_VARIABLE, RESTARTS):
        assert text.format(namespace=live.namespace, causes=CAUSES) in plan.output
    assert printed(plan.output, live.namespace) == TOUCHED
    assert [each for each in live.writes(mark) if not each.dry_run] == []
    assert state(live) == earlier

    mark = live.mark()
    applied = each_ansible.cluster("wiki", "--diff")
    assert applied.changed
    assert printed(applied.output, live.namespace) == TOUCHED
    assert written(live, mark) == TOUCHED
    assert not each_ansible.cluster("wiki", "--check", "--diff").changed


def test_no_secret_is_ever_printed(each_ansible: Ansible, live: NamespaceClient) -> None:
    live.create({**all_kinds_cluster.resource(), "spec": before()})
    one_pass(live, "wiki")
    live.merge("Druid", "wiki", {"spec": after()})
    for options in (("--check", "--diff", "-vvv"), ("--diff", "-vvv")):
        output = each_ansible.cluster("wiki", *options).output
        assert "(changed)" in output
        assert [secret for secret in SECRETS if secret in output] == []
    reported = " ".join(each["message"] for each in live.list("Event"))
    assert "AWS_SECRET_ACCESS_KEY" in reported
    assert [secret for secret in SECRETS if secret in reported] == []


def test_plans_a_proposal_against_the_current_state(ansible: Ansible, live: NamespaceClient) -> None:
    live.create({**all_kinds_cluster.resource(), "spec": before()})
    one_pass(live, "wiki")
    earlier, mark = state(live), live.mark()
    proposal = ansible.write("proposal.json", {**all_kinds_cluster.resource(), "spec": after()})[1:]
    plan = ansible.cluster(None, "--check", "--diff", resource=proposal)
    assert RESTARTS.format(causes=CAUSES) in plan.output
    assert printed(plan.output, live.namespace) == TOUCHED | {("Druid", "wiki")}
    assert [each for each in live.writes(mark) if not each.dry_run] == []
    assert state(live) == earlier

    mark = live.mark()
    ansible.cluster(None, "--diff", resource=proposal)
    assert written(live, mark) == TOUCHED | {("Druid", "wiki")}


def test_plans_a_missing_resource(ansible: Ansible, live: NamespaceClient) -> None:
    mark = live.mark()
    plan = ansible.cluster(None, "--check", "--diff", resource=all_kinds_cluster.resource())
    assert plan.changed
    assert printed(plan.output, live.namespace) == ALL_BUT_CLAIMS_OF_SETS | {("Druid", "wiki")}
    assert not re.search("restart \\d", plan.output)
    assert [each for each in live.writes(mark) if not each.dry_run] == []
    assert state(live) == {}

    mark = live.mark()
    ansible.cluster(resource=all_kinds_cluster.resource())
    assert written(live, mark) == ALL_BUT_CLAIMS_OF_SETS | {("Druid", "wiki")}


def test_plans_a_cluster_defined_by_variables(ansible: Ansible, live: NamespaceClient) -> None:
    mark = live.mark()
    plan = ansible.cluster("wiki", "--check", "--diff", spec=before())
    assert printed(plan.output, live.namespace) == ALL_BUT_CLAIMS_OF_SETS
    assert [each for each in live.writes(mark) if not each.dry_run] == []
    one_pass(live, "wiki", spec=before(), without_resource=True)
    mark = live.mark()
    assert printed(ansible.cluster("wiki", "--check", "--diff", spec=after()).output, live.namespace) == TOUCHED
    ansible.cluster("wiki", spec=after())
    assert written(live, mark) == TOUCHED
    assert not ansible.cluster("wiki", "--check", "--diff", spec=after()).changed


def test_groups_are_written_in_druids_update_order(ansible: Ansible, live: NamespaceClient) -> None:
    nodes = {key: all_kinds_cluster.group(node_type, 8080) for key, node_type in reversed(UPDATED.items())}
    nodes["group-4"]["kind"] = "Deployment"
    live.create(all_kinds_cluster.resource(nodes=nodes))
    one_pass(live, "wiki")
    changed = {"common.runtime.properties": "druid.zk.service.enabled=true\n", "rollingDeploy": False}
    live.merge("Druid", "wiki", {"spec": changed})
    plan = ansible.cluster("wiki", "--check", "--diff")
    assert re.findall(r"^restart \d: group (\S+) ", plan.output, re.M) == list(UPDATED)

    mark = live.mark()
    one_pass(live, "wiki")
    workloads = [("Deployment" if key == "group-4" else "StatefulSet", f"druid-wiki-{key}") for key in UPDATED]
    assert written_in_order(live, mark) == [("ConfigMap", "wiki-druid-common-config"), *workloads]


@pytest.mark.parametrize("changes", [False, True])
def test_changed_is_true_exactly_when_an_object_would_be_written(live: NamespaceClient, changes: bool) -> None:
    live.create(all_kinds_cluster.resource())
    one_pass(live, "wiki")
    if changes:
        live.merge("Druid", "wiki", all_kinds_cluster.changed("data", replicas=3))
    else:
        # a change of the resource that no object shows
        live.merge("Druid", "wiki", {"spec": {"rollingDeploy": False}})
    planned = one_pass(live, "wiki", check_mode=True)
    mark = live.mark()
    applied = one_pass(live, "wiki")
    assert (planned.changed, applied.changed, bool(written(live, mark))) == (changes, changes, changes)
