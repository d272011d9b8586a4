# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts with hooks, CRDs, or too much; releases that are renamed, damaged, or whose names other objects have."""

from __future__ import annotations

import base64
import gzip
import os
import re
import shutil
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.system.collector.conftest import CHART, Collectors, resource
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.api import ApiError

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HOOK = """\
kind: {kind}
apiVersion: {version}
metadata:
  name: {name}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade,post-delete
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
"""
DEFINITION = """\
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {{name: notes.{group}}}
spec:
  group: {group}
  names: {{kind: Note, plural: notes}}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"""


SERVICE = """\
kind: Service
apiVersion: v1
metadata: {{name: more}}
spec:
  ports: [{{port: {port}}}]
"""


def with_template(directory: Path, text: str, place: str = "templates") -> Path:
    """The default chart with one more file."""
    chart = directory / "chart"
    shutil.copytree(CHART, chart)
    (chart / place).mkdir(exist_ok=True)
    (chart / place / "another.yaml").write_text(text, encoding="utf-8")
    return chart


def test_hook_that_belongs_to_no_namespace(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    role = HOOK.format(kind="ClusterRole", version="rbac.authorization.k8s.io/v1", name=f"hook-{live.namespace}")
    chart = str(with_template(tmp_path, role))
    live.create(resource())
    refused = collectors.run(status=2, chart=chart)
    assert f"ClusterRole hook-{live.namespace}" in refused.output
    assert (collectors.reason(), live.names("Secret")) == ("ClusterScopedObjects", set())


def test_hook_of_the_tenant_is_no_object_of_the_release(
    collectors: Collectors, live: NamespaceClient, tmp_path: Path
) -> None:
    chart = str(with_template(tmp_path, HOOK.format(kind="ConfigMap", version="v1", name="hook")))
    live.create(resource())
    assert "ConfigMap hook" not in collectors.run(chart=chart).output
    # Helm has deleted it, and it is not restored
    assert live.find("ConfigMap", "hook") is None
    assert not collectors.run(chart=chart).changed
    collectors.run(state="absent", wait=True, chart=chart)
    assert live.find("ConfigMap", "hook") is None


def upgrade(chart: Path, port: int) -> str:
    """Write the next version of the chart, whose Service has this port, and return its path."""
    (chart / "templates" / "another.yaml").write_text(SERVICE.format(port=port), encoding="utf-8")
    metadata = chart / "Chart.yaml"
    metadata.write_text(re.sub(r"(?m)^version: .*", f"version: 9.0.{port}", metadata.read_text()), encoding="utf-8")
    return str(chart)


def test_port_of_a_service_that_changes(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    """A dry run of an apply keeps the former port, and is rejected, although Helm replaces it."""
    chart = with_template(tmp_path, SERVICE.format(port=80))
    live.create(resource())
    collectors.run(chart=upgrade(chart, 80))
    collectors.run(chart=upgrade(chart, 81))
    assert (collectors.reason(), collectors.revision()) == ("ReleaseDeployed", 2)
    assert [each["port"] for each in live.get("Service", "more")["spec"]["ports"]] == [81]
    # What is invalid for itself is rejected before Helm runs.
    refused = collectors.run(status=2, chart=upgrade(chart, 70000))
    assert "The API server rejects Service more of the chart" in refused.output
    assert [each["port"] for each in live.get("Service", "more")["spec"]["ports"]] == [81]
    assert collectors.revision() == 2


def test_definition_of_a_kind(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    group = f"{live.namespace}.example.com"
    chart = with_template(tmp_path, DEFINITION.format(group=group), "crds")
    note = f"kind: Note\napiVersion: {group}/v1\nmetadata: {{name: note}}\n"
    (chart / "templates" / "note.yaml").write_text(note, encoding="utf-8")
    live.create(resource())
    assert f"CustomResourceDefinition notes.{group}" in collectors.run(status=2, chart=str(chart)).output
    assert (collectors.reason(), live.names("Secret")) == ("ClusterScopedObjects", set())
    allowed = {"chart": str(chart), "allow_cluster_scoped_objects": True}
    collectors.run(**allowed)
    path = f"/apis/{group}/v1/namespaces/{live.namespace}/notes"
    assert [each["metadata"]["name"] for each in live.plane.request("GET", path)["items"]] == ["note"]
    live.plane.request("DELETE", f"{path}/note")
    assert "create Note note" in collectors.run(**allowed).output
    collectors.run(state="absent", wait=True, **allowed)
    # Helm never deletes it
    assert live.plane.request("DELETE", f"{_DEFINITIONS}/notes.{group}")


def test_chart_that_no_secret_has_room_for(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    chart = with_template(tmp_path, "")
    (chart / "data.bin").write_bytes(os.urandom(2 * 2**20))
    live.create(resource())
    refused = collectors.run(status=2, chart=str(chart))
    assert "Too long" in refused.output
    assert collectors.reason() == "HelmFailed"
    assert live.names("Deployment") | live.names("Secret") == set()
    # the same resource with a chart that is small enough
    collectors.run()
    assert collectors.reason() == "ReleaseDeployed"


@campaign("a chart that no Secret has room for")
def test_large_configuration(collectors: Collectors, live: NamespaceClient) -> None:
    line = "# " + "a comment " * 10 + "\n"
    text = line * (900_000 // len(line))
    live.create(resource(collector={"config": text}))
    collectors.run()
    assert base64.b64decode(live.get("Secret", "telemetry-config")["data"]["config.yaml"]).decode() == text
    assert not collectors.run().changed
    # what cannot be compressed
    live.merge("Collector", "telemetry", {"spec": {"collector": {"config": os.urandom(450_000).hex()}}})
    assert "Too long" in collectors.run(status=2).output
    assert (collectors.reason(), collectors.revision()) == ("HelmFailed", 1)
    live.merge("Collector", "telemetry", {"spec": {"collector": {"config": None}}})
    collectors.run()
    assert (collectors.reason(), collectors.revision()) == ("ReleaseDeployed", 2)
    collectors.run(state="absent", wait=True)


def test_object_without_a_name(collectors: Collectors, live: NamespaceClient, tmp_path: Path) -> None:
    live.create(resource())
    chart = with_template(tmp_path, "kind: ConfigMap\napiVersion: v1\ndata: {}\n")
    assert "not an object of Kubernetes with a name" in collectors.run(status=2, chart=str(chart)).output
    assert collectors.reason() == "HelmFailed"


def test_release_is_neither_renamed_nor_moved(collectors: Collectors, live: NamespaceClient) -> None:
    other = NamespaceClient(live.plane, f"{live.namespace}-other")
    live.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": other.namespace}})
    allowed = {"allowed_tenant_namespaces": [other.namespace]}
    live.create(resource())
    collectors.run(**allowed)
    with pytest.raises(ApiError, match="cannot be changed"):
        live.merge("Collector", "telemetry", {"spec": {"collector": {"name": "renamed"}}})
    # A field that was not set can be added.
    live.merge("Collector", "telemetry", {"spec": {"tenant": other.namespace}})
    assert "It cannot be renamed or moved" in collectors.run(status=2, **allowed).output
    assert (collectors.reason(), collectors.revision()) == ("InvalidSpec", 1)
    assert live.names("Deployment") == {"telemetry"}
    assert other.names("Deployment") == set()
    # what is uninstalled is the release that there is, not the one that is specified
    collectors.run(state="absent", wait=True, **allowed)
    eventually(lambda: live.names("Deployment") == set())


def test_object_of_a_druid_has_the_name(collectors: Collectors, live: NamespaceClient) -> None:
    """The name of a release is chosen so that its Service would be that of a Druid."""
    live.create(small_cluster.resource("wiki", small_cluster.spec(replicas=1)))
    collectors.ansible.cluster("wiki")
    [name, *_others] = sorted(live.names("Service"))
    before = live.get("Service", name)
    live.create(resource(release=name))
    assert "cannot be imported into the current release" in collectors.run(status=2).output
    assert collectors.reason() == "HelmFailed"
    collectors.run(state="absent", wait=True)
    after = live.get("Service", name)
    assert [after[part] for part in ("metadata", "spec")] == [before[part] for part in ("metadata", "spec")]


def test_releases_of_two_tenants_do_not_share_a_role(collectors: Collectors, live: NamespaceClient) -> None:
    """Their names put together with a hyphen would be the same."""
    tenants = [NamespaceClient(live.plane, f"{live.namespace}-a{suffix}") for suffix in ("", "-b")]
    allowed = {"allowed_tenant_namespaces": [each.namespace for each in tenants]}
    live.create(small_cluster.resource("wiki"))
    for tenant, release in zip(tenants, ("b-c", "c"), strict=True):
        live.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": tenant.namespace}})
        live.create(resource(release, release=release, tenant=tenant.namespace, cluster="wiki"))
        collectors.run(release, **allowed)
        assert collectors.reason(release) == "ReleaseDeployed"
    assert len(live.names("Role")) == len(tenants)


def test_damaged_release(collectors: Collectors, live: NamespaceClient) -> None:
    live.create(resource())
    collectors.run()
    [name] = [each for each in live.names("Secret") if each.startswith("sh.helm.release")]
    for data in (b"x", gzip.compress(b"[" * 100_000), gzip.compress(b'{"version": 1e999}')):
        encoded = base64.b64encode(base64.b64encode(data)).decode()
        live.merge("Secret", name, {"data": {"release": encoded}})
        refused = collectors.run(status=2)
        assert f"Secret {name} is not a release of Helm 3" in refused.output
        assert collectors.reason() == "ReleaseNotOwned"
    assert live.names("Deployment") == {"telemetry"}
    kept = collectors.run(state="absent", wait=True)
    assert "is kept, because it cannot be read" in kept.output
    assert live.find("Collector", "telemetry") is None
