# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
What a real node needs of the machine: Linux, root, and programs.

What is installed is used. On Debian and Ubuntu, the packages of the others are unpacked into the cache, not installed.
As a program: do so, and report what is missing. It needs the standard library alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..cache import cache_directory, lock
from ..progress import say

# By the program, the package of Debian that has it.
_PROGRAMS = {
    "containerd": "containerd",
    "runc": "runc",
    "nft": "nftables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
}
_PLUGINS = Path("usr/lib/cni")
_PLUGINS_PACKAGE = "containernetworking-plugins"
# Debian has some of them in directories that are not on the PATH of each user.
_DIRECTORIES = ("usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin")
_INSTALLED = Path("/")
_INSTALL = ("apt-get", "install", "--yes", "--no-install-recommends")
# Without the locks and the sandbox user of an installation, because there is none.
_ASIDE = ("-oDebug::NoLocking=1", "-oAPT::Sandbox::User=root", "-oDir::Cache::pkgcache=", "-oDir::Cache::srcpkgcache=")


class NodeError(RuntimeError):
    """A real node cannot run here."""


def missing() -> str:
    """What a person has to do so that a real node can run here, empty if nothing; unpacks what can be had."""
    if not _is_root():
        return "run it on Linux as root"
    packages = _missing_packages(*_roots())
    return f"run {' '.join((*_INSTALL, *packages))}" if packages else ""


def require() -> None:
    """Raise an error that reports what is missing."""
    if lacking := missing():
        raise NodeError(f"a real node cannot run here: {lacking}")


def program(name: str) -> list[str]:
    """The words that a command with this program begins with."""
    return [*environment(), _find(name, *_roots()) or name]


def environment() -> list[str]:
    """The words before a command that finds all programs by itself; none if all of them are installed."""
    _system, *unpacked = _roots()
    if not unpacked:
        return []
    path = os.pathsep.join(_path(*_roots()))
    libraries = sorted({str(file.parent) for root in unpacked for file in root.glob("**/*.so.*")})
    return ["env", f"PATH={path}", f"LD_LIBRARY_PATH={os.pathsep.join(libraries)}"]


def plugins() -> Path:
    """The directory of the network plugins."""
    return next(filter(_has_plugin, _roots()), _INSTALLED) / _PLUGINS


def _is_root() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0


@cache
def _roots() -> tuple[Path, ...]:
    """The root directory, and one like it with the packages that are not installed."""
    packages = _missing_packages(_INSTALLED)
    if not packages or not _is_root() or not shutil.which("apt-get"):
        return (_INSTALLED,)
    release = Path("/etc/os-release").read_bytes()
    target = cache_directory() / f"node-programs-{hashlib.sha256(release + repr(packages).encode()).hexdigest()[:12]}"
    with lock(target):
        if not target.exists():
            _unpack(packages, target)
    return (_INSTALLED, target) if target.exists() else (_INSTALLED,)


def _unpack(packages: list[str], target: Path) -> None:
    say(f"unpacking {', '.join(packages)} into the cache, once per machine")
    with tempfile.TemporaryDirectory(dir=target.parent) as directory:
        files, root = Path(directory), Path(directory, "root")
        if _download(packages, files):
            for file in files.glob("*.deb"):
                subprocess.run(["dpkg-deb", "--extract", file, root], check=True)
            root.rename(target)


def _download(packages: list[str], directory: Path) -> bool:
    """Whether the packages and what they depend on are there now, as far as it is not installed."""
    (directory / "lists/partial").mkdir(parents=True)
    (directory / "partial").mkdir()
    own_lists = f"-oDir::State::lists={directory}/lists"
    download = [*_INSTALL, "--download-only", f"-oDir::Cache::archives={directory}", *packages]
    # the machine's lists of packages may be old, or not there
    return _apt(*download) or (_apt("apt-get", "update", own_lists) and _apt(*download, own_lists))


def _apt(*command: str) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    finished = subprocess.run([*command, *_ASIDE], env=environment, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        say(f"{command[0]} {command[1]}: {finished.stderr.strip()}")
    return finished.returncode == 0


def _missing_packages(*roots: Path) -> list[str]:
    programs = {package for name, package in _PROGRAMS.items() if not _find(name, *roots)}
    return sorted(programs | (set() if any(map(_has_plugin, roots)) else {_PLUGINS_PACKAGE}))


def _has_plugin(root: Path) -> bool:
    return (root / _PLUGINS / "ptp").exists()


def _find(name: str, *roots: Path) -> str | None:
    return shutil.which(name, path=os.pathsep.join(_path(*roots)))


def _path(*roots: Path) -> Iterator[str]:
    return (str(root / each) for root in roots for each in _DIRECTORIES)


def main() -> int:
    """Report what is missing; the exit status."""
    if lacking := missing():
        say(f"no real node: {lacking}")
    return int(bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
