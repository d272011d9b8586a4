# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How an ingestion reaches its Druid: by TLS with the certificates of Secrets, and by the router of a cluster."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.timeouts import Timeouts
from ansible_collections.druidops.druid.plugins.plugin_utils._ingestion.options import Options
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.run import Outcome
from ansible_collections.druidops.druid.tests.system.support import all_kinds_cluster, in_process
from ansible_collections.druidops.druid.tests.system.support.certificates import OWN, TRUST, secret
from ansible_collections.druidops.druid.tests.system.support.eventually import eventually
from ansible_collections.druidops.druid.tests.system.support.ingestion_in_process import (
    KIND,
    Ingesting,
    done,
    ingesting,
)
from ansible_collections.druidops.druid.tests.system.support.ingestion_specs import kafka_spec
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from testbed.druid.druid import Druid
from testbed.recording_proxy import UNAVAILABLE

# What is not there at once is not waited for.
ONE_TRY = Options(timeouts=Timeouts(retry_timeout=0))


def create_secured(ingestion: Ingesting, **endpoint: Any) -> None:
    """Create a resource whose endpoint is Druid itself."""
    resource = ingestion.resource(
        "kafka", kafka_spec(ingestion), suspend=True, endpoint={"url": ingestion.druid.url, **endpoint}
    )
    ingestion.live.create(resource)


def test_wrong_and_right_certificate_authority(live: NamespaceClient, druid_mutual_tls: Druid) -> None:
    assert druid_mutual_tls.client_certificate is not None
    certificate, key = druid_mutual_tls.client_certificate
    with ingesting(live, druid_mutual_tls) as ingestion:
        live.create(secret("trust", ca_crt=live.plane.ca_file))
        live.create(secret("own", tls_crt=certificate, tls_key=key))
        create_secured(ingestion, **TRUST, **OWN)
        assert not done(ingestion.one_pass())
        reported = ingestion.stored["status"]["message"]
        assert ingestion.condition("Ready") == ("False", "DruidUnreachable")
        assert "the server's certificate is not trusted" in reported
        assert "ca_path is spec.endpoint.caSecretRef" in reported

        live.merge("Secret", "trust", secret("trust", ca_crt=druid_mutual_tls.ca_file))
        ingestion.settled()
        assert ingestion.condition("Ready") == ("True", "Suspended")


def test_invalid_certificate(live: NamespaceClient, druid_mutual_tls: Druid) -> None:
    with ingesting(live, druid_mutual_tls) as ingestion:
        live.create({"kind": "Secret", "metadata": {"name": "trust"}, "stringData": {"ca.crt": "none"}})
        create_secured(ingestion, **TRUST)
        ingestion.one_pass()
        assert ingestion.condition("Ready") == ("False", "InvalidSpec")
        reported = ingestion.stored["status"]["message"]
        assert "spec.endpoint.caSecretRef: it contains no certificate in PEM format." in reported
        ingestion.one_pass()
        assert ingestion.stored["status"]["message"] == reported


def test_client_certificate(live: NamespaceClient, druid_mutual_tls: Druid) -> None:
    assert druid_mutual_tls.client_certificate is not None
    certificate, key = druid_mutual_tls.client_certificate
    with ingesting(live, druid_mutual_tls) as ingestion:
        live.create(secret("trust", ca_crt=druid_mutual_tls.ca_file))
        live.create(secret("own", tls_crt=certificate, tls_key=key))
        create_secured(ingestion, **TRUST)
        ingestion.one_pass(settings=ONE_TRY)
        assert ingestion.condition("Ready") == ("False", "DruidUnreachable")
        assert "client_cert is spec.endpoint.clientCertificateSecretRef" in ingestion.stored["status"]["message"]

        ingestion.change(endpoint=OWN)
        assert ingestion.condition("Ready") == ("True", "Suspended")


@pytest.fixture
def ingestion(live: NamespaceClient, druid: Druid) -> Iterator[Ingesting]:
    with ingesting(live, druid) as started:
        yield started


