# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operator as its image runs it: from the same files, in a read-only file system, as the same user."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from ansible_collections.druidops.druid.build.runner import shipped
from ansible_collections.druidops.druid.tests.system.support import image, small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.druid_operator import LEASE, election
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.image import ImageOperator
from ansible_collections.druidops.druid.tests.system.support.namespace_client import Manifest, NamespaceClient
from testbed.api import ApiError

NAME = "c"
MOST_ARTIFACTS = 20
PREFIX = "ansible.sdk.operatorframework.io"
# As ansible-runner does it in the end, for a resource of a cluster that is not there.
META = json.dumps({"ansible_operator_meta": {"name": "c", "namespace": "d"}})
PLAYBOOK = ["ansible-playbook", "--inventory", "localhost,", "--extra-vars", META, "playbooks/operator_druid.yml"]


@pytest.fixture
def started(image_layout: Path, live: NamespaceClient, tmp_path: Path) -> Iterator[ImageOperator]:
    with image.started(image_layout, live, tmp_path) as operator:
        yield operator


def _is_expected(line: str) -> bool:
    """True for client-go's own lines when it becomes the leader, and when it ends.

    When it ends, ansible-operator cancels what it reads itself after a run that has requested no other one.
    """
    ends = ('"error":"leader election lost"}', 'context canceled"}')
    return "leaderelection.go" in line or line.endswith(ends)


@pytest.mark.parametrize(
    ("pod", "is_released"),
    [
        pytest.param(socket.gethostname(), True, id="own"),
        pytest.param("p", False, id="another", marks=campaign("the same by unit tests")),
    ],
)
def test_completes_running_reconciles_on_sigterm_and_then_releases_its_lease(
    image_layout: Path, live: NamespaceClient, tmp_path: Path, pod: str, is_released: bool
) -> None:
    path = f"/apis/coordination.k8s.io/v1/namespaces/{live.namespace}/leases/{LEASE}"
    with image.started(image_layout, live, tmp_path, election(live.namespace), POD_NAME=pod) as started:
        live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
        started.wait_until_settled(NAME)
        holder = live.plane.request("GET", path)["spec"]["holderIdentity"]

        mark = live.mark()
        live.merge("Druid", NAME, {"spec": {"nodes": {"brokers": {"replicas": 2}}}})
        # the first new run may have read the resource before the change
        eventually(lambda: "statefulsets" in {each.resource for each in live.writes(mark, _account(live))})
        status = started.stop()

    assert status == 0, started.log.read_text()
    assert live.get("StatefulSet", f"druid-{NAME}-brokers")["spec"]["replicas"] == 2
    # another one may have begun when the status of the StatefulSet changed
    done = [each for line in started.lines() if line["generation"] == 2 for each in line["done"]]
    assert done.count(f"update StatefulSet druid-{NAME}-brokers") == 1
    assert live.get("Druid", NAME)["status"]["observedGeneration"] == 2
    assert [line for line in started.log.read_text().splitlines() if not _is_expected(line)] == []

    assert holder.startswith(f"{socket.gethostname()}_")
    lease = live.plane.request("GET", path)["spec"]
    assert (lease["holderIdentity"] == "") == is_released
    if is_released:
        requests = live.requests(mark, _account(live))
        assert "statefulsets" in {each.resource for each in requests}
        assert (requests[-1].verb, requests[-1].resource) == ("update", "leases")


def test_log_is_one_line_for_each_reconcile(started: ImageOperator, live: NamespaceClient) -> None:
    """The program itself prints nothing while all is well, though there is a run with a recap, and many reads."""
    live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
    started.wait_until_settled(NAME)
    live.delete("Druid", NAME)
    eventually(lambda: live.find("Druid", NAME) is None)
    eventually(lambda: len(started.ended) == len(started.artifacts) == len(started.lines()))

    assert started.log.read_text() == ""
    assert len(started.lines()) == len(started.ended) > 2
    assert {line["level"] for line in started.lines()} == {"info"}


BYTES_PER_FAILED_RUN = 6000


def test_not_ready_while_no_run_starts(image_layout: Path, live: NamespaceClient, tmp_path: Path) -> None:
    earlier = tmp_path / "tmp" / "run-pending"
    earlier.parent.mkdir()
    earlier.write_text("1 a\n1 b\n")
    _give_to_user(earlier)
    with image.started(image_layout, live, tmp_path, ANSIBLE_COLLECTIONS_PATH="/none") as operator:
        # attempts of the container before are forgotten
        assert operator.probe() == (0, "")
        live.create(small_cluster.resource(NAME))
        pending = operator.tmp / "run-pending"
        eventually(lambda: len(operator.ended) > 3)
        _make_old(pending)
        # a single resource is not enough
        assert operator.probe() == (0, "")

        live.create(small_cluster.resource("other"))
        eventually(lambda: "/other\n" in pending.read_text())
        # a moment is not enough
        assert operator.probe() == (0, "")
        _make_old(pending)
        status, message = operator.probe()

        assert (status, message.startswith("No run has started for ")) == (1, True)
        log = operator.log.read_text()
        assert "goroutine" not in log
        assert len(log) < BYTES_PER_FAILED_RUN * (len(operator.artifacts) + 1)


