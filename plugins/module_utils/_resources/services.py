# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Druid consists of: its leaders, servers and workers, and what the servers have not loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path

COORDINATOR, OVERLORD = ("druid", "coordinator", "v1"), ("druid", "indexer", "v1")
_SIMPLE = {"simple": True}


def leader(client: DruidClient, service: tuple[str, ...]) -> str | None:
    """Return the address of the leader, None if there is none: the response is empty then."""
    address: str | None = client.get(path(*service, "leader"))
    return address


def servers(client: DruidClient) -> list[dict[str, Any]]:
    """Return the servers that Druid has discovered, with the capacity of those that load segments."""
    loading = {each["host"]: each for each in client.get(path(*COORDINATOR, "servers"), params=_SIMPLE)}
    found = [
        (kind, _address(node)) for kind, nodes in client.get(path(*COORDINATOR, "cluster")).items() for node in nodes
    ]
    return [
        {
            "server": server,
            "type": kind,
            **{
                name: loading.get(server, {}).get(field)
                for name, field in (("tier", "tier"), ("size", "currSize"), ("max_size", "maxSize"))
            },
        }
        for kind, server in sorted(found)
    ]


def _address(node: Mapping[str, Any]) -> str:
    """Return the address by which Druid names a server: that of TLS if it has one (``DruidServer.getHost``)."""
    ports = (node.get("tlsPort"), node.get("plaintextPort"))
    return f"{node['host']}:{next((port for port in ports if port and port > 0), '')}"


def load_status(client: DruidClient) -> dict[str, int | None]:
    """Return the numbers of segments that are not loaded, by datasource; None where the Coordinator does not know it.

    Until its duties have run once (``druid.coordinator.startDelay``), a Coordinator's load status is empty.
    """
    status: dict[str, int | None] = client.get(path(*COORDINATOR, "loadstatus"), params=_SIMPLE)
    return status or dict.fromkeys(client.get(path(*COORDINATOR, "metadata", "datasources")))


def workers(client: DruidClient) -> list[dict[str, Any]]:
    """Return the MiddleManagers and Indexers that the Overlord knows."""
    return [_worker(each) for each in client.get(path(*OVERLORD, "workers"))]


def _worker(found: Mapping[str, Any]) -> dict[str, Any]:
    worker, used = found["worker"], found.get("currCapacityUsed") or 0
    # the Overlord assigns no tasks to a worker with an empty version
    is_enabled, capacity = bool(worker.get("version")), worker.get("capacity") or 0
    return {
        "server": worker["host"],
        "category": worker.get("category"),
        "enabled": is_enabled,
        "capacity": capacity,
        "used": used,
        "free": max(0, capacity - used) if is_enabled else 0,
    }
