# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Historicals as the Coordinator knows them, and which pod each of them is.

Druid announces `host:port`, where the host is the address of the pod or its name in DNS, as druid.host specifies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._druid_api.questions import LoadQueue, Server
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest

_TYPE = "historical"
# Druid's default of a Historical for druid.tlsPort.
_TLS_PORT = 8283
_ENDED = ("Failed", "Succeeded")


@dataclass(frozen=True)
class HistoricalServer:
    """A Historical: its name, its tier, the bytes that it has loaded and can load, and the segments in its queue.

    `is_replicated`: each Historical that stays in the tier has all of its segments, so that none can be moved.
    """

    name: str
    tier: str
    used: int
    capacity: int
    queued: int = 0
    is_replicated: bool = False

    @property
    def left(self) -> int:
        """The bytes that are to be moved before it stops."""
        return 0 if self.is_replicated else self.used

    @property
    def is_empty(self) -> bool:
        """True if it has nothing to be moved."""
        return self.left == 0 and self.queued == 0


def historical_servers(servers: Iterable[Server], queues: Mapping[str, LoadQueue]) -> tuple[HistoricalServer, ...]:
    """Return the Historicals among the servers, given the load queues by name of the server."""
    return tuple(_historical(each, queues.get(each.name)) for each in servers if each.type == _TYPE)


def _historical(server: Server, queue: LoadQueue | None) -> HistoricalServer:
    queued = queue.to_load + queue.to_drop if queue else 0
    return HistoricalServer(server.name, server.tier, server.size, server.max_size, queued)


def server_of(pod: Manifest, group: Group, servers: Iterable[HistoricalServer]) -> HistoricalServer | None:
    """Return the server that the pod is, None if Druid does not know it, or knows several."""
    ports = ports_of(group)
    found = [server for server in servers if _is_of(server.name, pod, ports)]
    return found[0] if len(found) == 1 else None


def names_of(pod: Manifest, group: Group, names: Iterable[str]) -> frozenset[str]:
    """Return those of the names that are of the pod."""
    ports = ports_of(group)
    return frozenset(name for name in names if _is_of(name, pod, ports))


def ports_of(group: Group) -> frozenset[int]:
    """Return the ports that the group may announce."""
    specified = group.properties
    texts = (specified.get("druid.plaintextPort"), specified.get("druid.tlsPort"))
    return frozenset({group.port, _TLS_PORT, *(int(text) for text in texts if text and text.strip().isdecimal())})


def _is_of(name: str, pod: Manifest, ports: Collection[int]) -> bool:
    host, _colon, port = name.rpartition(":")
    return port.isdecimal() and int(port) in ports and _is_host_of(host.removeprefix("[").removesuffix("]"), pod)


def _is_host_of(host: str, pod: Manifest) -> bool:
    """True for an address of the pod, and for its name in DNS, with the following labels as far as they are there."""
    if host in _addresses(pod):
        return True
    labels = host.split(".")
    subdomain = (pod.get("spec") or {}).get("subdomain") or ""
    expected = [pod["metadata"]["name"], *([subdomain, pod["metadata"]["namespace"]] if subdomain else [])]
    return all(found == label for found, label in zip(labels, expected, strict=False))


def _addresses(pod: Manifest) -> frozenset[str]:
    """Return the addresses of the pod; one that has ended still reports them when another pod has them."""
    status = pod.get("status") or {}
    if status.get("phase") in _ENDED:
        return frozenset()
    found = (status.get("podIP"), *(each.get("ip") for each in status.get("podIPs") or ()))
    return frozenset(address for address in found if address)