def _make_old(pending: Path) -> None:
    """Write in place, so that the user of the container can still append."""
    pending.write_text(re.sub("^[0-9]+", "1", pending.read_text(), flags=re.MULTILINE))


def test_files_that_earlier_runs_have_left(started: ImageOperator, live: NamespaceClient) -> None:
    """Ready again once a run starts; the files of a deleted resource are removed."""
    pending = started.tmp / "run-pending"
    pending.write_text("1 a\n1 b\n")
    deleted = started.tmp / "ansible-operator/runner/druid.apache.org/v1alpha1/DruidIngestion/elsewhere/gone"
    for part in ("env/extravars", "artifacts/1/stdout"):
        (deleted / part).parent.mkdir(parents=True)
        (deleted / part).write_text("{}")
    os.utime(deleted / "env" / "extravars", (1, 1))
    _give_to_user(pending, started.tmp / "ansible-operator", *(started.tmp / "ansible-operator").rglob("*"))
    assert started.probe()[0] == 1

    live.create(small_cluster.resource(NAME))
    started.wait_until_settled(NAME)

    assert started.probe() == (0, "")
    assert not deleted.parent.exists()
    assert started.ended


def test_annotations_of_the_author_are_limited(started: ImageOperator, live: NamespaceClient) -> None:
    left = started.tmp / f"ansible-operator/runner/druid.apache.org/v1alpha1/Druid/{live.namespace}/{NAME}/artifacts"
    for number in range(2 * MOST_ARTIFACTS):
        (left / f"earlier-{number}").mkdir(parents=True)
        (left / f"earlier-{number}" / "rc").write_text("0")
    _give_to_user(started.tmp / "ansible-operator", *(started.tmp / "ansible-operator").rglob("*"))
    resource = small_cluster.resource(NAME)
    asked = {"verbosity": "7", "max-runner-artifacts": "0", "reconcile-period": "1ms"}
    resource["metadata"]["annotations"] = {f"{PREFIX}/{name}": value for name, value in asked.items()}
    live.create(resource)

    started.wait_until_settled(NAME)

    eventually(lambda: len(started.artifacts) <= MOST_ARTIFACTS)
    runs = [each for each in started.ended if not each.name.startswith("earlier")]
    assert runs
    for run in runs:
        # with a verbosity, it would be one of Ansible
        assert (run / "stdout").read_text().startswith("Reconciled without Ansible.")
    # nor is the resource, which may have secrets in it, left among the variables of a run
    provided = json.loads((left.parent / "env" / "extravars").read_text())
    meta = {"name": NAME, "namespace": live.namespace}
    assert provided == {"ansible_operator_meta": meta}
    # the test sets the time of the next one, not the author
    assert "10s" in {_asked_for(run) for run in runs}


def _with_task(text: str) -> str:
    return text.replace("  tasks:\n", "  tasks:\n    - ansible.builtin.debug:\n        msg: derived\n", 1)


def _with_unknown_variable(_text: str) -> str:
    return "druid_cluster_derived: true\n"


DERIVED = campaign("the same for another file")


def _with_second_task(text: str) -> str:
    return f"{text}- ansible.builtin.debug:\n    msg: derived\n"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("playbooks/operator_druid.yml", _with_task, id="a task"),
        pytest.param("playbooks/group_vars/all.yml", _with_unknown_variable, id="group_vars", marks=DERIVED),
        pytest.param("roles/druid_cluster/tasks/reconcile.yml", _with_second_task, id="the role", marks=DERIVED),
    ],
)
def test_derived_image_is_run_by_ansible_and_the_log_has_the_reason(
    image_layout: Path, live: NamespaceClient, tmp_path: Path, name: str, change: Callable[[str], str]
) -> None:
    layout = tmp_path / "layout"
    shutil.copytree(image_layout, layout, symlinks=True)
    image.make_removable(layout)
    file = layout / "collections" / "ansible_collections" / "druidops" / "druid" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(change(file.read_text() if file.exists() else ""))
    subprocess.run(["chmod", "-R", "a+rX", layout], check=True)
    with image.started(layout, live, tmp_path) as operator:
        live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
        operator.wait_until_ready(NAME)
        reasons = {line["message"] for line in operator.lines() if "name" not in line}
        outputs = [(run / "stdout").read_text() for run, status in operator.ended.items() if status == "0"]
    is_changed = "is not that" if name in shipped.DIGESTS else "is not part"
    assert reasons == {f"The run is one of ansible-runner: {name} {is_changed} of the collection."}
    # what the image has added has an effect; a run that was postponed prints nothing
    begun = [output for output in outputs if output]
    assert begun
    assert all("derived" in output for output in begun)


