# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fixtures of tests that need a real node."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from testbed.control_plane import ControlPlane
from testbed.node import leftovers
from testbed.node.network import Network
from testbed.node.requirements import missing
from testbed.processes import Processes
from testbed.pytest_plugin import crds, found


@pytest.fixture(scope="session")
def can_run_nodes() -> None:
    """Skip the test on a machine that cannot run a real node; in CI every machine can."""
    if lacking := missing():
        assert not os.environ.get("CI"), lacking
        pytest.skip(f"no real node: {lacking}")


@pytest.fixture(scope="session")
def control_plane(can_run_nodes: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The control plane in DRUIDOPS_NODE, else one with a real node, of the version of its kubelet."""
    if directory := os.environ.get("DRUIDOPS_NODE"):
        yield found(Path(directory))
        return
    directory = tmp_path_factory.mktemp("node")
    with ControlPlane.start(directory, crds=crds(), node=True) as plane:
        node = leftovers.of(directory)
        yield plane
    assert left_of(directory, *node) == []


def left_of(directory: Path, network: Network, group: str) -> list[str]:
    """What is left of a node that has been stopped: devices, control groups, mounts and processes."""
    devices = [each.name for each in Path("/sys/class/net").iterdir() if each.name == network.device]
    groups = [str(each) for each in Path("/sys/fs/cgroup").glob(f"**/{group}")]
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(directory) in line]
    return [*devices, *groups, *mounts, *(each.name for each in Processes(directory).running())]
