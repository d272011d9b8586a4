# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
The machine that a node is: processes, network and mounts of its own, which all end with its first process.

Nothing that runs in it, and no mount, outlives it, however it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .configuration import RUN
from .requirements import NodeError, program

# The name of its process.
NAME = "node"
# Its default: the path is short, since it has sockets.
KUBELET = Path("/var/lib/kubelet")
_READY = "ready"

# DIRECTORY. What programs leave in these places ends with the machine. The shell collects processes without parents.
_FIRST_PROCESS = f"""
mount --make-rshared /
for each in /run /var/log /var/lib; do mount -t tmpfs -o mode=0755 node $each; done
mkdir -p {RUN} {KUBELET}
mount --bind "$1/kubelet" {KUBELET}
echo 1 > /proc/sys/net/ipv4/ip_forward
touch "$1/{_READY}"
while :; do sleep 3600 & wait; done
"""


def command(directory: Path) -> list[str]:
    """The command that is the machine as long as it runs."""
    own = ("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "--propagation", "private")
    return [*program("unshare"), *own, "sh", "-euc", _FIRST_PROCESS, "machine", str(directory)]


def is_ready(directory: Path) -> bool:
    """Whether programs can be started in it."""
    return (directory / _READY).exists()


@dataclass(frozen=True)
class Machine:
    """A running one, by the number of its first process."""

    process: int

    @classmethod
    def of(cls, parent: int) -> Machine:
        """The one whose command has this process number."""
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        if not children:
            raise NodeError("the first process of the node has ended")
        return cls(int(children[0]))

    def inside(self, words: Sequence[str]) -> list[str]:
        """The command that executes this one there."""
        return [*program("nsenter"), "--target", str(self.process), "--net", "--mount", "--pid", "--", *words]

    def path(self, path: Path) -> Path:
        """A path of the machine, as it is seen from outside."""
        return Path(f"/proc/{self.process}/root") / path.relative_to("/")