@pytest.fixture
def in_cluster(ingestion: Ingesting, monkeypatch: pytest.MonkeyPatch) -> Ingesting:
    """An ingestion of the Druid `c`, whose Services have names that lead to the Druid of the tests.

    In a cluster its DNS does that; the port is the Service's own.
    """
    resolve, service = socket.getaddrinfo, f"druid-c-routers.{ingestion.live.namespace}.svc"

    def found(host: Any, *args: Any, **kwargs: Any) -> Any:
        return resolve("127.0.0.1" if host == service else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", found)
    resource = ingestion.resource("kafka", kafka_spec(ingestion), suspend=True, druidCluster="c", endpoint=None)
    del resource["spec"]["endpoint"]
    ingestion.live.create(resource)
    return ingestion


def make_cluster(ingestion: Ingesting) -> None:
    """Make the cluster, with its Service."""
    port = urlsplit(ingestion.proxy.url).port or 0
    ingestion.live.create(all_kinds_cluster.resource("c", nodes={"routers": all_kinds_cluster.group("router", port)}))
    in_process.good(in_process.one_pass(ingestion.live, "c"))


def test_router_of_a_cluster(in_cluster: Ingesting) -> None:
    in_cluster.one_pass()
    assert in_cluster.condition("Ready") == ("False", "ClusterNotFound")
    make_cluster(in_cluster)
    in_cluster.settled()
    assert in_cluster.condition("Ready") == ("True", "Suspended")
    assert in_cluster.name in in_cluster.druid.request("GET", "/druid/indexer/v1/supervisor")

    delete(in_cluster, "Druid", "c")
    assert done(in_cluster.one_pass()) == ()
    assert in_cluster.condition("Ready") == ("False", "ClusterNotFound")
    assert_orphaned(in_cluster, in_cluster.one_pass(absent=True), "there is no Druid c")


def test_terminating_cluster_that_does_not_respond(in_cluster: Ingesting) -> None:
    make_cluster(in_cluster)
    in_cluster.settled()
    in_cluster.live.merge("Druid", "c", {"metadata": {"finalizers": ["example.org/hold"]}})
    in_cluster.live.delete("Druid", "c")
    in_cluster.proxy.fail_next(UNAVAILABLE, path="/terminate")
    deletion = in_cluster.one_pass(absent=True, settings=ONE_TRY)
    assert_orphaned(in_cluster, deletion, "The cluster is also being deleted")
    in_cluster.live.merge("Druid", "c", {"metadata": {"finalizers": None}})


def test_router_that_returns(in_cluster: Ingesting) -> None:
    """A Service that is just being recreated is waited for: the supervisor is ended."""
    make_cluster(in_cluster)
    in_cluster.settled()
    for service in in_cluster.live.list("Service"):
        in_cluster.live.delete("Service", service["metadata"]["name"])
    in_cluster.one_pass(absent=True)
    assert in_cluster.condition("Ready") == ("False", "RouterNotFound")
    in_process.good(in_process.one_pass(in_cluster.live, "c"))
    in_cluster.one_pass(absent=True)
    assert in_cluster.live.find(KIND, in_cluster.name) is None
    assert in_cluster.name not in in_cluster.druid.request("GET", "/druid/indexer/v1/supervisor")


@pytest.mark.parametrize("answers", [False, True])
def test_terminating_namespace(ingestion: Ingesting, answers: bool) -> None:
    """The record of the supervisor is deleted with it, which is terminated nevertheless while Druid responds."""
    live = ingestion.live
    live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.settled()
    live.plane.request("DELETE", f"/api/v1/namespaces/{live.namespace}", user="person")
    eventually(lambda: live.find("ConfigMap", f"{ingestion.name}-ingestion") is None)
    eventually(lambda: ingestion.stored["metadata"].get("deletionTimestamp"))
    if not answers:
        ingestion.proxy.fail_next(UNAVAILABLE, path="/terminate")

    deletion = ingestion.one_pass(absent=True, settings=ONE_TRY)

    if not answers:
        assert_orphaned(ingestion, deletion, "The namespace is also being deleted", has_events=False)
    assert live.find(KIND, ingestion.name) is None
    assert (ingestion.name in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")) is not answers


def test_foreground_deletion(ingestion: Ingesting) -> None:
    """Kubernetes deletes first what the resource owns: the record of the supervisor."""
    ingestion.live.create(ingestion.resource("kafka", kafka_spec(ingestion), suspend=True))
    ingestion.settled()
    ingestion.live.delete(KIND, ingestion.name, "Foreground")
    eventually(lambda: ingestion.live.find("ConfigMap", f"{ingestion.name}-ingestion") is None)
    ingestion.one_pass(absent=True)
    eventually(lambda: ingestion.live.find(KIND, ingestion.name) is None)
    assert ingestion.name not in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")


def delete(ingestion: Ingesting, kind: str, name: str) -> None:
    """Delete an object, and carry out its finalizer."""
    in_process.good(in_process.one_pass(ingestion.live, name, absent=True))
    eventually(lambda: ingestion.live.find(kind, name) is None)


def assert_orphaned(ingestion: Ingesting, deletion: Outcome[Any], why: str, *, has_events: bool = True) -> None:
    """The resource is deleted, the supervisor is not, and this is reported."""
    assert ingestion.live.find(KIND, ingestion.name) is None
    assert ingestion.name in ingestion.druid.request("GET", "/druid/indexer/v1/supervisor")
    [warning] = [text for text in deletion.warnings if why in text]
    assert f"{ingestion.name} " in warning
    if has_events:
        reported = [each["message"] for each in ingestion.live.list("Event") if each["reason"] == "TasksOrphaned"]
        assert reported == [warning]
