# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Druid in pods of a real node, created as a user does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.druidops.druid.tests.system.support import real_cluster
from ansible_collections.druidops.druid.tests.system.support.namespace_client import NamespaceClient
from ansible_collections.druidops.druid.tests.system.support.playbook import CORES, Ansible, Run
from testbed.api import Api
from testbed.druid.kafka import Kafka


def created(live: NamespaceClient, directory: Path, cluster: dict[str, Any] | None = None) -> tuple[Ansible, Run]:
    """Create what a cluster needs, and run the playbook until the pods of the cluster are ready.

    Without `cluster`, the resource has to exist already.
    """
    for manifest in real_cluster.services():
        live.create(manifest)
    ansible = Ansible(CORES["2.19"], live.plane, live.namespace, directory)
    return ansible, ansible.cluster(**_of(cluster), wait=True, wait_sleep=1, wait_timeout=900)


def _of(cluster: dict[str, Any] | None) -> dict[str, Any]:
    return {"resource": cluster} if cluster else {"name": real_cluster.NAME}


@dataclass(frozen=True)
class DruidInPods:
    """A Druid by the address of its routers' Service, and a Kafka that it can reach."""

    url: str
    kafka: Kafka

    @classmethod
    def of(cls, live: NamespaceClient, kafka: Kafka) -> DruidInPods:
        """The one of the sample, whose Service this machine reaches, too."""
        service = live.get("Service", f"druid-{real_cluster.NAME}-routers")
        return cls(f"http://{service['spec']['clusterIP']}:8888", kafka)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """The decoded response."""
        return Api(self.url).request(method, path, body)

    def query(self, sql: str) -> list[dict[str, Any]]:
        """The rows that a query by SQL finds, on a connection of its own."""
        druid = Api(self.url, keeps_connections=False)
        rows: list[dict[str, Any]] = druid.request("POST", "/druid/v2/sql", {"query": sql})
        return rows
