# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a real node: containerd, the kubelet, kube-proxy, CoreDNS, and what provides its volumes."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..build import build_node
from ..components import Layout
from ..processes import Processes
from . import cgroups, configuration, leftovers, machine
from .images import images
from .machine import KUBELET, Machine
from .network import Network
from .requirements import environment, program, require
from .running import load, machine_of

_FIRST_PROCESS = "node-first-process"
NODE_PROCESSES = {machine.NAME, _FIRST_PROCESS, "containerd", "kubelet", "kube-proxy", "coredns", "volumes"}
_TESTS = Path(__file__).parents[2]

_Start = Callable[[str, Sequence[str]], None]


@dataclass(frozen=True)
class Prepared:
    """What takes long to make and is kept: the program of the node, and the file with the images of its pods."""

    program: Path
    images: Path


def prepare() -> Prepared:
    """Make it, unless it was made before; an error if no node can run here."""
    require()
    return Prepared(build_node(), images())


def connected(layout: Layout) -> Layout:
    """The layout of a control plane with the addresses of a network for a new node."""
    network = Network.connect()
    leftovers.record(layout.directory, network, f"druidops-{secrets.token_hex(4)}")
    return replace(layout, address=network.gateway, services=network.services)


class Node:
    """A node of the control plane in the same directory."""

    def __init__(self, layout: Layout, prepared: Prepared, processes: Processes) -> None:
        self._plane, self._url = layout.directory, layout.url
        self._directory = self._plane / "node"
        self._prepared = prepared
        self._network, self._group = leftovers.of(layout.directory)
        self._processes = processes

    def start(self, start: _Start) -> None:
        """Start everything; the kubelet registers the node."""
        self._configure()
        running = self._boot(start)

        def start_inside(name: str, *words: str) -> None:
            start(name, running.inside(words))

        here = self._directory
        start_inside("containerd", *program("containerd"), "--config", f"{here}/containerd.toml")
        socket = running.path(configuration.SOCKET)
        self._processes.wait_for("containerd", socket.exists)
        load(running, self._prepared.images)
        start_inside("kubelet", *self._kubelet())
        proxy = (*environment(), str(self._prepared.program), "kube-proxy")
        start_inside("kube-proxy", *proxy, f"--config={here}/kube-proxy.json")
        start_inside("coredns", str(self._prepared.program), "coredns", "-conf", f"{here}/Corefile")
        start("volumes", self._volumes())

    def _configure(self) -> None:
        kubeconfigs = {user: self._plane / f"{user}.kubeconfig" for user in ("kube-proxy", "coredns")}
        self._directory.mkdir()
        configuration.write(self._directory, self._network, kubeconfigs, self._plane / "ca.crt", self._group)
        cgroups.make(self._group)

    def _boot(self, start: _Start) -> Machine:
        start(machine.NAME, machine.command(self._directory))
        self._processes.wait_for("the node", lambda: machine.is_ready(self._directory))
        running = machine_of(self._plane)
        # its end is that of all others in it
        self._processes.adopt(_FIRST_PROCESS, running.process)
        self._network.plug_in(running.process)
        return running

    def _kubelet(self) -> list[str]:
        return [
            str(self._prepared.program),
            "kubelet",
            f"--config={self._directory}/kubelet.json",
            f"--kubeconfig={self._plane}/kubelet.kubeconfig",
            f"--hostname-override={configuration.NAME}",
            f"--node-ip={self._network.address}",
            f"--root-dir={KUBELET}",
            f"--cert-dir={KUBELET}/pki",
        ]

    def _volumes(self) -> list[str]:
        code = f"import sys; sys.path.insert(0, {str(_TESTS)!r}); from testbed.node.volumes import main; main()"
        return [sys.executable, "-c", code, str(self._plane), self._url, configuration.NAME]
