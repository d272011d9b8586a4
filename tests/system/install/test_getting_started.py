# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of docs/getting-started.md, exactly as documented, have the documented effect."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.go_operator import clear
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible
from testbed.api import ApiError
from testbed.clients import kubectl
from testbed.control_plane import ControlPlane

ROOT = Path(__file__).parents[3]
NAMESPACE = "druid"
INSTALLED = Path(os.environ["DRUIDOPS_INSTALLED"], "ansible_collections")


def commands(title: str) -> list[str]:
    """Return the commands in a section of the page."""
    text = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\$ (.*)$", section, re.MULTILINE)


@pytest.fixture
def live(control_plane: ControlPlane) -> Iterator[NamespaceClient]:
    """The namespace of the page, which does not exist before."""
    live = NamespaceClient(control_plane, NAMESPACE)
    try:
        yield live
    finally:
        clear(live)
        control_plane.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}")
        eventually(lambda: not exists(control_plane))


def exists(plane: ControlPlane) -> bool:
    """Return whether the namespace exists."""
    try:
        plane.request("GET", f"/api/v1/namespaces/{NAMESPACE}")
    except ApiError:
        return False
    return True


@campaign("the demo, which runs the same playbooks")
def test_the_first_cluster(live: NamespaceClient, tmp_path: Path) -> None:
    ansible = Ansible(CORES["2.19"], live.plane, NAMESPACE, tmp_path)
    collections = tmp_path / ".ansible/collections"
    collections.mkdir(parents=True)
    (collections / "ansible_collections").symlink_to(INSTALLED)
    kubeconfig = str(live.plane.kubeconfig("person"))
    environment = {**ansible.environment(), "KUBECONFIG": kubeconfig, "K8S_AUTH_KUBECONFIG": kubeconfig}
    environment["PATH"] = f"{kubectl().parent}:{environment['PATH']}"

    def run(*lines: str) -> str:
        finished = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        assert finished.returncode == 0, finished.stdout
        return finished.stdout

    install, samples, *setup, preview, apply, get, describe, by_name, delete = commands(
        "A first cluster on your own Kubernetes"
    )
    run(install)
    run(samples, *setup)
    assert "create StatefulSet druid-small-historicals" in run(preview)
    assert not live.find("Druid", "small")
    run(apply)
    assert re.search(r"^small +True .*4/4 ", run(get), re.MULTILINE)
    assert "AllPodsReady" in run(describe)
    live.delete("Service", "druid-small-brokers")
    assert "changed=1" in run(by_name)
    run(delete)
    assert not live.find("Druid", "small")

    [without_resource] = commands("Defined by variables, without CRDs")
    assert "Nothing to change" in run(without_resource)
