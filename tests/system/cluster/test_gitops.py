# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A GitOps tool has nothing to change in what it has applied, although it is reconciled."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._values.clock import Clock
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.options import Options as ClusterOptions
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.kind import INGESTION
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.request import Request
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import run
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster
from ansible_collections.druidops.druid.tests.system.support.in_process import connection, until_ready
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.clients import kubectl

INGESTING: dict[str, Any] = {
    "apiVersion": "druid.apache.org/v1alpha1",
    "kind": "DruidIngestion",
    "metadata": {"name": "pages"},
    "spec": {
        "endpoint": {"url": "http://127.0.0.1:1"},
        "ingestion": {"type": "kafka", "nativeSpec": {"type": "kafka", "spec": {"dataSchema": {"dataSource": "p"}}}},
    },
}


def call(live: NamespaceClient, verb: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run kubectl as the tool."""
    fixed = ["--kubeconfig", str(live.plane.kubeconfig("admin")), "--namespace", live.namespace]
    command = [kubectl(), verb, *fixed, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# As Flux does, which compares by a dry run of an apply, and as Argo CD does by default.
@pytest.mark.parametrize(
    "options", [("--server-side", "--field-manager", "kustomize-controller"), ()], ids=["server-side", "client-side"]
)
def test_reconciled_resources_do_not_differ(live: NamespaceClient, options: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "repository.json"
    items = [all_kinds_cluster.resource(), INGESTING]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    applied = call(live, "apply", *options, "--filename", str(file))
    assert applied.returncode == 0, applied.stderr

    # as the operator, which sets the finalizer
    until_ready(live, all_kinds_cluster.NAME, options=ClusterOptions(keep_finalizer=True))
    request = Request(INGESTING["metadata"]["name"], live.namespace, Options())
    run(INGESTION, connection(live), request, lambda _text: None, Clock())

    for kind, name in (("Druid", all_kinds_cluster.NAME), ("DruidIngestion", "pages")):
        assert (live.get(kind, name)["metadata"].get("finalizers") is not None) == (kind == "Druid")
        assert live.get(kind, name)["status"]["conditions"]
    compared = call(live, "diff", *options, "--filename", str(file))
    assert (compared.returncode, compared.stdout) == (0, ""), compared.stderr
    again = call(live, "apply", *options, "--filename", str(file))
    assert (again.returncode, again.stderr) == (0, "")

    file.write_text(file.read_text("utf-8").replace(items[0]["spec"]["image"], "apache/druid:0.0.1"), encoding="utf-8")
    assert call(live, "diff", *options, "--filename", str(file)).returncode == 1
