# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
What a real node needs of the machine. As a program: install it in CI, and otherwise report the command that does.

It needs the standard library alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..progress import say

PLUGINS = Path("/usr/lib/cni")
# By the program, the package of Debian that has it.
_PROGRAMS = {
    "containerd": "containerd",
    "runc": "runc",
    "nft": "nftables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
_PLUGIN = ("ptp", "containernetworking-plugins")
# Debian has some of them in directories that are not on the PATH of each user.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_INSTALL = ("apt-get", "install", "--yes", "--no-install-recommends")


class NodeError(RuntimeError):
    """A real node cannot run here."""


def missing() -> str:
    """What a person has to do so that a real node can run here, empty if nothing."""
    if not _is_root():
        return "run it on Linux as root"
    packages = _missing_packages()
    return f"run {' '.join((*_INSTALL, *packages))}" if packages else ""


def require() -> None:
    """Raise an error that reports what is missing."""
    if lacking := missing():
        raise NodeError(f"a real node cannot run here: {lacking}")


def program(name: str) -> str:
    """The path of a program that is there."""
    return _find(name) or name


def _is_root() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0


def _missing_packages() -> list[str]:
    programs = {package for name, package in _PROGRAMS.items() if not _find(name)}
    plugin, package = _PLUGIN
    return sorted(programs | (set() if (PLUGINS / plugin).exists() else {package}))


def _find(name: str) -> str | None:
    return shutil.which(name, path=_PATH)


def main() -> int:
    """Install what is missing, in CI; the exit status."""
    if os.environ.get("CI") and _is_root() and (packages := _missing_packages()):
        say(f"installing {' '.join(packages)}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (("apt-get", "update"), (*_INSTALL, *packages)):
            subprocess.run([*command, "-qq"], stdout=sys.stderr, env=environment, check=True)
    if lacking := missing():
        say(f"no real node: {lacking}")
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
