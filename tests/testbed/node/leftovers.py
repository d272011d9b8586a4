# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node leaves outside of its directory when its processes are killed: it is recorded when it is made."""

from __future__ import annotations

import json
from pathlib import Path

from . import cgroups
from .network import Network

_RECORD = "node.json"


def record(directory: Path, network: Network, group: str) -> None:
    """Remember the network and the control group of the node of this directory."""
    (directory / _RECORD).write_text(json.dumps({"network": network.number, "group": group}))


def of(directory: Path) -> tuple[Network, str]:
    """The network and the control group of the node of this directory."""
    content = json.loads((directory / _RECORD).read_text())
    return Network(content["network"]), content["group"]


def remove(directory: Path) -> None:
    """Remove them, if there are any; the processes of the node have ended."""
    if (directory / _RECORD).exists():
        network, group = of(directory)
        network.disconnect()
        cgroups.remove(group)
