# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The test bed behaves as the other tests rely on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.testbed_process import (
    ENVIRONMENT,
    command_line,
    commands_in,
)
from testbed.api import ApiError
from testbed.control_plane import ControlPlane, ControlPlaneError
from testbed.control_plane import control_plane as temporary
from testbed.directory import DirectoryError
from testbed.processes import ProcessError, Processes, start_time
from testbed.pytest_plugin import kubernetes

MERGE = "application/merge-patch+json"
COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: examples.test.example.com}
spec:
  group: test.example.com
  names: {plural: examples, singular: example, kind: Example}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


def stateful_set(annotations: dict[str, str] | None = None, replicas: int = 1) -> dict[str, Any]:
    """A StatefulSet with a PVC."""
    labels = {"app": "web"}
    container = {"name": "web", "image": "example.com/web", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "serviceName": "web",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": annotations or {}},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
            },
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
        },
    }


def create_stateful_set(plane: ControlPlane, namespace: str, **options: Any) -> str:
    """The path of a new StatefulSet."""
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
    plane.request("POST", path, stateful_set(**options))
    return f"{path}/web"


def ready_replicas(plane: ControlPlane, path: str) -> int:
    """How many pods of the workload are ready."""
    return int(plane.request("GET", path)["status"].get("readyReplicas", 0))


def pod_condition(pod: dict[str, Any], kind: str) -> str | None:
    """The status of a pod's condition."""
    conditions = pod.get("status", {}).get("conditions") or []
    return next((each["status"] for each in conditions if each["type"] == kind), None)


def running_pod(plane: ControlPlane, namespace: str) -> dict[str, Any]:
    """The first pod of the StatefulSet, once it runs."""

    def running() -> dict[str, Any] | None:
        pods = plane.request("GET", f"/api/v1/namespaces/{namespace}/pods?fieldSelector=metadata.name=web-0")["items"]
        return next((pod for pod in pods if pod["status"]["phase"] == "Running"), None)

    return eventually(running)


def components_in(directory: Path) -> list[str]:
    """The names of the components that run in a directory."""
    return sorted(process.name for process in Processes(directory).running())


@pytest.fixture
def another(tmp_path: Path) -> Iterator[ControlPlane]:
    """A control plane of the test's own."""
    with ControlPlane.start(tmp_path / "another", kubernetes()) as plane:
        yield plane


def test_serves_the_requested_version(control_plane: ControlPlane) -> None:
    assert control_plane.request("GET", "/version")["gitVersion"] == control_plane.kubernetes.release
    nodes = control_plane.request("GET", "/api/v1/nodes")["items"]
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes} == {control_plane.kubernetes.release}


def test_runs_a_stateful_set_with_claims(control_plane: ControlPlane, namespace: str) -> None:
    path = create_stateful_set(control_plane, namespace, replicas=3)
    eventually(lambda: ready_replicas(control_plane, path) == 3)
    claims = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")["items"]
    assert [claim["metadata"]["name"] for claim in claims] == ["data-web-0", "data-web-1", "data-web-2"]
    assert {claim["status"]["phase"] for claim in claims} == {"Bound"}


def test_binds_a_claim_that_waits_for_its_first_pod(control_plane: ControlPlane, namespace: str) -> None:
    body = stateful_set()
    body["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"] = "standard-wait"
    path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
    control_plane.request("POST", path, body)
    eventually(lambda: ready_replicas(control_plane, f"{path}/web") == 1)


def test_pod_is_ready_only_after_its_delay(control_plane: ControlPlane, namespace: str) -> None:
    path = create_stateful_set(control_plane, namespace, annotations={"test/ready-delay": "2s"})
    eventually(lambda: ready_replicas(control_plane, path) == 1)
    status = running_pod(control_plane, namespace)["status"]
    ready = next(each for each in status["conditions"] if each["type"] == "Ready")
    running = datetime.fromisoformat(status["startTime"])
    assert datetime.fromisoformat(ready["lastTransitionTime"]) - running >= timedelta(seconds=2)


