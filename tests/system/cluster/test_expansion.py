# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PVCs grow on a real control plane; the test is the storage driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.druidops.druid.tests.system.support import full_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.full_cluster import NAME, STATEFUL, claim_template
from ansible_collections.druidops.druid.tests.system.support.in_process import one_pass, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import (
    MERGE,
    Manifest,
    NamespaceClient,
    condition,
)
from testbed.control_plane import ControlPlane
from testbed.control_plane import control_plane as own_plane
from testbed.pytest_plugin import crds, new_namespace

CLAIMS = [f"data-{STATEFUL}-{ordinal}" for ordinal in range(2)]


def created(live: NamespaceClient, storage_class: str = "standard") -> None:
    """Create a cluster whose PVCs are bound."""
    templates = [described("1Gi", storage_class)]
    full_cluster.create(live, historicals=full_cluster.historicals(replicas=2, volumeClaimTemplates=templates))
    live.merge("Druid", NAME, {"spec": {"scalePvcSts": True}})
    until_ready(live, NAME)
    eventually(lambda: all(claim(live, name)["status"].get("capacity") for name in CLAIMS))
    for name in CLAIMS:
        # The control plane's own storage driver would be too fast to look at.
        live.merge("PersistentVolumeClaim", name, {"metadata": {"annotations": {"test/resize": "never"}}})


def claim(live: NamespaceClient, name: str) -> Manifest:
    return live.get("PersistentVolumeClaim", name)


def sizes(live: NamespaceClient) -> list[str]:
    return [str(claim(live, name)["spec"]["resources"]["requests"]["storage"]) for name in CLAIMS]


def template(live: NamespaceClient) -> Manifest:
    [found] = live.get("StatefulSet", STATEFUL)["spec"]["volumeClaimTemplates"]
    return dict(found)


def pods(live: NamespaceClient) -> set[str]:
    return {each["metadata"]["uid"] for each in live.list("Pod")}


def resize(live: NamespaceClient, name: str, storage: str) -> None:
    """Give the volume its new size, as the storage driver and the kubelet do."""
    path = f"{live.path('PersistentVolumeClaim', name)}/status"
    body = {"status": {"capacity": {"storage": storage}}}
    live.plane.request("PATCH", path, body, user="admin", content_type=MERGE)


def described(storage: str, storage_class: str, **metadata: object) -> Manifest:
    template = claim_template(storage=storage)
    metadata = {**template["metadata"], **metadata}
    return {"metadata": metadata, "spec": {**template["spec"], "storageClassName": storage_class}}


def request(live: NamespaceClient, storage: str, storage_class: str = "standard", **metadata: object) -> None:
    templates = [described(storage, storage_class, **metadata)]
    live.merge("Druid", NAME, {"spec": {"nodes": {"historicals": {"volumeClaimTemplates": templates}}}})


def test_volumes_grow_without_a_restart(live: NamespaceClient) -> None:
    created(live)
    before, former = pods(live), live.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    request(live, "2Gi", annotations={"team": "data"})
    planned = one_pass(live, NAME, check_mode=True)
    assert [step.title for step in planned.plan.steps if step.key.name in (*CLAIMS, STATEFUL)] == [
        *(f"update PersistentVolumeClaim {name}" for name in CLAIMS),
        f"recreate StatefulSet {STATEFUL}",
    ]
    assert sizes(live) == ["1Gi", "1Gi"]
    assert one_pass(live, NAME).plan.findings[-1].reason == "ExpandingVolumes"
    assert (sizes(live), template(live)["spec"]["resources"]["requests"]["storage"]) == (["2Gi", "2Gi"], "2Gi")
    assert claim(live, CLAIMS[0])["metadata"]["annotations"]["team"] == "data"
    assert "pv.kubernetes.io/bind-completed" in claim(live, CLAIMS[0])["metadata"]["annotations"]

    resize(live, CLAIMS[0], "2Gi")
    eventually(lambda: live.get("StatefulSet", STATEFUL)["status"].get("readyReplicas") == len(CLAIMS))
    one_pass(live, NAME)
    found = condition(live.get("Druid", NAME), "Ready")
    assert (found["status"], found["reason"]) == ("False", "ExpandingVolumes")
    assert f"PVC {CLAIMS[1]} has 1Gi of 2Gi" in found["message"]
    assert CLAIMS[0] not in found["message"]
    resize(live, CLAIMS[1], "2Gi")
    until_ready(live, NAME)
    assert one_pass(live, NAME).plan.steps == ()
    assert pods(live) == before
    assert live.get("StatefulSet", STATEFUL)["metadata"]["uid"] != former
    events = {(each["reason"], each["message"]) for each in live.list("Event") if each["reason"].startswith("Volume")}
    assert {reason for reason, message in events if CLAIMS[1] in message} == {"VolumeExpanding", "VolumeExpanded"}


