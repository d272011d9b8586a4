# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The namespace of a tenant: another one, one that does not exist or is being deleted; and the configuration."""

from __future__ import annotations

import base64

from ansible_collections.druidops.druid.tests.system.collector.conftest import AT_ONCE, Collectors, resource
from ansible_collections.druidops.druid.tests.system.support import small_cluster
from ansible_collections.druidops.druid.tests.system.support.campaign import campaign
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient


def config(live: NamespaceClient, name: str = "telemetry") -> str:
    data = live.get("Secret", f"{name}-config")["data"]["config.yaml"]
    return base64.b64decode(data).decode()


def test_other_namespace(collectors: Collectors, live: NamespaceClient) -> None:
    tenant = NamespaceClient(live.plane, f"{live.namespace}-tenant")
    allowed = {"allowed_tenant_namespaces": [tenant.namespace]}
    live.create(small_cluster.resource("wiki"))
    live.create(resource(tenant=tenant.namespace, cluster="wiki"))
    assert "is not the namespace of this resource" in collectors.run(status=2).output
    assert "There is no namespace" in collectors.run(status=2, **allowed).output
    assert collectors.reason() == "TenantNotFound"

    live.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": tenant.namespace}})
    collectors.run(**allowed)
    assert tenant.find("Deployment", "telemetry") is not None
    assert "druid_cr=wiki" in config(tenant)
    assert live.names("Role") == {f"{tenant.namespace}.telemetry.pods"}

    # what keeps the namespace: nothing can be created in it
    holder = {"kind": "ConfigMap", "metadata": {"name": "holder", "finalizers": ["example.com/holder"]}}
    tenant.create(holder)
    live.plane.request("DELETE", f"/api/v1/namespaces/{tenant.namespace}")
    eventually(lambda: tenant.find("Deployment", "telemetry") is None)
    eventually(lambda: not [each for each in tenant.list("Secret") if each["type"] == "helm.sh/release.v1"])
    assert "is being deleted" in collectors.run(status=2, **allowed).output
    assert collectors.reason() == "TenantTerminating"
    collectors.run(state="absent", wait=True, **allowed)
    assert live.find("Collector", "telemetry") is None
    tenant.merge("ConfigMap", "holder", {"metadata": {"finalizers": None}})


@campaign("the decoding; a configuration in the resource")
def test_configuration_by_reference_is_decoded_as_specified(collectors: Collectors, live: NamespaceClient) -> None:
    plain, encoded = "receivers: {}", base64.b64encode(b"receivers: {}").decode()
    source = {"secretKeyRef": {"name": "source", "key": "text"}}
    live.create(resource(collector={"configFrom": source}))
    assert "there is no Secret source" in collectors.run(status=2).output
    live.create({"kind": "Secret", "metadata": {"name": "source"}, "stringData": {"text": encoded}})
    collectors.run()
    # text that looks like Base64 stays as it is
    assert config(live) == encoded
    live.merge("Collector", "telemetry", {"spec": {"collector": {"configEncoding": "Base64"}}})
    collectors.run()
    assert config(live) == plain
    live.merge("Secret", "source", {"data": None, "stringData": {"text": "%hidden%"}})
    refused = collectors.run(status=2).output
    assert "is not Base64 of UTF-8 text" in refused
    assert "hidden" not in refused
    assert config(live) == plain


def test_repository_that_is_not_allowed(collectors: Collectors, live: NamespaceClient) -> None:
    chart = {"repository": "https://charts.example.com", "name": "c", "version": "1.0.0"}
    live.create(resource(chart=chart))
    similar = ["https://charts.example.com.evil.example", "https://charts.example.com/other"]
    refused = collectors.run(status=2, allowed_chart_repositories=similar)
    assert "does not allow https://charts.example.com" in refused.output
    assert collectors.reason() == "ChartNotAllowed"


def test_without_resource(collectors: Collectors, live: NamespaceClient) -> None:
    spec = {"collector": {"name": "telemetry"}, "values": AT_ONCE}
    assert collectors.run(spec=spec).changed
    assert not collectors.run(spec=spec).changed
    assert collectors.run(spec=spec, state="absent").changed
    eventually(lambda: not live.names("Deployment"))