def test_pod_is_never_ready_until_the_annotation_is_removed(control_plane: ControlPlane, namespace: str) -> None:
    path = create_stateful_set(control_plane, namespace, annotations={"test/ready": "never"}, replicas=2)
    running_pod(control_plane, namespace)
    assert ready_replicas(control_plane, path) == 0
    # not even while other objects are created and deleted
    other = {"metadata": {"name": "other"}, "spec": stateful_set()["spec"]["template"]["spec"]}
    del other["spec"]["containers"][0]["volumeMounts"]
    control_plane.request("POST", f"/api/v1/namespaces/{namespace}/pods", other)
    pods = f"/api/v1/namespaces/{namespace}/pods"
    eventually(lambda: pod_condition(control_plane.request("GET", f"{pods}/other"), "Ready") == "True")
    assert pod_condition(control_plane.request("GET", f"{pods}/web-0"), "Ready") == "False"
    removed = {"metadata": {"annotations": {"test/ready": None}}}
    control_plane.request("PATCH", f"{pods}/web-0", removed, content_type=MERGE)
    eventually(lambda: ready_replicas(control_plane, path) == 1)


def test_ready_pod_can_be_broken(control_plane: ControlPlane, namespace: str) -> None:
    path = create_stateful_set(control_plane, namespace)
    eventually(lambda: ready_replicas(control_plane, path) == 1)
    broken = {"metadata": {"annotations": {"test/ready": "never"}}}
    control_plane.request("PATCH", f"/api/v1/namespaces/{namespace}/pods/web-0", broken, content_type=MERGE)
    eventually(lambda: ready_replicas(control_plane, path) == 0)


def test_claim_grows_with_its_volume(control_plane: ControlPlane, namespace: str) -> None:
    path = create_stateful_set(control_plane, namespace)
    eventually(lambda: ready_replicas(control_plane, path) == 1)
    claim = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/data-web-0"
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    volume = control_plane.request("PATCH", claim, larger, content_type=MERGE)["spec"]["volumeName"]
    eventually(lambda: control_plane.request("GET", claim)["status"]["capacity"]["storage"] == "2Gi")
    assert control_plane.request("GET", f"/api/v1/persistentvolumes/{volume}")["spec"]["capacity"]["storage"] == "2Gi"


