# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Addresses that the author of an address of Druid must not reach.

These are this host, link-local addresses, the metadata services of clouds, and the API server. The decision is about
the address of the open connection: a host name may resolve to anything, and to something else the next time.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Union
from urllib.parse import urlsplit

_Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]  # noqa: UP007 - evaluated, by any Python of a host

# Metadata services that are not link-local: Alibaba, Azure, Oracle, AWS, Google, Scaleway.
_METADATA = tuple(
    map(
        ipaddress.ip_network,
        ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::/32", "fd20:ce::254", "fd00:42::42"),
    )
)
# Networks whose last 32 bits are an IPv4 address: compatible, translated (RFC 4291, 7915), NAT64 (RFC 6052, 8215).
_CONTAINS_IPV4 = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")))


class OwnHost(OSError):
    """The connection leads to an address that is refused. Nothing was sent."""


def accept_any_peer(_sock: socket.socket) -> None:
    """Accept every connection."""


def peer_check(
    api_servers: Sequence[str], variables: Mapping[str, str] | None = None
) -> Callable[[socket.socket], None]:
    """Return a function that closes a connection to a refused address, with OwnHost. ``api_servers``: their URLs."""
    found = os.environ if variables is None else variables
    in_cluster = found.get("KUBERNETES_SERVICE_HOST", ""), found.get("KUBERNETES_SERVICE_PORT", "443")
    servers = [server for server in (in_cluster, *map(_host_and_port, api_servers)) if server[0]]

    def check(sock: socket.socket) -> None:
        peer, own = sock.getpeername(), sock.getsockname()
        if is_refused(str(peer[0]), str(own[0])):
            what = "an address of the host where this task runs, a link-local one, or a metadata service"
        elif any((address, peer[1]) in _resolved(*server) for server in servers for address in _meanings(peer[0])):
            what = "the address of the Kubernetes API server"
        else:
            return
        sock.close()
        raise OwnHost(f"{peer[0]} is {what}")

    return check


def is_refused(peer: str, own: str) -> bool:
    """Return whether nothing may be sent to the peer; ``own`` is this host's address of the same connection."""
    return any(
        address in {*_meanings(own)}
        or address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or any(address in network for network in _METADATA)
        for address in _meanings(peer)
    )


def _meanings(text: str) -> Iterator[_Address]:
    """Yield an address without its zone, and the IPv4 addresses that an IPv6 address may stand for."""
    address = ipaddress.ip_address(text.partition("%")[0])
    yield address
    if isinstance(address, ipaddress.IPv6Address):
        yield from filter(None, (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())))
        if any(address in network for network in _CONTAINS_IPV4):
            yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


def _host_and_port(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.hostname or "", str(parts.port or (443 if parts.scheme == "https" else 80))


def _resolved(host: str, port: str) -> set[tuple[_Address, int]]:
    """Return the addresses of a server now; none if its name does not resolve."""
    with suppress(OSError):
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return {(address, int(name[1])) for *_kind, name in found for address in _meanings(str(name[0]))}
    return set()
