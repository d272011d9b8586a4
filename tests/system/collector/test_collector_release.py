# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A release that changes without us, fails, or belongs to another client."""

from __future__ import annotations

import shutil
from pathlib import Path

from ansible_collections.druidops.druid.plugins.plugin_utils._collector.spec import FINALIZER
from ansible_collections.druidops.druid.tests.system.collector.conftest import CHART, Collectors, resource
from ansible_collections.druidops.druid.tests.system.collector.pending import pending
from ansible_collections.druidops.druid.tests.system.collector.test_collector_limits import with_template
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.namespace_client import MERGE, NamespaceClient

# The API server rejects it, which no schema of the chart does.
UNUSABLE = {"nodeSelector": {"not a label": "x"}}
# An object that is not in the deployed revision, and a hook after all others that the API server refuses.
FAILING = """\
kind: ConfigMap
apiVersion: v1
metadata: {name: added}
---
kind: ConfigMap
apiVersion: v1
metadata:
  name: Not_a_name
  annotations: {helm.sh/hook: "post-install,post-upgrade"}
"""
UNSCHEDULABLE = {"nodeSelector": {"not a label": None, "of": "none"}}


def test_drift_is_reverted_and_a_failed_upgrade_too(
    collectors: Collectors, live: NamespaceClient, tmp_path: Path
) -> None:
    live.create(resource())
    collectors.run()
    live.delete("Service", "telemetry")
    live.merge("Deployment", "telemetry", {"spec": {"replicas": 3}})
    planned = collectors.run(check_mode=True).output
    assert "create Service telemetry" in planned
    assert "update Deployment telemetry" in planned
    assert live.find("Service", "telemetry") is None
    collectors.run(wait=True)
    assert live.get("Service", "telemetry")["metadata"]["annotations"]["meta.helm.sh/release-name"] == "telemetry"
    assert live.get("Deployment", "telemetry")["spec"]["replicas"] == 1
    assert not collectors.run().changed
    assert collectors.revision() == 1

    template = collectors.pod_template()
    # a dry run shows it before Helm is run, and it is not repeated
    live.merge("Collector", "telemetry", {"spec": {"values": UNUSABLE}})
    for _each in range(2):
        assert "The API server rejects Deployment telemetry of the chart" in collectors.run(status=2).output
        assert (collectors.reason(), collectors.revision()) == ("HelmFailed", 1)

    # Helm fails after it has written the objects
    failing = str(with_template(tmp_path, FAILING))
    live.merge("Collector", "telemetry", {"spec": {"values": dict.fromkeys(UNUSABLE), "collector": {"version": "1"}}})
    assert "Not_a_name" in collectors.run(status=2, chart=failing).output
    assert (collectors.reason(), live.names("ConfigMap")) == ("HelmFailed", {"added"})
    assert "failedAttempt" in collectors.status()
    # not repeated, and the deployed revision is kept
    live.delete("Service", "telemetry")
    collectors.run(status=2, chart=failing)
    assert live.find("Service", "telemetry") is not None
    assert (collectors.pod_template(), collectors.status()["release"]["state"]) == (template, "failed")

    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": None, "config": "receivers: {}"}}})
    assert "remove the failed revision 2" in collectors.run().output
    assert (collectors.reason(), live.names("ConfigMap")) == ("ReleaseDeployed", set())
    assert "failedAttempt" not in collectors.status()