REFUSED = {
    "verbosity": ("99999999999", "-1", "8", "", "x", "0x7"),
    "reconcile-period": ("60", "xyz", "", "-1s", "1d", "1h 2m", "999999h", "1..5s", "s"),
}
ACCEPTED = {"verbosity": ("0", "7", None), "reconcile-period": ("60s", "1h30m", "0.5s", "10ms", "99999h", None)}


def test_policy_rejects_annotations_that_stop_the_operator(live: NamespaceClient) -> None:
    text = (image.COLLECTION / "config" / "admission" / "annotations.yaml").read_text(encoding="utf-8")
    policy, binding = yaml.safe_load_all(text)
    stored = [live.create(_with_annotation(name, values[0])) for name, values in REFUSED.items()]
    with ExitStack() as stack:
        for each, plural in ((policy, "policies"), (binding, "policybindings")):
            path = f"/apis/admissionregistration.k8s.io/v1/validatingadmission{plural}"
            live.plane.request("POST", path, each)
            stack.callback(live.plane.request, "DELETE", f"{path}/{each['metadata']['name']}")
        for name, values in REFUSED.items():
            assert eventually(lambda name=name, value=values[0]: _refused(live, name, value)).status == 422  # type: ignore[misc]
            assert [each for each in values if not _refused(live, name, each)] == []
        for name, accepted in ACCEPTED.items():
            assert [each for each in accepted if _refused(live, name, each)] == []
        for each in stored:
            # one that was there before can still be changed elsewhere, and be deleted
            resource = each["metadata"]["name"]
            live.merge("Druid", resource, {"metadata": {"labels": {"a": "b"}, "finalizers": ["example.com/f"]}})
            live.delete("Druid", resource)
            live.merge("Druid", resource, {"metadata": {"finalizers": None}})
            assert live.find("Druid", resource) is None


def _with_annotation(name: str, value: str | None) -> Manifest:
    resource = small_cluster.resource(f"c-{secrets.token_hex(4)}")
    if value is not None:
        resource["metadata"]["annotations"] = {f"{PREFIX}/{name}": value}
    return resource


def _refused(live: NamespaceClient, name: str, value: str | None) -> ApiError | None:
    try:
        live.create(_with_annotation(name, value))
    except ApiError as error:
        return error
    return None


def test_a_run_compiles_nothing(image_layout: Path, tmp_path: Path) -> None:
    """Not a file of Python's, Ansible's or our own that the import system reads."""
    # that of the image prints no names of tasks
    shown = {"ANSIBLE_STDOUT_CALLBACK": "default"}
    where = image.container(image_layout, tmp_path, {"PYTHONVERBOSE": "1", "K8S_AUTH_KUBECONFIG": "/none", **shown}, {})
    done = subprocess.run(where.command(PLAYBOOK), capture_output=True, text=True, check=False)

    assert "Schedule the next reconcile" in done.stdout, done.stdout
    loaded = set(re.findall(r"^# code object from '?([^'\n]+)'?$", done.stderr, re.MULTILINE))
    assert {each for each in loaded if each.endswith(".py")} == set()
    for part in ("/ansible/plugins/action/", "/kubernetes/client/", "/plugins/action/__pycache__/cluster."):
        assert {each for each in loaded if part in each}, part


def test_log_line_of_a_reconcile_is_in_the_log_of_the_container(image_layout: Path, tmp_path: Path) -> None:
    """Whatever becomes of what the run itself prints."""
    where = image.container(image_layout, tmp_path, {"K8S_AUTH_KUBECONFIG": "/none"}, {})
    # in parentheses, without which some shells redirect their own output for the time being
    command = f"({shlex.join(PLAYBOOK)} > /tmp/output 2>&1); true"
    read, write = os.pipe()
    with open(read) as log, open(write, "w") as output:
        # container runtimes give it to the user, since what is open cannot be opened again by others
        _give_to_user(output.fileno())
        started = replace(where, has_own_processes=True).command(["sh", "-c", command])
        subprocess.run(started, stdout=output, check=True)
        output.close()
        (line,) = log.readlines()
    assert (json.loads(line)["name"], json.loads(line)["level"]) == ("c", "error")


def _account(live: NamespaceClient) -> str:
    """The operator's user name."""
    accounts = live.plane.request("GET", f"/api/v1/namespaces/{live.namespace}/serviceaccounts")["items"]
    [name] = [each["metadata"]["name"] for each in accounts if each["metadata"]["name"] != "default"]
    return f"system:serviceaccount:{live.namespace}:{name}"


def _asked_for(run: Path) -> str | None:
    """The period after which a run wants to be run again."""
    events = [json.loads(file.read_text())["event_data"] for file in (run / "job_events").glob("*-*.json")]
    reported = [event for event in events if event.get("task_action", "").endswith("requeue_after") and "res" in event]
    return reported[-1]["res"].get("period") if reported else None


def _give_to_user(*files: Path | int) -> None:
    if os.geteuid() == 0:
        for each in files:
            os.chown(each, int(image.DOCKERFILE.final.all("USER")[-1]), 0)
