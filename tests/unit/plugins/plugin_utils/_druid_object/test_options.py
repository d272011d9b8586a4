# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The URL of Druid: from the resource, or from an option that overrides it."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.connection import ConnectionUnavailable
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.options import Options, druid_connection
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_object.state import Surroundings
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.api import KubernetesApi
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.reads import Reads
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster.test_router import cluster, service
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._ingestion.resources import ingestion
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils.http_server import Response, serving

ENDPOINT = {"druidCluster": None, "endpoint": {"url": "https://druid:9088"}}
API = KubernetesApi("https://kubernetes", None)  # type: ignore[arg-type]
FOUND = Surroundings(cluster=cluster(), services=(service(),))


@pytest.mark.parametrize(
    ("more", "found", "override", "url"),
    [
        (ENDPOINT, Surroundings(), None, "https://druid:9088"),
        (ENDPOINT, Surroundings(), "http://localhost:1", "http://localhost:1"),
        ({}, FOUND, None, "http://druid-c-routers.ns.svc:8088"),
    ],
)
def test_url_of_druid(more: dict[str, Any], found: Surroundings, override: str | None, url: str) -> None:
    assert druid_connection(Reads(API, "ns"), ingestion(**more), found, Options(url=override)).url == url


@pytest.mark.parametrize(
    ("more", "found", "reason"),
    [
        ({"druidCluster": None}, Surroundings(), "InvalidSpec"),
        ({}, Surroundings(), "ClusterNotFound"),
        ({}, Surroundings(cluster=cluster()), "RouterNotFound"),
    ],
)
def test_reason_of_a_missing_target(more: dict[str, Any], found: Surroundings, reason: str) -> None:
    with pytest.raises(ConnectionUnavailable) as raised:
        druid_connection(Reads(API, "ns"), ingestion(**more), found, Options())
    assert raised.value.finding.reason == reason


SLICE = {
    "endpoints": [{"addresses": ["10.0.0.5"]}, {"addresses": ["fd00::5"]}],
    "ports": [{"name": "https", "port": 6443}],
}
NOT_FOUND = Response(404, {"message": "not found", "details": {"name": "kubernetes"}})


@pytest.mark.parametrize(("more", "reads"), [(ENDPOINT, Surroundings()), ({}, FOUND)], ids=["endpoint", "druidCluster"])
@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (Response(body=SLICE), ("https://10.0.0.5:6443", "https://[fd00::5]:6443")),
        (Response(body={"endpoints": None, "ports": None}), ()),
        (NOT_FOUND, ()),
        # a Role of one namespace
        (Response(403, {"message": "forbidden"}), ()),
    ],
)
def test_the_api_server_is_refused_with_the_own_host(
    response: Response, expected: tuple[str, ...], more: dict[str, Any], reads: Surroundings
) -> None:
    """A router that the author does not name may announce another server as leader."""
    with serving() as server, urllib3.PoolManager() as pool:
        server.responses = [response]
        api = KubernetesApi(server.url, pool)
        found = druid_connection(Reads(api, "ns"), ingestion(**more), reads, Options(refuse_own_host=True))
        path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
        assert [request.path for request in server.requests] == [path]
        assert (found.refuse_own_host, found.api_servers) == (True, (server.url, *expected))


def test_nothing_is_refused_or_read_for_the_address_of_the_task() -> None:
    own = Options(url="http://localhost:1", refuse_own_host=True)
    assert not druid_connection(Reads(API, "ns"), ingestion(**ENDPOINT), Surroundings(), own).refuse_own_host
