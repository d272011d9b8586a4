# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""File systems with a size of their own, in the memory of the machine: they can be full, and grow while in use."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .machine import Machine
from .requirements import NodeError, program


def make(machine: Machine, directory: Path, size: str) -> None:
    """Mount one of this size (`64Mi`) at a directory, for pods that start later."""
    _run(machine, "mount", "-t", "tmpfs", "-o", f"mode=0755,{_option(size)}", "volume", str(directory))


def grow(machine: Machine, directory: Path, size: str) -> None:
    """Change the size, also of what pods have mounted."""
    _run(machine, "mount", "-o", f"remount,{_option(size)}", str(directory))


def remove(machine: Machine, directory: Path) -> None:
    """Unmount it, as soon as nothing uses it any more."""
    _run(machine, "umount", "--lazy", str(directory))


def _option(size: str) -> str:
    """The option of mount, whose M are our Mi."""
    return f"size={size.removesuffix('i')}"


def _run(machine: Machine, name: str, *arguments: str) -> None:
    done = subprocess.run(machine.inside([*program(name), *arguments]), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NodeError(f"{name} {' '.join(arguments)}: {done.stderr.strip()}")
