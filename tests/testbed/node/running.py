# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that runs: further images, and what its containers print."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from ..processes import Processes
from .configuration import SOCKET
from .machine import NAME, Machine
from .requirements import NodeError, program


def machine_of(directory: Path) -> Machine:
    """The machine of the node in the directory of a control plane."""
    (process,) = (each for each in Processes(directory).running() if each.name == NAME)
    return Machine.of(process.pid)


def load(machine: Machine, images: Path) -> None:
    """Have containerd import the images in a file."""
    words = [*program("ctr"), "--address", str(SOCKET), "--namespace", "k8s.io", "images", "import", str(images)]
    done = subprocess.run(machine.inside(words), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NodeError(f"containerd does not import {images}: {done.stderr}")


def printed(directory: Path, pod: dict[str, Any], container: str) -> str:
    """What a container of the pod has printed since its last start, by the directory of the control plane."""
    metadata = pod["metadata"]
    place = f"{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"
    # where the kubelet is configured to write it
    files = sorted((directory / "node" / "logs" / place / container).glob("*.log"))
    return files[-1].read_text(encoding="utf-8") if files else ""
