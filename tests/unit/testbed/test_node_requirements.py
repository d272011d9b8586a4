# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a real node needs of a machine: what is installed is used, and nothing else is unpacked."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.node import requirements
from ansible_collections.druidops.druid.tests.testbed.node.requirements import NodeError

ALL = ("containerd", "runc", "nft", "ip", "unshare", "nsenter")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The root directory of a machine without programs and without apt-get."""
    monkeypatch.setattr(requirements, "_INSTALLED", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name, path=None: which(name, path=path) if path else None)
    requirements._roots.cache_clear()
    yield tmp_path
    requirements._roots.cache_clear()


which = shutil.which


def add(machine: Path, *names: str, directory: str = "usr/sbin") -> None:
    """Add programs."""
    for name in names:
        file = machine / directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o755)


@pytest.mark.usefixtures("machine")
def test_the_command_installs_each_package_once() -> None:
    assert requirements.missing().endswith(
        "--no-install-recommends containerd containernetworking-plugins iproute2 nftables runc util-linux"
    )


def test_the_command_leaves_out_installed_programs(machine: Path) -> None:
    add(machine, "containerd", "ip", "unshare", "nsenter")
    add(machine, "ptp", directory="usr/lib/cni")
    with pytest.raises(NodeError, match=r"run apt-get install --yes --no-install-recommends nftables runc$"):
        requirements.require()


def test_installed_programs_are_used_as_they_are(machine: Path) -> None:
    add(machine, *ALL)
    add(machine, "ptp", directory="usr/lib/cni")
    requirements.require()
    assert requirements.program("nft") == [f"{machine}/usr/sbin/nft"]
    assert (requirements.environment(), requirements.plugins()) == ([], machine / "usr/lib/cni")


def test_only_root_can(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(machine, "containerd")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert requirements.missing() == "run it on Linux as root"