def test_failed_installation_begins_again(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    live.create(resource())
    assert "Not_a_name" in collectors.run(status=2, chart=str(with_template(tmp_path, FAILING))).output
    assert (collectors.reason(), live.names("ConfigMap")) == ("HelmFailed", {"added"})
    collectors.run()
    assert (collectors.reason(), live.names("ConfigMap")) == ("ReleaseDeployed", set())
    collectors.run(state="absent", wait=True)
    assert live.names("Secret") == set()


def test_release_of_another_client(collectors: Collectors, live: NamespaceClient) -> None:
    collectors.helm("install", "telemetry", str(CHART), "--set", "replicas=2")
    live.create(resource())
    mark = live.mark()
    assert "was not created by this resource" in collectors.run(status=2).output
    assert collectors.reason() == "ReleaseNotOwned"
    assert not [each for each in live.writes(mark) if each.resource not in ("collectors", "events")]
    assert "release" not in collectors.status()

    live.merge("Collector", "telemetry", {"spec": {"takeOver": True}})
    assert "upgrade release telemetry" in collectors.run().output
    assert live.get("Deployment", "telemetry")["spec"]["replicas"] == 1
    assert not collectors.run().changed

    # the second one of that name
    live.create(resource("other"))
    assert "Collector telemetry, which is older" in collectors.run("other", status=2).output
    assert collectors.reason("other") == "DuplicateCollector"
    live.merge("Collector", "telemetry", {"spec": {"deletionPolicy": "Retain"}})
    collectors.run("other", state="absent", wait=True)
    collectors.run(state="absent", wait=True)
    assert live.find("Deployment", "telemetry") is not None
    assert "deployed" in collectors.helm("status", "telemetry")


def test_release_that_another_client_has_installed_since(collectors: Collectors, live: NamespaceClient) -> None:
    live.create(resource())
    collectors.run()
    assert "installing" not in collectors.status()["release"]
    collectors.helm("uninstall", "telemetry")
    collectors.helm("install", "telemetry", str(CHART))
    assert "was not created by this resource" in collectors.run(status=2).output
    collectors.run(state="absent", wait=True)
    assert "deployed" in collectors.helm("status", "telemetry")


def test_status_that_another_client_has_written(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    collectors.helm("install", "others", str(copied(tmp_path, name="something-else")))
    live.create(resource())
    live.merge("Collector", "telemetry", {"metadata": {"finalizers": [FINALIZER]}})
    others = {"name": "others", "namespace": live.namespace, "chart": "something-else-0.1.0", "installing": True}
    path = f"{live.path('Collector', 'telemetry')}/status"
    live.plane.request("PATCH", path, {"status": {"release": others}}, user="person", content_type=MERGE)
    assert "is kept, because it has no label of this resource" in collectors.run(state="absent", wait=True).output
    assert "deployed" in collectors.helm("status", "others")


def test_release_of_another_chart_is_never_taken_over(
    collectors: Collectors, live: NamespaceClient, tmp_path: Path
) -> None:
    chart = copied(tmp_path, name="something-else")
    collectors.helm("install", "telemetry", str(chart))
    live.create(resource(takeOver=True))
    assert "It is not taken over" in collectors.run(status=2).output
    collectors.run(state="absent", wait=True)
    assert "deployed" in collectors.helm("status", "telemetry")


def test_chart_with_cluster_scoped_objects(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    name = f"of-{live.namespace}"
    role = f"kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {{name: {name}}}\nrules: []\n"
    chart = copied(tmp_path)
    (chart / "templates" / "cluster_role.yaml").write_text(role)
    live.create(resource())
    refused = collectors.run(status=2, chart=str(chart))
    assert f"objects that belong to no namespace: ClusterRole {name}." in refused.output
    assert (collectors.reason(), live.names("Secret")) == ("ClusterScopedObjects", set())
    collectors.run(chart=str(chart), allow_cluster_scoped_objects=True)
    assert collectors.reason() == "ReleaseDeployed"
    collectors.run(state="absent", wait=True, allow_cluster_scoped_objects=True)


def test_chart_that_shows_its_objects_only_to_the_api_server(
    collectors: Collectors, live: NamespaceClient, tmp_path: Path
) -> None:
    name = f"hidden-{live.namespace}"
    role = f"kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {{name: {name}}}\nrules: []\n"
    chart = copied(tmp_path)
    condition = '{{ if lookup "v1" "ServiceAccount" .Release.Namespace "default" }}'
    (chart / "templates" / "hidden.yaml").write_text(f"{condition}\n{role}{{{{ end }}}}\n")
    live.create(resource())
    collectors.run(chart=str(chart), wait=False)
    # found afterwards, and then nothing of the release is written again
    collectors.run(status=2, chart=str(chart))
    assert collectors.reason() == "ClusterScopedObjects"
    live.delete("Service", "telemetry")
    mark = live.mark()
    refused = collectors.run(status=2, chart=str(chart))
    assert f"ClusterRole {name}" in refused.output
    assert live.find("Service", "telemetry") is None
    # nor is it compared
    assert {each.resource for each in live.requests(mark)} == {"collectors", "secrets"}
    collectors.run(chart=str(chart), allow_cluster_scoped_objects=True)
    assert live.find("Service", "telemetry") is not None
    collectors.run(state="absent", wait=True, allow_cluster_scoped_objects=True)


@campaign("the decision about it")
def test_revision_of_an_interrupted_run(collectors: Collectors, live: NamespaceClient) -> None:
    live.create(resource())
    collectors.run()
    [secret] = [each for each in live.list("Secret") if each["metadata"]["labels"].get("owner") == "helm"]
    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "0.141.0"}}})
    pending(live, secret, 2, "pending-upgrade")
    assert "Another run of Helm" in collectors.run(status=2).output
    assert collectors.reason() == "ReleasePending"
    live.delete("Secret", "sh.helm.release.v1.telemetry.v2")
    # longer ago than a run can take
    pending(live, secret, 2, "pending-upgrade", "2026-01-01T00:00:00.123456789Z")
    assert "remove the interrupted revision 2" in collectors.run().output
    assert collectors.reason() == "ReleaseDeployed"


def copied(directory: Path, **metadata: str) -> Path:
    """Return a copy of the chart with other metadata."""
    chart = Path(shutil.copytree(CHART, directory / "chart"))
    file = chart / "Chart.yaml"
    for name, value in metadata.items():
        lines = [f"{name}: {value}" if line.startswith(f"{name}:") else line for line in file.read_text().splitlines()]
        file.write_text("\n".join(lines))
    return chart
