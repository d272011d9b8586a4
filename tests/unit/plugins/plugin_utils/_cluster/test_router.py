# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The router's Service is identified by the cluster's spec; a similar Service gets no credentials."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.router import RouterNotFound, address

UID = "uid-of-c"
TLS = "druid.enableTlsPort=true\n"
NO_PLAIN = "druid.enablePlaintextPort=false\n"


def cluster(common: str = "", **router: Any) -> dict[str, Any]:
    node = {"nodeType": "router", "druid.port": 8088, "services": [{"spec": {"type": "ClusterIP"}}], **router}
    spec = {"common.runtime.properties": common, "nodes": {"routers": node}}
    return {"metadata": {"name": "c", "namespace": "ns", "uid": UID}, "spec": spec}


def service(name: str = "druid-c-routers", uid: str = UID, port: int = 8088, target: Any = 8088, **spec: Any) -> Any:
    owner = {"kind": "Druid", "name": "c", "uid": uid, "controller": True}
    labels = {"druid_cr": "c", "component": "router"}
    content = {"ports": [{"port": port, "targetPort": target}], **spec}
    return {"metadata": {"name": name, "labels": labels, "ownerReferences": [owner]}, "spec": content}


@pytest.mark.parametrize(
    ("resource", "live", "prefers_tls", "url"),
    [
        (cluster(), service(), False, "http://druid-c-routers.ns.svc:8088"),
        (cluster(), service(port=80), False, "http://druid-c-routers.ns.svc:80"),
        (cluster(), service(port=80, clusterIP="None"), False, "http://druid-c-routers.ns.svc:8088"),
        (cluster("druid.plaintextPort=9999"), service(target=9999), False, "http://druid-c-routers.ns.svc:8088"),
        (cluster(TLS), service(), False, "http://druid-c-routers.ns.svc:8088"),
        (cluster(TLS), service(port=443, target=9088), True, "https://druid-c-routers.ns.svc:443"),
        (cluster(TLS + NO_PLAIN), service(port=443, target=9088), False, "https://druid-c-routers.ns.svc:443"),
        (
            cluster(TLS, **{"runtime.properties": "druid.tlsPort=9443\ndruid.enablePlaintextPort = false"}),
            service(port=9443, target="https"),
            False,
            "https://druid-c-routers.ns.svc:9443",
        ),
        (
            cluster(services=[{"metadata": {"name": "%s-api"}}]),
            service("druid-c-routers-api"),
            False,
            "http://druid-c-routers-api.ns.svc:8088",
        ),
    ],
)
def test_address_of_the_router(resource: Any, live: Any, prefers_tls: bool, url: str) -> None:
    assert address(resource, [live], prefers_tls, "") == url


@pytest.mark.parametrize(
    ("resource", "live"),
    [
        (cluster(), service(uid="another")),
        (cluster(), {"metadata": {"name": "druid-c-routers", "labels": {"druid_cr": "c"}}, "spec": {}}),
        (cluster(), service("another-name")),
        (cluster(), service(type="ExternalName", externalName="elsewhere.example.com")),
        (cluster(), service(target=1, port=1)),
        # another server on port 9999 gets no credentials
        (cluster(), service(target=9999, port=8088)),
        (cluster(), service(target="metrics", port=80)),
        (cluster(services=[]), service()),
        (cluster(nodeType="broker"), service()),
        (cluster(TLS + NO_PLAIN), service()),
    ],
    ids=[
        "another owner",
        "no owner",
        "not of the group",
        "another host",
        "another port",
        "another target",
        "a named port",
        "no Service",
        "no router",
        "no TLS port",
    ],
)
def test_other_services_are_not_used(resource: Any, live: Any) -> None:
    with pytest.raises(RouterNotFound, match=r"Druid c has no .* state endpoint\.url\.$"):
        address(resource, [live], prefers_tls=False, remedy="state endpoint.url")
