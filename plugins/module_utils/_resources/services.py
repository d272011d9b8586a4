# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Druid consists of: its leaders, servers and workers, and what the servers have not loaded."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible_collections.druidops.druid.plugins.module_utils._http.client import DruidClient, path
from ansible_collections.druidops.druid.plugins.module_utils._values.errors import NOT_SET, InvalidInput

COORDINATOR, OVERLORD = ("druid", "coordinator", "v1"), ("druid", "indexer", "v1")
_SIMPLE = {"simple": True}
# In a message.
_MAX_NAMES = 10


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
    host = str(node["host"])
    in_brackets = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{in_brackets}:{next((port for port in ports if port and port > 0), '')}"


def load_status(client: DruidClient) -> dict[str, int | None]:
    """Return the numbers of segments that are not loaded, by datasource; None where the Coordinator does not know it.

    Until its duties have run once (``druid.coordinator.startDelay``), a Coordinator's load status is empty. It counts
    replaced segments, too, which no server loads, until it marks them as unused, when it has been the leader for 15
    minutes (``millisToWaitBeforeDeleting``). So no more are missing than there are missing replicas, which it counts
    without those.
    """
    where = path(*COORDINATOR, "loadstatus")
    status: dict[str, int] = client.get(where, params=_SIMPLE)
    if not status:
        return dict.fromkeys(client.get(path(*COORDINATOR, "metadata", "datasources")))
    if not any(status.values()):
        return {**status}
    replicas = client.get(where, params={"full": True}).values()
    return {name: min(number, sum(tier.get(name, 0) for tier in replicas)) for name, number in status.items()}


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


def matching(server: str, names: Iterable[str]) -> list[str]:
    """Return the names that Druid has for a server: that of its host and port, or, without a port, all of its host.

    The notation of an IPv6 address makes no difference; with a port, it is in brackets.
    """
    host, port = _host_and_port(server)
    known = {name: _host_and_port(name) for name in names}
    return [name for name, (its_host, its_port) in known.items() if its_host == host and port in ("", its_port)]


def _host_and_port(name: str) -> tuple[str, str]:
    found = re.fullmatch(r"(\[.*\]|[^:]*):(\d+)", name.strip())
    host, port = found.groups() if found else (name.strip(), "")
    host = host.removeprefix("[").removesuffix("]").lower()
    try:
        return str(ipaddress.ip_address(host)), port
    except ValueError:
        return host, port


def one_of(server: str | None, names: Collection[str], what: str) -> str:
    """Return the name that Druid has for a server. InvalidInput if there is none, or more than one."""
    if not (server and server.strip()):
        raise InvalidInput("server", NOT_SET, f"set host and port of the {what}, as Druid announces them")
    found = matching(server, names)
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidInput("server", server, f"there are {len(found)} {what}s on this host. Set one: {_listed(found)}")
    known = f"these: {_listed(names)}" if names else "none at all"
    raise InvalidInput("server", server, f"Druid knows no such {what}, but {known}. Use its name there, or start it")


def _listed(names: Iterable[str]) -> str:
    found = sorted(names)
    others = f" and {len(found) - _MAX_NAMES} more" if len(found) > _MAX_NAMES else ""
    return f"{', '.join(found[:_MAX_NAMES])}{others}"
