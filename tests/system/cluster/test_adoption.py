# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster is migrated from the Go operator, and back, without a restart: its own recorded objects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.render.config_map import config_map_hashes
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import (
    HASH,
    MANAGERS,
    WORKLOADS,
    GoOperator,
    identities,
    take_over,
)
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    CREATED_KINDS,
    MERGE,
    Manifest,
    NamespaceClient,
    condition,
    without_status,
)
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import recording
from testbed.control_plane import ControlPlane

ALL = "hand"
OTHERS = campaign("the recording that has every kind of object")
FINALIZER = "deletepvc.finalizers.druid.apache.org"
# The recording with all kinds of objects with each manager, the others with one each.
RECORDINGS = [
    *((ALL, manager) for manager in MANAGERS),
    *(
        pytest.param(name, MANAGERS[position % len(MANAGERS)], marks=OTHERS)
        for position, name in enumerate(name for name in recording.NAMES if name != ALL)
    ),
]


def hashes(live: NamespaceClient) -> set[str]:
    """Return the kinds of objects that carry the Go operator's annotation."""
    return {
        kind
        for kind in CREATED_KINDS
        for each in live.list(kind)
        if HASH in (each["metadata"].get("annotations") or {})
    }


@pytest.mark.parametrize(("name", "manager"), RECORDINGS)
def test_migration_and_rollback_restart_no_pods(golden: NamespaceClient, name: str, manager: str) -> None:
    operator = GoOperator(golden, name, manager).run()
    before = operator.settled()
    templates = pod_templates(golden)
    take_over(golden, name)
    assert identities(golden) == before
    assert hashes(golden) <= {"Deployment", "PersistentVolumeClaim"}
    # Otherwise Kubernetes would delete PVCs with the resource, whatever its flag is.
    assert not [each for each in golden.list("PersistentVolumeClaim") if "ownerReferences" in each["metadata"]]
    operator.write()
    assert pods(operator.settled()) == pods(before)
    assert pod_templates(golden) == templates