def test_the_class_must_allow_it(live: NamespaceClient) -> None:
    path, name = "/apis/storage.k8s.io/v1/storageclasses", f"fixed-{live.namespace}"
    live.plane.request("POST", path, {"metadata": {"name": name}, "provisioner": "test/kwok"}, user="admin")
    created(live, storage_class=name)
    request(live, "2Gi", storage_class=name)
    former = live.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    [finding] = one_pass(live, NAME).plan.findings
    assert (finding.reason, finding.group) == ("VolumesNotExpandable", "historicals")
    assert f"storage class {name} does not allow it" in finding.message
    assert (sizes(live), live.get("StatefulSet", STATEFUL)["metadata"]["uid"]) == (["1Gi", "1Gi"], former)
    live.plane.request("DELETE", f"{path}/{name}", user="admin")
    [finding] = one_pass(live, NAME).plan.findings
    assert f"storage class {name} does not exist" in finding.message


def test_an_interrupted_expansion_of_the_go_operator_is_finished(live: NamespaceClient) -> None:
    """It has deleted the StatefulSet, and patched one PVC."""
    created(live)
    before = pods(live)
    request(live, "2Gi")
    live.delete("StatefulSet", STATEFUL, "Orphan")
    eventually(lambda: live.find("StatefulSet", STATEFUL) is None)
    live.merge("PersistentVolumeClaim", CLAIMS[0], {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    one_pass(live, NAME)
    assert (sizes(live), template(live)["spec"]["resources"]["requests"]["storage"]) == (["2Gi", "2Gi"], "2Gi")
    for name in CLAIMS:
        resize(live, name, "2Gi")
    until_ready(live, NAME)
    assert pods(live) == before


def test_a_rejected_expansion_changes_nothing(live: NamespaceClient) -> None:
    """A quota has no room for the second PVC, nor for the first one."""
    created(live)
    hard = {"requests.storage": "2Gi"}
    live.create({"kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": hard}})
    eventually(lambda: live.get("ResourceQuota", "small").get("status", {}).get("used"))
    request(live, "2Gi")
    former = live.get("StatefulSet", STATEFUL)["metadata"]["uid"]
    for check_mode in (True, False):
        findings = one_pass(live, NAME, check_mode=check_mode).plan.findings
        problems = [each for each in findings if each.is_problem]
        assert {each.reason for each in problems} == {"RejectedByAPIServer"}
        assert "exceeded quota: small" in problems[0].message
        assert "Nothing of group historicals is changed." in problems[0].message
    assert (sizes(live), live.get("StatefulSet", STATEFUL)["metadata"]["uid"]) == (["1Gi", "1Gi"], former)
    live.delete("ResourceQuota", "small")
    one_pass(live, NAME)
    assert sizes(live) == ["2Gi", "2Gi"]


@pytest.fixture
def recovering(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """A namespace of an API server that stores the state of an expansion: from 1.32 on, that of all tests."""
    if control_plane.kubernetes.minor < "1.32":
        gate = "--feature-gates=RecoverVolumeExpansionFailure=true"
        with (
            own_plane(control_plane.kubernetes.minor, crds(), (gate,)) as plane,
            new_namespace(plane) as name,
        ):
            yield NamespaceClient(plane, name)
    else:
        with new_namespace(control_plane) as name:
            yield NamespaceClient(control_plane, name)


def report(live: NamespaceClient, name: str, status: Manifest) -> None:
    """Write the status of a PVC as the storage driver does."""
    path = f"{live.path('PersistentVolumeClaim', name)}/status"
    live.plane.request("PATCH", path, {"status": status}, user="admin", content_type=MERGE)


def test_an_infeasible_expansion_is_a_problem(recovering: NamespaceClient) -> None:
    live = recovering
    created(live)
    request(live, "2Gi")
    one_pass(live, NAME)
    state = "ControllerResizeFailed" if live.plane.kubernetes.minor < "1.31" else "ControllerResizeInfeasible"
    report(live, CLAIMS[0], {"allocatedResourceStatuses": {"storage": state}})
    one_pass(live, NAME)
    found = condition(live.get("Druid", NAME), "Degraded")
    assert (found["status"], found["reason"]) == ("True", "VolumesNotExpandable")
    assert f"PVC {CLAIMS[0]} cannot be expanded to 2Gi: {state}" in found["message"]


def test_a_failure_that_is_not_reported_as_infeasible_can_be_taken_back(live: NamespaceClient) -> None:
    """Before Kubernetes 1.32, that is each failure: the API server does not store more than its message."""
    created(live)
    request(live, "2Gi")
    one_pass(live, NAME)
    failure = {"type": "ControllerResizeError", "status": "True", "message": "exceeds the limit of the array"}
    report(live, CLAIMS[0], {"conditions": [failure]})
    # The StatefulSet is a new one, which counts its pods only after a moment.
    eventually(lambda: live.get("StatefulSet", STATEFUL)["status"].get("readyReplicas") == len(CLAIMS))
    one_pass(live, NAME)
    ready, degraded = (condition(live.get("Druid", NAME), kind) for kind in ("Ready", "Degraded"))
    assert (ready["status"], ready["reason"], degraded["status"]) == ("False", "ExpandingVolumes", "False")
    assert f"PVC {CLAIMS[0]} has 1Gi of 2Gi (ControllerResizeError: exceeds the limit of the array" in ready["message"]
    request(live, "1Gi")
    until_ready(live, NAME)
    assert (sizes(live), template(live)["spec"]["resources"]["requests"]["storage"]) == (["2Gi", "2Gi"], "1Gi")
