# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The targets of make use no cluster, no server and no setting that is only in the environment."""

from __future__ import annotations

import json
import os
import socketserver
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign

ROOT = Path(__file__).parents[3]
CACHE = Path(os.environ["DRUIDOPS_CACHE"])
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
# What make and bash themselves set.
OWN = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "SHLVL", "PWD", "_")


@dataclass
class Elsewhere:
    """A server that does not belong to the tests, files with settings, and what has been noticed of their use."""

    directory: Path
    address: str = ""
    connections: list[bytes] = field(default_factory=list)

    @property
    def used(self) -> list[object]:
        """The first bytes of each connection, and the settings that had an effect."""
        return [*self.connections, *sorted(each.name for each in self.directory.glob("used-*"))]

    def file(self, name: str, content: str) -> str:
        """Write a file."""
        path = self.directory / name
        path.write_text(content)
        return str(path)

    def variables(self) -> dict[str, str]:
        """Return an environment that names the server and the files wherever programs look for them."""
        here, http = self.directory, f"http://{self.address}"
        host, _colon, port = self.address.partition(":")
        settings = f"[defaults]\nlog_path = {here}/used-ansible\n"
        return {
            "KUBECONFIG": self.file("kubeconfig", self.kubeconfig()),
            "KUBERNETES_MASTER": http,
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": port,
            "K8S_AUTH_HOST": http,
            "K8S_AUTH_KUBECONFIG": str(here / "kubeconfig"),
            "K8S_AUTH_CONTEXT": "elsewhere",
            "K8S_AUTH_API_KEY": "token",
            "K8S_AUTH_PROXY": http,
            "DRUID_URL": http,
            "ANSIBLE_CONFIG": self.file("ansible.cfg", settings),
            "ANSIBLE_LOG_PATH": str(here / "used-ansible-log"),
            "ANSIBLE_GALAXY_SERVER": http,
            "ANSIBLE_INVENTORY": self.file("inventory", "localhost ansible_connection=ssh\n"),
            "HELM_KUBEAPISERVER": http,
            "HELM_NAMESPACE": "elsewhere",
            "HELM_DRIVER": "memory",
            "DOCKER_HOST": f"tcp://{self.address}",
            "CONTAINERD_ADDRESS": str(here / "containerd.sock"),
            "ETCD_LISTEN_CLIENT_URLS": http,
            "ETCDCTL_ENDPOINTS": http,
            "OTEL_EXPORTER_OTLP_ENDPOINT": http,
            "MOLECULE_EPHEMERAL_DIRECTORY": str(here / "used-molecule"),
            "PYTEST_ADDOPTS": f"--basetemp={here}/used-pytest",
            "PYTHONPATH": str(here),
            "BASH_ENV": str(here / "bash"),
            "JAVA_TOOL_OPTIONS": f"-Xlog:gc:{here}/used-java",
            **dict.fromkeys(PROXIES, http),
            # of the Makefile
            "KUBERNETES": "oldest",
            "DRUID": "elsewhere",
            "TESTS": "elsewhere",
            "ARGUMENTS": "--elsewhere",
            "IMAGE": "elsewhere",
            "NODES": "elsewhere",
        }

    def kubeconfig(self) -> str:
        """Return a kubeconfig of the server, whose credentials are those that a program prints."""
        program = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "touch",
            "args": [f"{self.directory}/used-kubeconfig"],
            "interactiveMode": "Never",
        }
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "elsewhere",
            "clusters": [{"name": "elsewhere", "cluster": {"server": f"http://{self.address}"}}],
            "users": [{"name": "elsewhere", "user": {"exec": program}}],
            "contexts": [{"name": "elsewhere", "context": {"cluster": "elsewhere", "user": "elsewhere"}}],
        }
        return json.dumps(document)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Elsewhere]:
    """A server that closes each connection."""
    found = Elsewhere(tmp_path)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            found.connections.append(self.request.recv(100))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        found.address = f"127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with what is installed and built already, but with nothing of this checkout."""
    found = tmp_path / "cache"
    found.mkdir()
    for name in ("venv", "collections", "testbed"):
        (found / name).symlink_to(CACHE / name)
    return found


def make(*arguments: str, **variables: str) -> str:
    """Return what make prints, which is run as by a person with these variables."""
    login = {name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME", "TMPDIR") if name in os.environ}
    command = ["make", *arguments]
    finished = subprocess.run(
        command, cwd=ROOT, env={**login, **variables}, check=False, capture_output=True, encoding="utf-8"
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def seen_by_a_recipe(*arguments: str, **variables: str) -> Mapping[str, str]:
    """Return the environment of a recipe."""
    lines = make("--eval=seen: ; @env --null", "seen", *arguments, **variables).rstrip("\0").split("\0")
    found = dict(line.split("=", 1) for line in lines)
    return {name: value for name, value in found.items() if name not in OWN}


def test_only_a_proxy_is_inherited(elsewhere: Elsewhere) -> None:
    exported = elsewhere.variables()
    proxies = {name: exported[name] for name in PROXIES}
    assert seen_by_a_recipe(**exported) == {**seen_by_a_recipe(), **proxies}


def test_the_makefile_uses_no_exported_variable(elsewhere: Elsewhere) -> None:
    dry = ("--dry-run", "unit", "image", "testbed", "molecule")
    # a variable of the environment would be in a command
    assert make(*dry, **elsewhere.variables()) == make(*dry)
    assert "elsewhere" in make(*dry, "IMAGE=elsewhere")


def test_an_argument_is_used(elsewhere: Elsewhere) -> None:
    name, value = "DOCKER_HOST", "tcp://named.invalid"
    assert seen_by_a_recipe(f"{name}={value}", **elsewhere.variables())[name] == value


@pytest.mark.parametrize("exported", [{}, {"NO_PROXY": "example.com"}, {"no_proxy": "example.com"}])
def test_no_proxy_is_used_for_this_machine(exported: Mapping[str, str]) -> None:
    seen = seen_by_a_recipe(**exported)
    assert seen["no_proxy"] == seen["NO_PROXY"]
    assert {"localhost", "127.0.0.1", *exported.values()} <= {*seen["NO_PROXY"].split(",")}


LONG = campaign("two short targets, and the environment of a recipe")


@pytest.mark.parametrize(
    "targets",
    [
        "install unit TESTS=tests/unit/docs/test_contents.py WORKERS=0",
        pytest.param("testbed", marks=LONG),
        pytest.param("druid", marks=LONG),
        pytest.param("molecule", marks=LONG),
        pytest.param("demo NODES=simulated", marks=LONG),
    ],
)
def test_nothing_elsewhere_is_used(targets: str, elsewhere: Elsewhere, cache: Path) -> None:
    try:
        make(*targets.split(), **elsewhere.variables(), DRUIDOPS_CACHE=str(cache))
    finally:
        make("stop", DRUIDOPS_CACHE=str(cache))
    assert elsewhere.used == []
