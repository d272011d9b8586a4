# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cable between this machine and a node: two ends, of which the node takes one."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from .requirements import NodeError, program

_NUMBERS = range(1, 250)
# The end that the node has, as it calls it.
_UPLINK = "uplink"


@dataclass(frozen=True)
class Network:
    """The network of one node of this machine, by a number that no other has."""

    number: int

    @property
    def device(self) -> str:
        """Our end of the cable."""
        return f"druidops{self.number}"

    @property
    def _peer(self) -> str:
        return f"{self.device}-up"

    @property
    def gateway(self) -> str:
        """Our address, by which the node reaches us."""
        return f"10.200.{self.number}.1"

    @property
    def address(self) -> str:
        """The address of the node."""
        return f"10.200.{self.number}.2"

    @property
    def pods(self) -> str:
        """The addresses of its pods."""
        return f"10.201.{self.number}.0/24"

    @property
    def services(self) -> str:
        """The addresses of Services."""
        return f"10.202.{self.number}.0/24"

    @classmethod
    def connect(cls) -> Network:
        """A new one, to which the API server can bind before the node is there."""
        for number in _NUMBERS:
            network = cls(number)
            if _ip("link", "add", network.device, "type", "veth", "peer", "name", network._peer, check=False):
                _ip("address", "add", f"{network.gateway}/30", "dev", network.device)
                _ip("link", "set", network.device, "up")
                return network
        raise NodeError("this machine cannot add a network device of the type veth")

    def plug_in(self, process: int) -> None:
        """Give the other end to the node, the network namespace of the process: pods and Services are there."""
        _ip("link", "set", self._peer, "name", _UPLINK, "netns", str(process))
        inside = process
        _ip("address", "add", f"{self.address}/30", "dev", _UPLINK, inside=inside)
        for device in ("lo", _UPLINK):
            _ip("link", "set", device, "up", inside=inside)
        _ip("route", "add", "default", "via", self.gateway, inside=inside)
        for addresses in (self.pods, self.services):
            _ip("route", "add", addresses, "via", self.address)

    def disconnect(self) -> None:
        """Remove both ends, which does not wait for the last connection of the node to time out."""
        _ip("link", "delete", self.device, check=False)


def _ip(*arguments: str, inside: int | None = None, check: bool = True) -> bool:
    enter = [*program("nsenter"), "--net", "--target", str(inside)] if inside else []
    done = subprocess.run([*enter, *program("ip"), *arguments], capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise NodeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.returncode == 0
