# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What people see of a Collector: the release in its status, the columns of kubectl, and events."""

from __future__ import annotations

import subprocess

import yaml
from ansible_collections.druidops.druid.tests.system.collector.conftest import CHART, Collectors, resource
from ansible_collections.druidops.druid.tests.system.collector.test_collector_release import UNSCHEDULABLE
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.clients import kubectl


def columns(live: NamespaceClient) -> dict[str, str]:
    """The columns of the only Collector."""
    kubeconfig = live.plane.kubeconfig("person")
    command = [kubectl(), "--kubeconfig", kubeconfig, "--namespace", live.namespace, "get", "collectors"]
    header, row = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return dict(zip(header.split(), row.split(), strict=True))


def events(live: NamespaceClient) -> dict[str, str]:
    """The last message of each kind and reason."""
    found = [each for each in live.list("Event") if each["involvedObject"]["kind"] == "Collector"]
    return {f"{each['type']} {each['reason']}": each["message"] for each in found}


def message(collectors: Collectors) -> str:
    """The message of the condition Ready."""
    return str(next(each["message"] for each in collectors.status()["conditions"] if each["type"] == "Ready"))


def test_status_columns_and_events(collectors: Collectors, live: NamespaceClient) -> None:
    metadata = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    chart = f"{metadata['name']}-{metadata['version']}"
    live.create(resource())
    collectors.run(wait=True)
    release = collectors.status()["release"]
    assert release.pop("updated").startswith("20")
    assert release == {
        "name": "telemetry",
        "namespace": live.namespace,
        "revision": 1,
        "state": "deployed",
        "chart": chart,
        "appVersion": metadata["appVersion"],
        "description": "Install complete",
    }
    shown = columns(live)
    assert shown.pop("AGE")
    assert shown == {
        "NAME": "telemetry",
        "RELEASE": "telemetry",
        "TENANT": live.namespace,
        "REVISION": "1",
        "CHART": chart,
        "READY": "True",
        "REASON": "ReleaseDeployed",
    }
    assert events(live) == {"Normal ReleaseInstalled": f"Done: install release telemetry of chart {chart}."}

    live.delete("Service", "telemetry")
    collectors.run()
    assert events(live)["Normal ObjectRestored"] == "Done: create Service telemetry, which differs from the release."
    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "0.141.0"}}})
    collectors.run()
    assert events(live)["Normal ReleaseUpgraded"] == f"Done: upgrade release telemetry of chart {chart}."
    assert collectors.status()["release"]["description"] == "Upgrade complete"

    live.merge("Collector", "telemetry", {"spec": {"values": UNSCHEDULABLE}})
    collectors.run(wait=False)
    shown = columns(live)
    assert (shown["READY"], shown["REVISION"], shown["REASON"]) == ("False", "3", "PodsNotReady")
    # a later reconcile sees why
    eventually(lambda: collectors.run(wait=False) and "FailedScheduling" in message(collectors))

    collectors.run(state="absent", wait=True)
    assert events(live)["Normal ReleaseUninstalled"] == "Done: uninstall release telemetry."
