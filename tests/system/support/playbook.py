# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-playbook as a user runs it: from the installed tarball, never from the checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testbed.control_plane import ControlPlane

CLUSTER = "druidops.druid.cluster"


@dataclass(frozen=True)
class Core:
    """A virtual environment with an ansible-core, and its kubernetes.core."""

    programs: Path
    kubernetes_core: str


CORES = {
    "2.18": Core(Path(os.environ["DRUIDOPS_CORE_2_18"], "bin"), os.environ["DRUIDOPS_KUBERNETES_CORE_OLDEST"]),
    "2.19": Core(Path(os.environ["DRUIDOPS_CORE_2_19"], "bin"), os.environ["DRUIDOPS_KUBERNETES_CORE_NEWEST"]),
}


@dataclass(frozen=True)
class Run:
    """What a run left: its exit status, and what it printed."""

    status: int
    output: str

    @property
    def changed(self) -> bool:
        """True when a task reported a change."""
        return not re.search(r"\bchanged=0\b", self.output)

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results of the tasks, which are printed with -v."""
        return [
            json.loads(text) for text in re.findall(r"^\w+: \[localhost\](?:: FAILED!)? => (\{.*)$", self.output, re.M)
        ]


@dataclass(frozen=True)
class Ansible:
    """One ansible-core. Tasks connect to the control plane, if there is one, as druidops unless specified otherwise."""

    core: Core
    plane: ControlPlane | None
    namespace: str
    directory: Path

    def cluster(self, name: str | None = None, *options: str, status: int = 0, **variables: Any) -> Run:
        """Run the playbook druidops.druid.cluster; the variables go without their prefix."""
        specified = {"name": name, "namespace": self.namespace, **variables}
        prefixed = {f"druid_cluster_{key}": value for key, value in specified.items() if value is not None}
        return self.run(CLUSTER, "--extra-vars", self.write("variables.json", prefixed), *options, status=status)

    def tasks(
        self,
        *tasks: dict[str, Any],
        options: tuple[str, ...] = (),
        status: int = 0,
        environment: dict[str, str] | None = None,
        **play: Any,
    ) -> Run:
        """Run a play of these tasks."""
        document = [{"hosts": "localhost", "gather_facts": False, **play, "tasks": list(tasks)}]
        return self.run(self.write("play.json", document)[1:], *options, status=status, **(environment or {}))

    def task(self, *options: str, status: int = 0, **arguments: Any) -> Run:
        """Run a play with one task, druidops.druid.cluster."""
        return self.tasks({CLUSTER: {"namespace": self.namespace, **arguments}}, options=options, status=status)

    def write(self, name: str, document: Any) -> str:
        """Write a JSON file, or text verbatim, beside the playbook; return its path in the form of an option."""
        path = self.directory / name
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return f"@{path}"

    def run(self, playbook: str, *options: str, status: int = 0, **environment: str) -> Run:
        """Run a playbook, which has to end with that exit status, and never with a traceback."""
        command: list[str | Path] = [self.core.programs / "ansible-playbook", playbook, *options]
        finished = subprocess.run(
            command,
            cwd=self.directory,
            env=self.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert not re.search("traceback|unexpected failure|unhandled", finished.stdout, re.I), finished.stdout
        assert finished.returncode == status, finished.stdout
        return Run(finished.returncode, finished.stdout)

    def environment(self, **more: str) -> dict[str, str]:
        """Return all that the program sees of its surroundings."""
        return {
            "PATH": f"{self.core.programs}:/usr/bin:/bin",
            "HOME": str(self.directory),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_COLLECTIONS_PATH": f"{os.environ['DRUIDOPS_INSTALLED']}:{self.core.kubernetes_core}",
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_NOCOWS": "true",
            **({"K8S_AUTH_KUBECONFIG": str(self.plane.kubeconfig("druidops"))} if self.plane else {}),
            **more,
        }


def messages(ansible: Ansible, *arguments: dict[str, Any], **play: Any) -> list[str]:
    """Run a task druidops.druid.cluster for each, all of which fail, and return their messages."""
    tasks = [{CLUSTER: {"namespace": ansible.namespace, **each}, "ignore_errors": True} for each in arguments]
    found = [each["msg"] for each in ansible.tasks(*tasks, options=("-v",), **play).results if each.get("msg")]
    assert len(found) == len(arguments), found
    return found
