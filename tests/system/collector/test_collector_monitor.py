# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ServiceMonitor of the chart, with and without the CRD of the Prometheus operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ansible_collections.druidops.druid.tests.system.collector.conftest import Collectors, resource
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.api import ApiError
from testbed.control_plane import ControlPlane
from testbed.prometheus_operator import service_monitor_crd

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@contextmanager
def with_crd(plane: ControlPlane) -> Iterator[None]:
    """Have the CRD until the context ends."""
    crd = service_monitor_crd()
    path = f"{_CRDS}/{crd['metadata']['name']}"
    plane.request("POST", _CRDS, crd)
    try:
        eventually(lambda: "Established" in true_conditions(plane.request("GET", path)))
        yield
    finally:
        plane.request("DELETE", path)


def true_conditions(crd: Mapping[str, Any]) -> set[str]:
    """The conditions that are true; a new CRD has none yet."""
    return {each["type"] for each in crd.get("status", {}).get("conditions") or () if each["status"] == "True"}


def monitors(live: NamespaceClient) -> dict[str, Any]:
    """The ServiceMonitors in the namespace, by name; none without the CRD."""
    try:
        found = live.plane.request("GET", path(live))
    except ApiError:
        return {}
    return {each["metadata"]["name"]: each for each in found["items"]}


def path(live: NamespaceClient) -> str:
    return f"/apis/monitoring.coreos.com/v1/namespaces/{live.namespace}/servicemonitors"


def test_service_monitor(collectors: Collectors, live: NamespaceClient) -> None:
    live.create(resource(values={"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}}))
    assert "ServiceMonitor (monitoring.coreos.com/v1)" in collectors.run(status=2).output
    assert (collectors.reason(), live.names("Deployment")) == ("ReferenceNotFound", set())
    with with_crd(live.plane):
        collectors.run()
        created = monitors(live)["telemetry"]
        assert created["metadata"]["labels"]["release"] == "prometheus"
        # it selects the Service, and the port that the Service has
        service = live.get("Service", "telemetry")
        selected = created["spec"]["selector"]["matchLabels"]
        assert selected.items() <= service["metadata"]["labels"].items()
        assert {each["port"] for each in created["spec"]["endpoints"]} <= {
            each["name"] for each in service["spec"]["ports"]
        }
        assert not collectors.run().changed
        live.plane.request("DELETE", f"{path(live)}/telemetry")
        collectors.run()
        assert monitors(live).keys() == {"telemetry"}
        live.merge("Collector", "telemetry", {"spec": {"values": {"serviceMonitor": {"enabled": False}}}})
        assert "delete ServiceMonitor telemetry" in collectors.run().output
        assert monitors(live) == {}
        live.merge("Collector", "telemetry", {"spec": {"values": {"serviceMonitor": {"enabled": True}}}})
        collectors.run()
    # another client deletes the CRD, and the object with it
    eventually(lambda: monitors(live) == {})
    collectors.run(status=2)
    assert collectors.reason() == "ReferenceNotFound"
    collectors.run(state="absent", wait=True)
    eventually(lambda: not live.names("Deployment"))
