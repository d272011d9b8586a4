# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of docs/migration-from-the-go-operator.md, exactly as documented, have the documented effect."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support import go_operator
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.go_operator import GoOperator, identities
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from testbed.clients import kubectl

ROOT = Path(__file__).parents[3]
DOCUMENT = ROOT / "docs/migration-from-the-go-operator.md"
NAME = "hand"
OPERATOR = {"app.kubernetes.io/part-of": "druid-operator", "control-plane": "controller-manager"}


def commands(step: int) -> str:
    """Return the commands of a step as a script, one per line that begins with a dollar."""
    text = DOCUMENT.read_text(encoding="utf-8")
    section = text.split(f"\n## {step}. ")[1].split("\n## ")[0]
    blocks = re.findall(r"^```console\n(.*?)^```$", section, re.M | re.S)
    assert all(line.startswith(("$ ", "    ")) for block in blocks for line in block.splitlines())
    return re.sub(r"^\$ ", "", "".join(blocks), flags=re.M)


@dataclass(frozen=True)
class Reader:
    """A user who types the commands of the document, with the names of the recordings instead of the examples."""

    ansible: Ansible
    operator_namespace: str

    def follow(self, step: int, *lines: int) -> str:
        """Run the commands of a step, or those of them with these numbers; return what they print."""
        script = commands(step)
        if lines:
            every = script.replace("\\\n", "").splitlines()
            script = "\n".join(every[number] for number in lines)
        script = script.replace("druid-operator-system", self.operator_namespace)
        script = re.sub(r"\bwiki\b", NAME, script)
        script = re.sub(r"(--namespace |_namespace=)druid\b", rf"\g<1>{go_operator.NAMESPACE}", script)
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.ansible.directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        assert finished.returncode == 0, f"{script}\n{finished.stdout}"
        return finished.stdout

    def _environment(self) -> dict[str, str]:
        programs = self.ansible.directory / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "kubectl").unlink(missing_ok=True)
        (programs / "kubectl").symlink_to(kubectl())
        surroundings = self.ansible.environment()
        return {
            **surroundings,
            "PATH": f"{programs}:{surroundings['PATH']}",
            "KUBECONFIG": str(self.ansible.plane.kubeconfig("person")),
        }

    def replicas(self) -> list[int]:
        """Return the desired replicas of the Go operator's Deployment and of a foreign one beside it."""
        path = f"/apis/apps/v1/namespaces/{self.operator_namespace}/deployments"
        return [each["spec"]["replicas"] for each in self.ansible.plane.request("GET", path)["items"]]


@pytest.fixture
def reader(golden: NamespaceClient, namespace: str, tmp_path: Path) -> Reader:
    """A reader of the document, and the Deployments of the Go operator and of another program."""
    for name, labels in (("cluster-druid-operator", OPERATOR), ("other", {"app": "other"})):
        pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "manager", "image": "manager"}]}}
        body = {
            "metadata": {"name": name, "labels": labels},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod},
        }
        golden.plane.request("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", body)
    return Reader(Ansible(CORES["2.19"], golden.plane, golden.namespace, tmp_path), namespace)


@campaign("adoption and rollback of recorded clusters, and the documented commands, verbatim")
def test_there_and_back_and_there_again(golden: NamespaceClient, reader: Reader) -> None:
    operator = GoOperator(golden, NAME).run()
    before = operator.settled()
    reader.follow(1)
    reader.follow(2)
    planned = reader.follow(3)
    assert "changed=1" in planned
    assert "restart 1" not in planned
    assert "blocked: " not in planned
    assert identities(golden) == before

    assert "cluster-druid-operator" in reader.follow(4)
    assert reader.replicas() == [0, 1]
    reader.follow(5)
    checked = reader.follow(6)
    assert "changed=0" in checked
    assert identities(golden) == before

    reader.follow(8, 0)
    assert reader.replicas() == [1, 1]
    operator.write()
    assert pods(operator.settled()) == pods(before)

    reader.follow(4)
    again = reader.ansible.cluster(NAME, status=2)
    assert "blocked: The Go operator also writes this cluster" in again.output
    assert condition(golden.get("Druid", NAME), "Ready")["reason"] == "ConflictingOperator"
    reader.follow(8, 1, 2, 3)
    assert "druid.apache.org/take-over" not in (golden.get("Druid", NAME)["metadata"].get("annotations") or {})
    assert not reader.ansible.cluster(NAME).changed
    assert pods(identities(golden)) == pods(before)


def pods(found: dict[tuple[str, str], object]) -> dict[tuple[str, str], object]:
    """Return the identities of the pods among those of all objects."""
    return {key: identity for key, identity in found.items() if key[0] == "Pod"}


def test_every_other_step_is_described_in_prose() -> None:
    assert commands(7) == ""
