# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control groups of a node's pods, which outlive the pods."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_VERSION_2 = _ROOT / "cgroup.controllers"
# Its share of a busy processor, by the file in each version of Linux's groups: that of 16 processes (1024 or 100 each).
# By default all pods together have that of one process.
_SHARES = {"cpu.shares": "16384", "cpu.weight": "1600"}


def make(name: str) -> None:
    """Make the group in the hierarchy of each controller."""
    for hierarchy in _hierarchies():
        (hierarchy / name).mkdir(exist_ok=True)
        for file, share in _SHARES.items():
            if (hierarchy / name / file).exists():
                (hierarchy / name / file).write_text(share)


def remove(name: str) -> None:
    """Remove the group with all in it, of which no process runs."""
    for hierarchy in _hierarchies():
        top = hierarchy / name
        for group in [*sorted(_groups(top), reverse=True), top]:
            with suppress(OSError):
                group.rmdir()


def _groups(top: Path) -> list[Path]:
    return [each for each in top.rglob("*") if each.is_dir()]


def _hierarchies() -> list[Path]:
    """Linux has one, or in its first version one for each controller."""
    if _VERSION_2.exists():
        return [_ROOT]
    return [each for each in _ROOT.iterdir() if each.is_dir() and not each.is_symlink()]
