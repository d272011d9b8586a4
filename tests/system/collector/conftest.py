# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collectors on the real control plane, with the real Helm."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.collector import in_process, shell
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible, Run
from testbed.clients import helm

COLLECTOR = "druidops.druid.collector"
ROOT = Path(__file__).resolve().parents[3]
CHART = ROOT / "charts" / "druid-collector"
# by default, a pod has to run for 10 seconds
AT_ONCE = {"minReadySeconds": 0}


def resource(name: str = "telemetry", **spec: Any) -> dict[str, Any]:
    """A Collector; `release` is the name of the collector, and other arguments are fields of its spec.

    Its pods are available as soon as they are ready, unless it has a chart of its own.
    """
    release = spec.pop("release", "telemetry")
    collector = {"name": release, **spec.pop("collector", {})}
    values = spec.pop("values", {}) | ({} if "chart" in spec else AT_ONCE)
    return {"kind": "Collector", "metadata": {"name": name}, "spec": {"collector": collector, "values": values, **spec}}


@dataclass(frozen=True)
class Collectors:
    """Runs the action or the playbook, in a shell with settings of Helm that must not take effect; and helm itself."""

    ansible: Ansible
    live: NamespaceClient

    def run(
        self,
        name: str = "telemetry",
        *,
        status: int = 0,
        check_mode: bool = False,
        environment: dict[str, str] | None = None,
        **options: Any,
    ) -> Run:
        """Do what the action collector does, without ansible-playbook."""
        specified = {
            **self._specified(name, status, options),
            "kubeconfig": str(self.live.plane.kubeconfig("druidops")),
        }
        directory = self.ansible.directory / "shell"
        shell_variables = self.ansible.environment(**{**shell.variables(directory), **(environment or {})})
        done = in_process.run(self.ansible.core, shell_variables, specified, check_mode=check_mode)
        assert done.status == status, done.output
        assert shell.left(directory, self.ansible.directory) == set()
        return done

    def playbook(self, name: str = "telemetry", *words: str, status: int = 0, **options: Any) -> Run:
        """Run the playbook druidops.druid.collector."""
        prefixed = {f"druid_collector_{key}": value for key, value in self._specified(name, status, options).items()}
        file = self.ansible.write("variables.json", prefixed)
        directory = self.ansible.directory / "shell"
        done = self.ansible.run(COLLECTOR, "--extra-vars", file, *words, status=status, **shell.variables(directory))
        assert shell.left(directory, self.ansible.directory) == set()
        return done

    def _specified(self, name: str, status: int, options: dict[str, Any]) -> dict[str, Any]:
        return {
            "name": name,
            "namespace": self.live.namespace,
            "helm_binary": str(helm()),
            "helm_timeout": 60,
            "wait": status == 0,
            "wait_sleep": 1,
            **options,
        }

    def helm(self, *words: str) -> str:
        """Run helm in the namespace, with the permissions of an administrator."""
        kubeconfig = self.live.plane.kubeconfig("person")
        command = [str(helm()), "--kubeconfig", str(kubeconfig), "--namespace", self.live.namespace, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def status(self, name: str = "telemetry") -> dict[str, Any]:
        """The status of the resource."""
        found: dict[str, Any] = self.live.get("Collector", name)["status"]
        return found

    def reason(self, name: str = "telemetry") -> str:
        """The reason of the condition Ready."""
        return next(each["reason"] for each in self.status(name)["conditions"] if each["type"] == "Ready")

    def revision(self, name: str = "telemetry") -> int:
        """The revision in the status."""
        return int(self.status(name)["release"]["revision"])

    def pod_template(self, name: str = "telemetry") -> dict[str, Any]:
        """The pod template of the Deployment."""
        found: dict[str, Any] = self.live.get("Deployment", name)["spec"]["template"]
        return found


@pytest.fixture
def collectors(ansible: Ansible, live: NamespaceClient) -> Collectors:
    """The newest ansible-core."""
    return Collectors(ansible, live)


@pytest.fixture
def each_collectors(each_ansible: Ansible, live: NamespaceClient) -> Collectors:
    """The oldest and the newest ansible-core, each with its kubernetes.core."""
    return Collectors(each_ansible, live)


@pytest.fixture
def oldest_collectors(live: NamespaceClient, tmp_path: Path) -> Collectors:
    """The oldest ansible-core, with the oldest kubernetes.core."""
    directory = tmp_path / "oldest"
    directory.mkdir()
    return Collectors(Ansible(CORES["2.18"], live.plane, live.namespace, directory), live)
