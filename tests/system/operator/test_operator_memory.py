# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run that needs too much memory fails, the next one reports it, and nothing else is affected."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.druidops.druid.tests.system.support import image, small_cluster
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient, condition
from testbed.operator.resident import DIRECTORY, resident_process

NAME, OTHER = "large", "small"
# Some 10 MiB each, once they have been parsed. With four workers of each kind, a run may have 68 MiB of the pod.
OBJECTS, KEYS = 12, 38_000
WORKERS = ["--max-concurrent-reconciles=4"]
EXCEEDED = "The last reconcile did not end: it needed more memory than a run may have. It is repeated."


def test_run_that_needs_too_much_memory_affects_no_other(
    image_layout: Path, live: NamespaceClient, tmp_path: Path
) -> None:
    """An author who can create ConfigMaps can have the operator list them."""
    variables = {DIRECTORY: "/tmp/warm-runner"}
    data = {f"k{number:06}": "" for number in range(KEYS)}
    for number in range(OBJECTS):
        labels = {"druid_cr": NAME}
        live.create({"kind": "ConfigMap", "metadata": {"name": f"l{number}", "labels": labels}, "data": data})
    with image.started(image_layout, live, tmp_path, WORKERS, **variables) as operator:
        live.create(small_cluster.resource(NAME, small_cluster.spec(replicas=1)))
        eventually(lambda: degraded(live) == ("True", "ObserveFailed", EXCEEDED))
        resident = resident_process(operator.tmp / "warm-runner")
        assert "it needed more than 68 MiB of memory" in operator.log.read_text()
        assert live.find("StatefulSet", f"druid-{NAME}-brokers") is None

        live.create(small_cluster.resource(OTHER, small_cluster.spec(replicas=1)))
        operator.wait_until_ready(OTHER)
        assert resident_process(operator.tmp / "warm-runner") == resident

        for number in range(OBJECTS):
            live.delete("ConfigMap", f"l{number}")
        live.merge("Druid", NAME, {"metadata": {"annotations": {"touched": "true"}}})
        operator.wait_until_ready(NAME)
        assert degraded(live)[0] == "False"


def degraded(live: NamespaceClient) -> tuple[str, str, str]:
    """Return status, reason and message of the condition."""
    resource = live.get("Druid", NAME)
    if not resource.get("status", {}).get("conditions"):
        return "", "", ""
    found = condition(resource, "Degraded")
    return found["status"], found["reason"], found["message"]
