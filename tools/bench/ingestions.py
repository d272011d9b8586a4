# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The measured ingestions, created in-process: suspended supervisors, so that Druid has little to do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.connection import connect
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import run
from testbed.control_plane import ControlPlane
from testbed.druid.druid import Druid

from .supervisors import spec


def resource(namespace: str, name: str, url: str) -> dict[str, Any]:
    """Return a DruidIngestion of the Druid at this address; its supervisor has the resource's name."""
    return {
        "apiVersion": "druid.apache.org/v1alpha1",
        "kind": "DruidIngestion",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "endpoint": {"url": url},
            "suspend": True,
            "ingestion": {"type": "kafka", "nativeSpec": spec(name)},
        },
    }


def create(plane: ControlPlane, druid: Druid, namespace: str, names: Sequence[str]) -> None:
    """Create a namespace with ingestions, and reconcile each to the desired state."""
    plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    api = connect({"kubeconfig": str(plane.kubeconfig("person"))})
    for name in names:
        request = Request(name, namespace, Options(), resource(namespace, name, druid.url), wait=True, wait_timeout=60)
        outcome = run(INGESTION, api, request, lambda _text: None, Clock())
        if outcome.timed_out or outcome.report is None or outcome.report.plan.problems:
            raise RuntimeError(f"{name} was not created: {outcome.report}")


def playbook(path: Path, namespace: str, names: Sequence[str]) -> str:
    """Write a playbook with one task that reconciles all of them one by one; return its path."""
    task = {"druidops.druid.ingestion": {"name": "{{ item }}", "namespace": namespace}, "loop": list(names)}
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [task]}
    path.write_text(json.dumps([play]))
    return str(path)
