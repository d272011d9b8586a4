# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which worker of Druid runs in which pod: by the host that it announces."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.draining.workers import worker_of
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import Worker

POD: dict[str, Any] = {
    "metadata": {"name": "mm-1", "namespace": "druid"},
    "spec": {"hostname": "mm-1", "subdomain": "mm"},
    "status": {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
}
ON_NODE = {**POD, "spec": {**POD["spec"], "hostNetwork": True}}


def workers(*names: str) -> tuple[Worker, ...]:
    return tuple(Worker(name, True, 2, ()) for name in names)


@pytest.mark.parametrize(
    "name",
    [
        "10.0.0.1:8091",
        "[fd00::1]:8091",
        "mm-1:8091",
        "mm-1.mm:8091",
        "mm-1.mm.druid:8091",
        "mm-1.mm.druid.svc:8091",
        "mm-1.mm.druid.svc.cluster.local:8091",
        "MM-1.mm.druid.svc.example.com:8291",
    ],
)
def test_finds_it_by_address(name: str) -> None:
    found = worker_of(POD, 8091, workers("10.0.0.2:8091", name, "mm-10.mm.druid.svc.cluster.local:8091"))
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "name", ["10.0.0.11:8091", "mm-1.mm.other.svc.cluster.local:8091", "mm-1.other:8091", "mm-1.example.com:8091", ""]
)
def test_no_other_one(name: str) -> None:
    assert worker_of(POD, 8091, workers(name)) is None


def test_pods_on_the_network_of_a_node_differ_in_the_port() -> None:
    found = worker_of(ON_NODE, 8092, workers("10.0.0.1:8091", "10.0.0.1:8092"))
    assert found is not None
    assert found.name == "10.0.0.1:8092"
    assert worker_of(ON_NODE, 8093, workers("10.0.0.1:8091")) is None