def test_audit_log_counts_requests_by_user(control_plane: ControlPlane, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    mark = control_plane.audit.mark()
    control_plane.request("POST", path, {"metadata": {"name": "one"}}, user="druidops")
    control_plane.request("POST", f"{path}?dryRun=All", {"metadata": {"name": "two"}}, user="druidops")
    control_plane.request("GET", f"{path}/one", user="person")
    control_plane.request("GET", f"{path}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Done", user="person")
    assert [
        (event.verb, event.resource, event.name, event.code, event.dry_run)
        for event in control_plane.audit.since(mark, "druidops")
    ] == [("create", "configmaps", "one", 201, False), ("create", "configmaps", "two", 201, True)]
    assert [event.verb for event in control_plane.audit.since(mark, "person")] == ["get", "watch"]
    assert control_plane.audit.since(control_plane.audit.mark(), "druidops") == []


def test_limited_user_may_do_nothing_until_granted(control_plane: ControlPlane, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    with pytest.raises(ApiError, match='User "limited" cannot list resource "configmaps"') as refused:
        control_plane.request("GET", path, user="limited")
    assert refused.value.status == 403
    binding = {
        "metadata": {"name": "limited"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "name": "limited", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    control_plane.request("POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings", binding)
    assert eventually(lambda: allowed(control_plane, path))


def allowed(plane: ControlPlane, path: str) -> bool:
    """Whether the limited user may read the path yet."""
    with suppress(ApiError):
        plane.request("GET", path, user="limited")
        return True
    return False


def test_kubeconfig_of_an_unknown_user_is_rejected(control_plane: ControlPlane) -> None:
    with pytest.raises(ControlPlaneError, match="no user nobody; there are admin, druidops"):
        control_plane.kubeconfig("nobody")


@campaign("a control plane is started and stopped, and leaves no process")
def test_two_run_side_by_side(control_plane: ControlPlane, another: ControlPlane) -> None:
    another.request("POST", "/api/v1/namespaces", {"metadata": {"name": "only-in-another"}})
    names = {item["metadata"]["name"] for item in control_plane.request("GET", "/api/v1/namespaces")["items"]}
    assert another.url != control_plane.url
    assert "only-in-another" not in names


def test_garbage_collector_knows_the_crds_at_once(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(CRD)
    owner_path = "/apis/test.example.com/v1/namespaces/default/examples"
    with temporary(kubernetes(), [tmp_path / "crd.yaml"]) as plane:
        owner = plane.request(
            "POST",
            owner_path,
            {"apiVersion": "test.example.com/v1", "kind": "Example", "metadata": {"name": "owner"}},
        )
        reference = {
            "apiVersion": "test.example.com/v1",
            "kind": "Example",
            "name": "owner",
            "uid": owner["metadata"]["uid"],
        }
        config_maps = "/api/v1/namespaces/default/configmaps"
        plane.request("POST", config_maps, {"metadata": {"name": "owned", "ownerReferences": [reference]}})
        plane.request("DELETE", f"{owner_path}/owner?propagationPolicy=Foreground")
        # the collector discovers new kinds every 30 s only
        eventually(
            lambda: "owned" not in {each["metadata"]["name"] for each in plane.request("GET", config_maps)["items"]},
            timeout=15,
        )


def test_stop_leaves_no_process(tmp_path: Path) -> None:
    plane = ControlPlane.start(tmp_path / "plane", kubernetes())
    assert components_in(tmp_path / "plane") == COMPONENTS
    plane.stop()
    assert components_in(tmp_path / "plane") == []
    assert commands_in(tmp_path) == []


@campaign("a control plane is started and stopped, and leaves no process")
def test_killed_parent_leaves_no_process(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib, signal\n"
        "from testbed.control_plane import ControlPlane\n"
        "ControlPlane.start(pathlib.Path(sys.argv[1]), sys.argv[2])\n"
        "print('started', flush=True)\n"
        "signal.pause()\n"
    )
    directory = tmp_path / "plane"
    command = [sys.executable, "-c", script, str(directory), kubernetes()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        assert components_in(directory) == COMPONENTS
        parent.send_signal(signal.SIGKILL)
    eventually(lambda: not components_in(directory), timeout=10)
    eventually(lambda: not commands_in(directory), timeout=10)


@campaign("a control plane is started and stopped, and leaves no process")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_start_leaves_no_process(tmp_path: Path, how: signal.Signals) -> None:
    directory, never_read = tmp_path / "plane", tmp_path / "crds"
    # it continues without its parent: it waits for CRDs that are never written, and so is never ready
    os.mkfifo(never_read)
    start = ["up", "--dir", str(directory), "--kubernetes", kubernetes(), "--crd", str(never_read)]
    # whatever these tests ignore themselves: what a shell starts in the background is deaf to SIGINT
    command = ["env", "--default-signal", sys.executable, "-m", "testbed", *start]
    with subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True) as up:
        eventually(lambda: any("etcd" in each for each in commands_in(directory)))
        up.send_signal(how)
    assert up.returncode == 130
    assert commands_in(directory) == []


@campaign("a control plane is started and stopped, and leaves no process")
def test_failed_start_shows_the_log_and_leaves_no_process(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match=r"(?s)kube-apiserver has ended.*unknown flag: --no-such-flag"):
        ControlPlane.start(tmp_path / "plane", kubernetes(), apiserver_arguments=["--no-such-flag"])
    assert commands_in(tmp_path) == []


def test_rejects_a_directory_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("data")
    with pytest.raises(DirectoryError, match="holds other files"):
        ControlPlane.start(tmp_path, kubernetes())
    assert (tmp_path / "precious").read_text() == "data"


@campaign("the control plane of molecule is started and stopped by a command line")
def test_command_line_starts_finds_and_removes_one(tmp_path: Path) -> None:
    where = ("--dir", str(tmp_path / "plane"))
    try:
        assert command_line("status", *where).returncode == 1
        started = command_line("up", *where, "--kubernetes", kubernetes())
        assert started.returncode == 0, started.stderr
        # it has outlived its parent
        assert components_in(tmp_path / "plane") == COMPONENTS
        again = command_line("up", *where, "--kubernetes", kubernetes())
        assert (again.returncode, again.stdout, again.stderr) == (0, started.stdout, "already running\n")
        assert command_line("status", *where).stdout == started.stdout
    finally:
        down = command_line("down", *where)
    assert (down.returncode, down.stderr) == (0, "stopped\n")
    assert commands_in(tmp_path) == []
    assert command_line("down", *where).stderr == "nothing runs there\n"


def test_other_process_with_a_recorded_pid_is_not_killed(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        (tmp_path / "pids").write_text(f"etcd {bystander.pid} 1\n")
        Processes(tmp_path).kill()
        assert start_time(bystander.pid) is not None
        bystander.kill()