def pods(found: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Return the identities of the pods among those of all objects."""
    return {key: identity for key, identity in found.items() if key[0] == "Pod"}


def pod_templates(live: NamespaceClient) -> dict[tuple[str, str], Any]:
    """Return the pod template of each workload: what restarts pods when it changes."""
    return {
        (kind, each["metadata"]["name"]): each["spec"]["template"] for kind in WORKLOADS for each in live.list(kind)
    }


def test_adopts_objects_without_managed_fields(golden: NamespaceClient) -> None:
    operator = GoOperator(golden, ALL).run()
    before = operator.settled()
    operator.forget_owners()
    take_over(golden, ALL)
    assert identities(golden) == before
    golden.merge(
        "Druid", ALL, {"spec": {"workloadAnnotations": None, "nodes": {"routers": {"ingressAnnotations": None}}}}
    )
    one_pass(golden, ALL)
    assert "owner" not in golden.get("StatefulSet", "druid-hand-routers")["metadata"].get("annotations", {})
    assert golden.get("Ingress", "druid-hand-routers")["metadata"].get("annotations", {}) == {}


def test_does_not_overwrite_a_running_go_operator(golden: NamespaceClient) -> None:
    operator = GoOperator(golden, ALL).run()
    before = pods(operator.settled())
    take_over(golden, ALL)
    operator.write()
    # status changes of the controllers would change the status
    operator.settled()
    mark = golden.mark()
    outcome = one_pass(golden, ALL)
    assert outcome.report is not None
    assert [problem.reason for problem in outcome.report.problems] == ["ConflictingOperator"]
    assert without_status(golden.writes(mark)) == []
    degraded = condition(golden.get("Druid", ALL), "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "ConflictingOperator")
    assert "druid.apache.org/take-over=true" in degraded["message"]
    # The Go operator still owns its fields of the status: what it writes there is kept, and costs us no write.
    theirs = {"druidNodeStatus": {"druidNode": "a-pod", "druidNodeConditionType": "DruidNodeErrorState"}, "pods": ["p"]}
    status = f"{golden.path('Druid', ALL)}/status"
    golden.plane.request("PATCH", status, {"status": theirs}, user="go-operator", content_type=MERGE)
    mark = golden.mark()
    one_pass(golden, ALL)
    assert golden.writes(mark) == []
    found = golden.get("Druid", ALL)["status"]
    assert (found["druidNodeStatus"] | theirs["druidNodeStatus"], found["pods"]) == (found["druidNodeStatus"], ["p"])

    golden.merge("Druid", ALL, {"metadata": {"annotations": {"druid.apache.org/take-over": "true"}}})
    take_over(golden, ALL)
    assert pods(operator.settled()) == before
    assert condition(golden.get("Druid", ALL), "Degraded")["status"] == "False"
    # The annotation has done its work: without it the cluster is ours as before.
    golden.merge("Druid", ALL, {"metadata": {"annotations": {"druid.apache.org/take-over": None}}})
    mark = golden.mark()
    assert one_pass(golden, ALL).plan.findings == ()
    assert without_status(golden.writes(mark)) == []


def test_one_write_of_the_go_operator_is_a_conflict(golden: NamespaceClient) -> None:
    """It writes the objects whose hash differs, not all at once."""
    operator = GoOperator(golden, ALL).run()
    take_over(golden, ALL)
    operator.write(lambda manifest: manifest["metadata"]["name"] == "druid-hand-routers-config")
    mark = golden.mark()
    outcome = one_pass(golden, ALL)
    assert [finding.reason for finding in outcome.plan.findings] == ["ConflictingOperator"]
    assert "ConfigMap druid-hand-routers-config" in outcome.plan.findings[0].message
    assert without_status(golden.writes(mark)) == []


@pytest.mark.parametrize("name", [ALL, "r4242-9"])
def test_foreign_additions_restart_no_pods(golden: NamespaceClient, name: str) -> None:
    """Also in a template with duplicates, which is compared as a whole."""
    operator = GoOperator(golden, name).run()
    operator.settled()
    add_by_hand(golden)
    before, templates = operator.settled(), pod_templates(golden)
    take_over(golden, name)
    assert identities(golden) == before
    assert pod_templates(golden) == templates
    # Nor is it removed when something else changes.
    golden.merge("Druid", name, {"spec": {"workloadAnnotations": {"changed": "x"}}})
    assert one_pass(golden, name).plan.findings == ()
    assert pod_templates(golden) == templates
    for kind in WORKLOADS:
        for each in golden.list(kind):
            assert each["metadata"]["annotations"].items() >= {"changed": "x", "mine": "x"}.items()


def add_by_hand(live: NamespaceClient) -> None:
    """Restart the pods of every workload, and add to each a sidecar, a variable and an annotation."""

    def add(found: Manifest) -> None:
        pod = found["spec"]["template"]["spec"]
        pod["containers"][0].setdefault("env", []).append({"name": "MINE", "value": "x"})
        pod["containers"].append({"name": "mine", "image": "example.com/x"})
        found["metadata"]["annotations"]["mine"] = "x"

    for kind, name in pod_templates(live):
        live.restart(kind, name)
        live.edit(kind, name, add)


TEXT = "a backspace \b and a form feed \f"


@pytest.mark.parametrize("go", ["1.22", "1.21"])
def test_keeps_the_hash_of_each_go_version(golden: NamespaceClient, go: str) -> None:
    """Newer ones write two characters in another way."""
    name, common = "r4242-9", "r4242-9-druid-common-config"
    recorded = recording.owned_objects(name)["ConfigMap", common]
    data = {**recorded["data"], "metricDimensions.json": TEXT}

    def hashed(files: dict[str, str]) -> str:
        hashes = config_map_hashes(common, golden.namespace, recorded["metadata"]["labels"], files)
        return hashes[go == "1.21"]

    def change(manifest: Manifest) -> None:
        if manifest["metadata"]["name"] == common:
            manifest["data"] = data
        for container in manifest["spec"]["template"]["spec"]["containers"] if manifest["kind"] in WORKLOADS else ():
            for variable in container.get("env", ()):
                if variable["name"] == "configMapSHA":
                    before, _hyphen, node = variable["value"].partition("-")
                    assert before == hashed(recorded["data"])
                    variable["value"] = f"{hashed(data)}-{node}"

    operator = GoOperator(golden, name, spec={"metricDimensions.json": TEXT}, change=change).run()
    before, templates = operator.settled(), pod_templates(golden)
    assert hashed(data) in str(templates)
    take_over(golden, name)
    assert identities(golden) == before
    assert pod_templates(golden) == templates


def test_rollback_after_a_change_restarts_no_pods(golden: NamespaceClient) -> None:
    name, image = "r4242-9", "apache/druid:36.0.0"
    operator = GoOperator(golden, name).run()
    operator.settled()
    take_over(golden, name)
    golden.merge(
        "Druid",
        name,
        {
            "spec": {
                "workloadAnnotations": {"a": "b"},
                "rollingDeploy": False,
                "nodes": {key: {"image": image} for key in ("indexers", "routers")},
            }
        },
    )
    assert one_pass(golden, name).plan.findings == ()
    changed = ("druid-r4242-9-indexers", "druid-r4242-9-routers")

    def follow(manifest: Manifest) -> None:
        if manifest["kind"] in WORKLOADS:
            manifest["metadata"]["annotations"]["a"] = "b"
        if manifest["kind"] in WORKLOADS and manifest["metadata"]["name"] in changed:
            manifest["spec"]["template"]["spec"]["containers"][0]["image"] = image

    eventually(lambda: all(image in images(golden, workload) for workload in changed))
    before, templates = pods(operator.settled()), pod_templates(golden)
    replace(operator, change=follow).write()
    assert pod_templates(golden) == templates
    assert pods(operator.settled()) == before
    golden.merge("Druid", name, {"metadata": {"annotations": {"druid.apache.org/take-over": "true"}}})
    take_over(golden, name)
    assert pods(operator.settled()) == before


def test_a_migration_in_the_middle_of_a_rollout(golden: NamespaceClient) -> None:
    """What the Go operator has updated does not restart again; the others follow, one group after the other."""
    name, image, updated = "r4242-9", "apache/druid:99.0.0", "druid-r4242-9-indexers"
    operator = GoOperator(golden, name).run()
    operator.settled()
    nodes = {key: {"image": image} for key in golden.get("Druid", name)["spec"]["nodes"]}
    golden.merge("Druid", name, {"spec": {"rollingDeploy": True, "nodes": nodes}})

    def is_updated(manifest: Manifest) -> bool:
        return (manifest["kind"], manifest["metadata"]["name"]) == ("StatefulSet", updated)

    def follow(manifest: Manifest) -> None:
        if is_updated(manifest):
            manifest["spec"]["template"]["spec"]["containers"][0]["image"] = image

    replace(operator, change=follow).write(is_updated)
    new = {("Pod", f"{updated}-{ordinal}") for ordinal in range(2)}
    # between the deletion of a pod and the creation of the next one, there is one pod only
    eventually(lambda: images(golden, updated) == {image} and new <= pods(identities(golden)).keys())
    halfway, restarts = pods(identities(golden)), list[str]()

    def is_ready() -> bool:
        outcome = one_pass(golden, name)
        assert outcome.plan.findings == ()
        restarts.extend(outcome.plan.restarts)
        return condition(golden.get("Druid", name), "Ready")["status"] == "True"

    eventually(is_ready)
    assert restarts == ["middlemanager-hot", "routers", "coordinator"]
    kept = {key for key, pod in pods(operator.settled()).items() if halfway.get(key) == pod}
    assert kept == new


def images(live: NamespaceClient, workload: str) -> set[str]:
    """Return the image of a workload's pods when they all have the same."""
    found = {
        pod["spec"]["containers"][0]["image"]
        for pod in live.list("Pod")
        if pod["metadata"]["labels"]["nodeSpecUniqueStr"] == workload
    }
    return found if len(found) == 1 else set()


@pytest.mark.parametrize("was_ours", [True, False], ids=["ours", "of the Go operator"])
def test_adopts_the_objects_of_a_recreated_resource(golden: NamespaceClient, was_ours: bool) -> None:
    operator = GoOperator(golden, ALL).run()
    if was_ours:
        take_over(golden, ALL)
    before = operator.settled()
    old = orphaned(golden)
    golden.create({**recording.resource(ALL, "applied"), "metadata": {"name": ALL}})
    take_over(golden, ALL)
    assert identities(golden) == before
    uid = golden.get("Druid", ALL)["metadata"]["uid"]
    assert uid != old
    children = [each for each in owned_children(golden) if each["kind"] != "PersistentVolumeClaim"]
    owners = {owner["uid"] for each in children for owner in each["metadata"]["ownerReferences"]}
    assert owners == {uid}


def orphaned(live: NamespaceClient) -> str:
    """
    Delete the resource but not its objects, as kubectl delete --cascade=orphan does; return its uid.

    The finalizer of both operators blocks the deletion until a user removes it.
    """
    resource = live.merge("Druid", ALL, {"metadata": {"finalizers": [FINALIZER]}})
    live.delete("Druid", ALL, "Orphan")
    eventually(lambda: not any("ownerReferences" in each["metadata"] for each in owned_children(live)))
    eventually(lambda: live.get("Druid", ALL)["metadata"]["finalizers"] == [FINALIZER])
    live.merge("Druid", ALL, {"metadata": {"finalizers": None}})
    eventually(lambda: live.find("Druid", ALL) is None)
    uid: str = resource["metadata"]["uid"]
    return uid


def owned_children(live: NamespaceClient) -> list[Manifest]:
    """Return all that the Go operator had made."""
    return [live.get(*key) for key in recording.owned_objects(ALL)]


def test_playbook_predicts_the_migration_in_check_mode(
    golden: NamespaceClient, control_plane: ControlPlane, tmp_path: Path
) -> None:
    operator = GoOperator(golden, ALL).run()
    before = operator.settled()
    ansible = Ansible(CORES["2.19"], control_plane, golden.namespace, tmp_path)
    mark = golden.mark()
    checked = ansible.cluster(ALL, "--check", "--diff")
    assert checked.changed
    for kind, name in recording.owned_objects(ALL):
        assert f"update {kind} {name}" in checked.output
        assert f"+++ after: {kind} {golden.namespace}/{name}" in checked.output
    assert "restart" not in checked.output
    assert [write for write in golden.writes(mark) if not write.dry_run] == []
    assert ansible.cluster(ALL).changed
    assert identities(golden) == before
    assert not ansible.cluster(ALL).changed
