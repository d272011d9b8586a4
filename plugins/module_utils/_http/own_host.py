# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connections to this host, or to a link-local address: the author of an address must not reach those.

The decision is about the address of the open connection: a host name may resolve to anything, and to something else
the next time.
"""

from __future__ import annotations

import ipaddress
import socket


class OwnHost(OSError):
    """The connection leads to this host, or to a link-local address. Nothing was sent."""


def accept_any_peer(_sock: socket.socket) -> None:
    """Accept every connection."""


def check_peer(sock: socket.socket) -> None:
    """Close a connection to this host, or to a link-local address, with OwnHost."""
    peer, own = (str(name[0]) for name in (sock.getpeername(), sock.getsockname()))
    if is_refused(peer, own):
        sock.close()
        raise OwnHost(f"{peer} is an address of the host where this task runs, or a link-local one")


def is_refused(peer: str, own: str) -> bool:
    """Return whether nothing may be sent to the peer; ``own`` is this host's address of the same connection."""
    addresses = [_address(each) for each in (peer, own)]
    return addresses[0] == addresses[1] or addresses[0].is_loopback or addresses[0].is_link_local


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address without its zone, the IPv4 address of an IPv6 address that contains one."""
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
