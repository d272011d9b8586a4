# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make demo` on a cluster that is named to it, on a machine without kubectl."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import clear
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, without_status
from testbed.api import ApiError
from testbed.control_plane import ControlPlane

# Most tests examine the same run.
pytestmark = pytest.mark.xdist_group("demo")

ROOT = Path(__file__).parents[3]
SOURCES = Path(os.environ["DRUIDOPS_INSTALLED"], "ansible_collections/druidops/druid")
HANDED_DOWN = ("DRUIDOPS_CORE_2_19", "DRUIDOPS_KUBERNETES_CORE_NEWEST")
# A context that is exported with the kubeconfig but is not an argument.
ELSEWHERE = {"K8S_AUTH_HOST": "https://elsewhere.invalid", "K8S_AUTH_API_KEY": "token", "K8S_AUTH_VERIFY_SSL": "false"}
PODS = ("brokers-0", "coordinators-0", "historicals-0", "routers*")
# What the demo makes besides the cluster, in the namespace.
BESIDES = ("namespaces", "roles", "rolebindings")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@dataclass(frozen=True)
class Person:
    """A user with a home, in which the demo has its directory, and a PATH without kubectl."""

    home: Path

    @property
    def directory(self) -> Path:
        """Where the demo has its files."""
        return self.home / "demo"

    def demo(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the demo."""
        return self.run(sys.executable, "-m", "tools.demo", self.directory, SOURCES, **variables)

    def run(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout."""
        environment = {
            "PATH": str(self.home / "programs"),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_HOME": str(self.home / "ansible"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": "tests",
            **{name: os.environ[name] for name in HANDED_DOWN},
            **variables,
        }
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


@dataclass(frozen=True)
class Shown:
    """What a first run has shown, of which cluster."""

    live: NamespaceClient
    person: Person
    variables: dict[str, str]
    output: str


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """A user with all programs but kubectl."""
    home = tmp_path_factory.mktemp("home")
    programs = home / "programs"
    programs.mkdir()
    for program in Path("/usr/bin").iterdir():
        if program.name != "kubectl":
            (programs / program.name).symlink_to(program)
    return Person(home)


@pytest.fixture(scope="module")
def shown(control_plane: ControlPlane, person: Person) -> Iterator[Shown]:
    """The first run of the demo: its context comes from the environment."""
    live = NamespaceClient(control_plane, "druid-demo")
    exported = f"{person.home / 'no such file'}{os.pathsep}{control_plane.kubeconfig('druidops')}"
    variables = {"KUBECONFIG": exported, "DEMO_CONTEXT": "testbed", **ELSEWHERE}
    try:
        finished = person.demo(**variables)
        assert (finished.returncode, finished.stderr) == (0, ""), finished.stdout + finished.stderr
        yield Shown(live, person, variables, finished.stdout)
    finally:
        clear(live)
        with suppress(ApiError):
            control_plane.request("DELETE", "/api/v1/namespaces/druid-demo")
        eventually(lambda: not exists(control_plane))


def kubeconfig(server: str = "https://dev.invalid", context: str = "dev", cluster: str = "dev") -> str:
    """Return a kubeconfig with the current context dev."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "clusters": [{"name": cluster, "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {"token": "token"}}],
        "contexts": [{"name": context, "context": {"cluster": "dev", "user": "me"}}],
    }
    return json.dumps(document)


def exists(plane: ControlPlane) -> bool:
    return any(each["metadata"]["name"] == "druid-demo" for each in plane.request("GET", "/api/v1/namespaces")["items"])


def test_names_the_cluster_before_it_writes(shown: Shown) -> None:
    used = f"==> Using your cluster: context testbed of {shown.variables['KUBECONFIG']}, at {shown.live.plane.url}"
    assert used in shown.output.partition("$ ansible-playbook")[0].splitlines()


def test_shows_plan_conditions_and_columns(shown: Shown) -> None:
    lines = shown.output.splitlines()
    assert "  create StatefulSet druid-small-brokers" in lines
    assert "  Ready=True AllPodsReady: All pods are ready and up to date (4/4)." in lines
    table = shown.output.partition("columns.py druid-demo\n")[2].partition("\n==>")[0]
    rows = [re.sub(r"(\d+[dhms])+$|(?<=routers)\S+", "*", line).split() for line in table.splitlines()]
    assert rows == [
        ["NAME", "READY", "REASON", "NODES", "ROLLOUT", "VERSION", "AGE"],
        ["druid.druid.apache.org/small", "True", "4/4", "33.0.0", "*"],
        [],
        ["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
        *(["pod/druid-small-" + each, "1/1", "Running", "0", "*"] for each in PODS),
    ]


def test_simulates_no_kubelet_in_a_named_cluster(shown: Shown) -> None:
    assert "simulated" not in shown.output
    assert "make" not in shown.output


def test_prints_no_output_of_ansible_that_a_person_does_not_need(shown: Shown) -> None:
    assert [each for each in ("TASK [", "PLAY", "RETRYING", "msg:", "{") if each in shown.output] == []


def test_suggests_no_commands_that_require_kubectl(shown: Shown) -> None:
    assert "kubectl" not in shown.output


def test_environment_selects_the_same_cluster(shown: Shown) -> None:
    elsewhere = {"KUBECONFIG": "/elsewhere", "K8S_AUTH_CONTEXT": "elsewhere", **ELSEWHERE}
    script = f". {shown.person.directory}/environment; {{}}"
    found = "ansible localhost -m druidops.druid.cluster_info -a namespace=druid-demo"
    for command in ("python tools/demo/columns.py druid-demo", found):
        assert "small" in shown.person.run("bash", "-euc", script.format(command), **elsewhere).stdout


def test_a_second_run_changes_nothing(shown: Shown) -> None:
    before, since = versions(shown.live.plane), shown.live.mark()
    again = shown.person.demo(**shown.variables)
    assert (again.returncode, again.stderr) == (0, "")
    log = (shown.person.directory / "demo.log").read_text()
    assert re.findall(r"\bchanged=\d+", log) == ["changed=0"] * 3
    assert "  Nothing to change." in again.stdout.splitlines()
    # kubernetes.core patches with or without a difference; the API server returns the resulting resource
    writes = [each for each in shown.live.writes(since) if each.resource not in BESIDES]
    assert without_status(writes) == ["update druids small (dry run)"]
    assert all(each.dry_run for each in writes)
    assert versions(shown.live.plane) == before


def versions(plane: ControlPlane) -> list[str]:
    """Return the versions of what the demo makes besides the cluster."""
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/druid-demo"
    lists = (CRDS, f"{rbac}/roles", f"{rbac}/rolebindings")
    items = [each["metadata"] for path in lists for each in plane.request("GET", path)["items"]]
    items.append(plane.request("GET", "/api/v1/namespaces/druid-demo")["metadata"])
    # other tests may add and remove CRDs
    ours = (each for each in items if "namespace" in each or each["name"].endswith(("druid-demo", ".druid.apache.org")))
    return [f"{each['name']} {each['resourceVersion']}" for each in ours]


@pytest.mark.parametrize(
    ("content", "context", "by"),
    [
        (None, "dev", "context dev"),
        (kubeconfig(context="other"), "dev", "context dev"),
        (kubeconfig(context="other"), "", "the current context"),
        (kubeconfig(cluster="other"), "dev", "context dev"),
        ("a:\n - b\n c", "dev", "context dev"),
        ("[]", "dev", "context dev"),
    ],
)
def test_unreachable_cluster_is_reported_in_one_line(
    person: Person, tmp_path: Path, content: str | None, context: str, by: str
) -> None:
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content)
    refused = person.demo(DEMO_KUBECONFIG=str(file), DEMO_CONTEXT=context)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(f"Cannot use {by} of {file}: .+\n", refused.stderr)


@pytest.mark.parametrize(
    ("named", "exported", "used"),
    [
        ("", "", "{home}/.kube/config"),
        ("", "{home}/exported", "{home}/exported"),
        ("{home}/named", "{home}/exported", "{home}/named"),
        ("~/named", "{home}/exported", "{home}/named"),
        ("", "{home}/missing:{home}/exported", "{home}/missing:{home}/exported"),
    ],
)
def test_context_is_read_like_kubectl_does(
    person: Person, tmp_path: Path, named: str, exported: str, used: str
) -> None:
    for each in (".kube/config", "exported", "named"):
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).write_text(kubeconfig(server=f"https://{Path(each).name}.invalid"))
    variables = {"DEMO_KUBECONFIG": named, "KUBECONFIG": exported, "DEMO_CONTEXT": "dev"}
    found = person.run(
        Path(os.environ["DRUIDOPS_CORE_2_19"], "bin/python"),
        "tools/demo/named_cluster.py",
        **{name: value.format(home=tmp_path) for name, value in variables.items()},
        HOME=str(tmp_path),
    )
    server = f"https://{Path(used).name}.invalid"
    assert found.stdout.splitlines() == [used.format(home=tmp_path), "dev", server], found.stderr
