# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a person reads on a machine that cannot run a real node."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.druidops.druid.tests.testbed.node import requirements
from ansible_collections.druidops.druid.tests.testbed.node.requirements import NodeError, missing, require


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory with all programs that a machine has; it has none so far."""
    monkeypatch.setattr(requirements, "_PATH", str(tmp_path))
    monkeypatch.setattr(requirements, "PLUGINS", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def add(programs: Path, *names: str) -> None:
    """Add programs."""
    for name in names:
        (programs / name).write_text("")
        (programs / name).chmod(0o755)


@pytest.mark.usefixtures("programs")
def test_the_command_installs_each_package_once() -> None:
    assert missing().endswith(
        "--no-install-recommends containerd containernetworking-plugins iproute2 nftables runc util-linux"
    )


def test_the_command_leaves_out_installed_programs(programs: Path) -> None:
    add(programs, "containerd", "ip", "unshare", "nsenter", "ptp")
    with pytest.raises(NodeError, match=r"run apt-get install --yes --no-install-recommends nftables runc$"):
        require()


def test_nothing_is_missing(programs: Path) -> None:
    add(programs, "containerd", "runc", "nft", "ip", "unshare", "nsenter", "ptp")
    require()


def test_only_root_can(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(programs, "containerd")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert missing() == "run it on Linux as root"
