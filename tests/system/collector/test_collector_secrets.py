# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A user who can write Helm's Secrets in the namespace of the tenant puts an object of others into the release."""

from __future__ import annotations

import pytest
from ansible_collections.druidops.druid.tests.system.collector.conftest import Collectors, resource
from ansible_collections.druidops.druid.tests.system.collector.pending import add_object
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient

# What Helm compares before it deletes an object.
MARK = "annotations: {meta.helm.sh/release-name: telemetry, meta.helm.sh/release-namespace: %s}"


@pytest.mark.parametrize("kind", ["ConfigMap", "Namespace"])
def test_object_of_others_is_not_deleted(collectors: Collectors, live: NamespaceClient, kind: str) -> None:
    other = NamespaceClient(live.plane, f"{live.namespace}-other")
    live.plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": other.namespace}})
    other.create({"kind": "ConfigMap", "metadata": {"name": "victim"}})
    live.create(resource())
    collectors.run()
    [secret] = [each for each in live.list("Secret") if each["metadata"]["labels"].get("owner") == "helm"]
    place = f"name: victim, namespace: {other.namespace}" if kind == "ConfigMap" else f"name: {other.namespace}"
    add_object(live, secret, f"apiVersion: v1\nkind: {kind}\nmetadata: {{{place}, {MARK % live.namespace}}}")

    live.merge("Collector", "telemetry", {"spec": {"collector": {"version": "0.141.0"}}})
    refused = collectors.run(status=2)
    assert "objects that its chart may not have" in refused.output
    assert (collectors.reason(), collectors.revision()) == ("RefNotPermitted", 1)
    kept = collectors.run(state="absent", wait=True)
    assert f"because it has objects that its chart may not have, and that Helm would delete: {kind}" in kept.output
    assert live.find("Collector", "telemetry") is None
    assert other.find("ConfigMap", "victim") is not None
    namespace = live.plane.request("GET", f"/api/v1/namespaces/{other.namespace}")
    assert namespace["status"]["phase"] == "Active"
