# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Helm is killed, itself or with its run, or fails when it uninstalls: what it has left is completed or removed."""

from __future__ import annotations

import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.tests.system.collector.conftest import Collectors, resource
from ansible_collections.druidops.druid.tests.system.collector.pending import aged, pending
from ansible_collections.druidops.druid.tests.system.collector.test_collector_limits import with_template
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign, only_first
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.clients import helm

# No node has this label: Helm waits for the hook until it is killed.
HANGING = """\
kind: Job
apiVersion: batch/v1
metadata:
  name: hanging
  annotations: {helm.sh/hook: "post-install,post-upgrade"}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {of: none}
      containers: [{name: hanging, image: none}]
"""
# The API server refuses it.
BROKEN_HOOK = """\
kind: ConfigMap
apiVersion: v1
metadata:
  name: Not_a_name
  annotations: {helm.sh/hook: pre-delete}
"""
LEFT = """\
kind: ConfigMap
apiVersion: v1
metadata:
  name: left
"""
ELSE = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: of-others}\n"


def revisions(live: NamespaceClient) -> list[dict[str, Any]]:
    """Helm's Secrets, the first revision first."""
    found = [each for each in live.list("Secret") if each["metadata"]["labels"].get("owner") == "helm"]
    return sorted(found, key=lambda each: int(each["metadata"]["labels"]["version"]))


def state(live: NamespaceClient) -> list[str]:
    return [each["metadata"]["labels"]["status"] for each in revisions(live)]


def run_and_kill(collectors: Collectors, directory: Path, expected: list[str], *, with_run: bool = False) -> str:
    """Kill Helm, or the run, when the revisions have these states; return what the playbook printed."""
    program, process = directory / "helm", directory / "process"
    program.write_text(f'#!/bin/sh\necho $$ > {process}\nexec {helm()} "$@"\n')
    program.chmod(0o755)
    chart = directory / "chart" if (directory / "chart").exists() else with_template(directory, HANGING)
    status = -signal.SIGKILL if with_run else 2
    with ThreadPoolExecutor() as pool:
        how = collectors.playbook if with_run else collectors.run
        run = pool.submit(how, status=status, helm_binary=str(program), chart=str(chart))
        eventually(lambda: state(collectors.live) == expected)
        assert collectors.reason() == "Deploying"
        found = int(process.read_text())
        os.kill(playbook_of(found) if with_run else found, signal.SIGKILL)
        output = run.result().output
        eventually(lambda: not Path("/proc", str(found)).exists())
        return output


def playbook_of(process: int) -> int:
    """The ansible-playbook that Helm belongs to, from the arguments of the program that has started Helm."""
    [parent] = re.findall(r"^PPid:\s+(\d+)", Path("/proc", str(process), "status").read_text(), re.MULTILINE)
    words = Path("/proc", parent, "cmdline").read_bytes().split(b"\0")
    return int(words[words.index(b"-S") + 3])


def test_run_is_killed(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    """Helm does not go on, so that there is no other one beside that of the next run."""
    live.create(resource())
    run_and_kill(collectors, tmp_path, ["pending-install"], with_run=True)
    assert "Another run of Helm" in collectors.run(status=2).output
    aged(live, revisions(live)[0])
    collectors.run()
    assert (collectors.reason(), state(live)) == ("ReleaseDeployed", ["deployed"])


@campaign("a run that is killed with Helm; the objects of an interrupted upgrade")
def test_helm_is_killed(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    live.create(resource())
    assert "Exited -9" in run_and_kill(collectors, tmp_path, ["pending-install"])
    assert collectors.status()["release"]["installing"] is True
    assert "Another run of Helm" in collectors.run(status=2).output
    aged(live, revisions(live)[0])
    # it begins again, without what Helm had created
    assert "remove the interrupted revision 1" in collectors.run().output
    assert (collectors.reason(), state(live)) == ("ReleaseDeployed", ["deployed"])

    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "2"}}})
    run_and_kill(collectors, tmp_path, ["deployed", "pending-upgrade"])
    assert "failedAttempt" not in collectors.status()
    aged(live, revisions(live)[1])
    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "1"}}})
    assert "remove the interrupted revision 2" in collectors.run().output
    assert (collectors.reason(), state(live)) == ("ReleaseDeployed", ["superseded", "deployed"])
    assert collectors.pod_template()["spec"]["containers"][0]["image"].endswith(":1")
    collectors.run(state="absent", wait=True)
    assert live.names("Secret") == set()


def test_objects_of_the_interrupted_revision(collectors: Collectors, live: NamespaceClient) -> None:
    """A user has asked for something else since: Helm itself would never delete these objects."""
    live.create(resource())
    collectors.run()
    owned = {
        "annotations": {"meta.helm.sh/release-name": "telemetry", "meta.helm.sh/release-namespace": live.namespace}
    }
    live.create({"kind": "ConfigMap", "metadata": {"name": "left", **owned}})
    live.create({"kind": "ConfigMap", "metadata": {"name": "of-others"}})
    pending(live, revisions(live)[0], 2, "pending-upgrade", "2026-01-01T00:00:00Z", objects=f"{LEFT}---\n{ELSE}")
    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "1"}}})
    planned = collectors.run(check_mode=True).output
    assert "delete ConfigMap left" in planned
    assert live.names("ConfigMap") == {"left", "of-others"}
    collectors.run()
    assert (collectors.reason(), live.names("ConfigMap")) == ("ReleaseDeployed", {"of-others"})


@pytest.mark.parametrize("number", only_first(1, [2, 1], "the second revision"))
def test_revision_that_failed_with_the_same_values(
    oldest_collectors: Collectors, live: NamespaceClient, number: int
) -> None:
    """The oldest kubernetes.core takes it for deployed."""
    collectors = oldest_collectors
    live.create(resource(takeOver=True))
    collectors.run()
    values = {"image": {"tag": "1"}}
    [secret] = revisions(live)
    if number == 1:
        live.delete("Secret", secret["metadata"]["name"])
    pending(live, secret, number, "failed", values=values)
    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "1"}}})
    collectors.run()
    assert collectors.reason() == "ReleaseDeployed"
    assert collectors.pod_template()["spec"]["containers"][0]["image"].endswith(":1")
    assert not collectors.run().changed


def test_helm_fails_to_uninstall(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    chart = str(with_template(tmp_path, BROKEN_HOOK))
    live.create(resource())
    collectors.run(chart=chart)
    live.delete("Collector", "telemetry")
    assert "Not_a_name" in collectors.run(status=2, chart=chart).output
    assert collectors.reason() == "HelmFailed"
    assert live.get("Collector", "telemetry")["metadata"]["finalizers"]
    assert (state(live), live.names("Deployment")) == (["uninstalling"], {"telemetry"})
    # from then on without Helm, and without its hooks
    collectors.run(chart=chart)
    assert live.find("Collector", "telemetry") is None
    assert live.names("Deployment") | live.names("Secret") | live.names("Service") == set()
