# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a decision about Historicals is based on: the pods that are to stop, and what the Coordinator knows. Pure.

Druid announces `host:port`, where the host is the address of the pod or its name in DNS, as druid.host specifies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from ansible_collections.druidops.druid.plugins.module_utils._resources.decommissioning import (
    HISTORICAL,
    UNSURE_SECONDS,
    HistoricalServer,
)
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.features.decommissioning.record import Entry
from ansible_collections.druidops.druid.plugins.plugin_utils._cluster.spec import Group
from ansible_collections.druidops.druid.plugins.plugin_utils._kubernetes.objects import Manifest
from ansible_collections.druidops.druid.plugins.plugin_utils._reconcile.conditions import seconds_since, timestamp

STRATEGY = "historicalDecommissionStrategy"
SHRINK = "Shrink"
# A Coordinator reads the list again every 60 seconds, unless druid.manager.config.pollDuration specifies another
# period: the one that has just become the leader may not know the latest change.
UNLISTED_SECONDS = 90


@dataclass(frozen=True)
class LeavingPod:
    """A pod of an ordinal that is no longer specified; `server` is what Druid knows of it.

    `is_ready`: Kubernetes reports that it is ready.
    """

    name: str
    ordinal: int
    is_ready: bool = True
    server: HistoricalServer | None = None


@dataclass(frozen=True)
class ShrinkingGroup:
    """A StatefulSet that has more pods than specified, with those that are to stop.

    `first`: the ordinal of its first pod. `replicas`: the specified number. `timeout`: in seconds. `shrinks`: the pods
    stop when the time is over. `restart`: how long a restart may take, in seconds; a pod that is not ready and unknown
    to Druid for longer does not have segments any more.
    """

    key: str
    replicas: int
    pods: tuple[LeavingPod, ...]
    timeout: float
    shrinks: bool = False
    first: int = 0
    restart: float = UNSURE_SECONDS


@dataclass(frozen=True)
class InDruid:
    """What the Coordinator knows.

    `listed`: the names in decommissioningNodes. `specified`: those of the resource. `unknown`: pods that are ready and
    stay, but that it does not know. `absent`: the same, ready or not, and also if they do not exist. `unavailable`: the
    number of segments that no server has loaded, None if it is unknown.
    """

    servers: tuple[HistoricalServer, ...]
    listed: frozenset[str] = frozenset()
    specified: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    unavailable: int | None = 0


@dataclass(frozen=True)
class Situation:
    """What a decision is based on.

    `existing`: the names of all pods that exist and whose ordinal is not specified, also after the StatefulSet has been
    scaled. `druid`: None if it did not answer. `staying`: the names of the pods that the spec keeps, also if Druid does
    not know them yet: a new pod may have got the address of an earlier one. `annotated`: the names of which an
    annotation records that they are ours; only these may be added to Druid's list.
    """

    groups: tuple[ShrinkingGroup, ...]
    existing: frozenset[str]
    record: tuple[Entry, ...]
    druid: InDruid | None
    now: datetime
    staying: frozenset[str] = frozenset()
    annotated: frozenset[str] = frozenset()

    @cached_property
    def leaving(self) -> frozenset[str]:
        """The names of the servers that are to stop."""
        return frozenset(pod.server.name for group in self.groups for pod in group.pods if pod.server)

    @property
    def listed(self) -> frozenset[str]:
        """The names in Druid's list, as far as they are known."""
        return self.druid.listed if self.druid else frozenset()

    @property
    def unavailable(self) -> int | None:
        """The number of segments that no server has loaded, None if it is unknown."""
        return self.druid.unavailable if self.druid else None

    @property
    def is_complete(self) -> bool:
        """True if the Coordinator has answered, and knows all pods that it must know."""
        return self.druid is not None and not self.druid.unknown

    @property
    def knows_what_stays(self) -> bool:
        """True if it also knows the pods that are not ready."""
        return self.is_complete and self.druid is not None and not self.druid.absent

    def unlisted_since(self, entry: Entry) -> str | None:
        """Return since when the name of an entry is not in Druid's list; None if it is."""
        if self.druid is None:
            return entry.unlisted_since
        return None if entry.server in self.listed else entry.unlisted_since or timestamp(self.now)

    def is_removal_certain(self, entry: Entry) -> bool:
        """True if the name of an entry is not in Druid's list, now and in a reading long enough ago."""
        since = self.unlisted_since(entry) if self.druid else None
        return since is not None and seconds_since(since, self.now) >= UNLISTED_SECONDS

    def recorded(self, pod: str) -> list[Entry]:
        """Return the entries of a pod."""
        return [entry for entry in self.record if entry.pod == pod]

    @cached_property
    def ours(self) -> frozenset[str]:
        """The names in the record whose entries in Druid's list are ours."""
        return frozenset(entry.server for entry in self.record if entry.server and entry.is_ours)

    @property
    def returning(self) -> frozenset[str]:
        """The names of servers that stay, and whose entry in Druid's list is ours: it is removed."""
        return self.ours & self.staying - self.druid.specified if self.druid else frozenset()

    def servers_in(self, tier: str) -> list[HistoricalServer]:
        """Return all Historicals of a tier that are not decommissioned by others."""
        servers = self.druid.servers if self.druid else ()
        others = self.listed - self.leaving - self.returning
        return [server for server in servers if server.tier == tier and server.name not in others]

    def remaining_in(self, tier: str) -> list[HistoricalServer]:
        """Return those of them that stay."""
        return [each for each in self.servers_in(tier) if each.name not in self.leaving]


# Druid's default of a Historical for druid.tlsPort.
_TLS_PORT = 8283
_ENDED = ("Failed", "Succeeded")


def server_of(pod: Manifest, group: Group, servers: Iterable[HistoricalServer]) -> HistoricalServer | None:
    """Return the server that the pod is, None if Druid does not know it, or knows several."""
    ports = ports_of(group)
    matching = [server for server in servers if _is_of(server.name, pod, ports)]
    return matching[0] if len(matching) == 1 else None


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
    addresses = (status.get("podIP"), *(address.get("ip") for address in status.get("podIPs") or ()))
    return frozenset(address for address in addresses if address)


def is_decommissioned(group: Group) -> bool:
    """True if the pods of the group are decommissioned before their number decreases."""
    is_fixed = not (group.is_deployment or group.stopped or group.keeps_replicas)
    return group.node_type == HISTORICAL and is_fixed and group.decommission_strategy is not None
