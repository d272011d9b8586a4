# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which pod a server is."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    HistoricalServer,
    historical_servers,
)
from ansible_collections.druidops.druid.plugins.module_utils._resources.questions import LoadQueue, Server
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.situation import (
    names_of,
    server_of,
)
from ansible_collections.druidops.druid.tests.unit.plugins.plugin_utils._cluster import druid

POD: dict[str, Any] = {
    "metadata": {"name": "druid-c-hot-1", "namespace": "ns"},
    "spec": {"subdomain": "druid-c-hot"},
    "status": {"podIP": "10.0.0.7", "podIPs": [{"ip": "10.0.0.7"}, {"ip": "fd00::7"}]},
}
TLS = "druid.tlsPort=9283\ndruid.plaintextPort = 8084"


@pytest.mark.parametrize(
    ("name", "properties", "expected"),
    [
        ("10.0.0.7:8082", "", True),
        ("[fd00::7]:8082", "", True),
        ("druid-c-hot-1:8082", "", True),
        ("druid-c-hot-1.druid-c-hot:8082", "", True),
        ("druid-c-hot-1.druid-c-hot.ns.svc.cluster.local:8082", "", True),
        ("druid-c-hot-1.druid-c-hot.ns.svc.example.org:8082", "", True),
        # with TLS
        ("10.0.0.7:8283", "", True),
        ("10.0.0.7:9283", TLS, True),
        ("10.0.0.7:8084", TLS, True),
        # another pod, Service, namespace or port
        ("10.0.0.70:8082", "", False),
        ("druid-c-hot-10:8082", "", False),
        ("druid-c-hot-1.druid-c-cold:8082", "", False),
        ("druid-c-hot-1.druid-c-hot.other:8082", "", False),
        ("10.0.0.7:8083", "", False),
        ("10.0.0.7", "", False),
        (":8082", "", False),
    ],
)
def test_a_pod_is_the_server_with_its_address_or_its_name(name: str, properties: str, expected: bool) -> None:
    [group] = druid.cluster({"runtime.properties": properties}).groups
    server = HistoricalServer(name, "hot", 1, 2)
    assert server_of(POD, group, [server, HistoricalServer("a:8082", "hot", 1, 2)]) == (server if expected else None)


def test_a_pod_is_none_of_two_servers() -> None:
    [group] = druid.cluster().groups
    servers = [HistoricalServer(f"10.0.0.7:{port}", "hot", 1, 2) for port in (8082, 8283)]
    assert server_of(POD, group, servers) is None


def test_a_pod_without_an_address_is_no_server() -> None:
    [group] = druid.cluster().groups
    pending = {"metadata": POD["metadata"], "status": {}}
    assert server_of(pending, group, [HistoricalServer("10.0.0.7:8082", "hot", 1, 2)]) is None


def test_only_historicals_count_with_their_queues() -> None:
    servers = [Server("a:1", "historical", "hot", 5, 9), Server("b:1", "bridge", "hot", 5, 9)]
    assert historical_servers(servers, {"a:1": LoadQueue(1, 2)}) == (HistoricalServer("a:1", "hot", 5, 9, 3),)
    assert historical_servers(servers, {}) == (HistoricalServer("a:1", "hot", 5, 9),)


@pytest.mark.parametrize(("phase", "expected"), [("Running", True), ("Failed", False), ("Succeeded", False)])
def test_a_pod_that_has_ended_has_no_address(phase: str, expected: bool) -> None:
    [group] = druid.cluster().groups
    pod = {**POD, "status": {**POD["status"], "phase": phase}}
    server = HistoricalServer("10.0.0.7:8082", "hot", 1, 2)
    assert server_of(pod, group, [server]) == (server if expected else None)
    names = names_of(pod, group, ["10.0.0.7:8082", "10.0.0.7:8083", "[fd00::7]:8283", "druid-c-hot-1:8082", "a:8082"])
    assert names == {"druid-c-hot-1:8082", *(["10.0.0.7:8082", "[fd00::7]:8283"] if expected else [])}
