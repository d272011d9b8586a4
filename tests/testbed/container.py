# Copyright (c) 2026, druidops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A command as in a container: its own file system, read-only but for /tmp, and a user without any permissions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# What programs of this machine need of it. /dev has terminals, and memory that processes share.
_OF_THE_MACHINE = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")

# ROOT TMP DIRECTORY USER SOURCE TARGET ... -- COMMAND. The process stays the same to the end.
_ENTER = """
root=$1 tmp=$2 directory=$3 user=$4
shift 4
show() {
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
}
mount -t tmpfs -o mode=0755 container "$root"
mkdir -p "$root/tmp" "$root/dev" "$root/proc"
mount --bind "$tmp" "$root/tmp"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
while [ "$1" != -- ]; do
  if [ -L "$1" ]; then cp -P "$1" "$root$2"; else show "$1" "$2"; fi
  shift 2
done
shift
mount -o remount,ro "$root"
exec chroot "$root" setpriv $user --no-new-privs --inh-caps=-all --bounding-set=-all env --chdir="$directory" -i "$@"
"""


@dataclass(frozen=True)
class Container:
    """Where a command runs.

    root: an empty directory; tmp: what is its /tmp; shown: what else is there, by where it is there; user: its number,
    of the group 0. has_own_processes: the command is process 1, which no signal from outside reaches by way of unshare.
    """

    root: Path
    tmp: Path
    directory: Path
    shown: Mapping[Path, Path]
    user: int
    environment: Mapping[str, str] = field(default_factory=dict)
    has_own_processes: bool = False

    def command(self, words: Sequence[str]) -> list[str]:
        """The program that executes the command in the container; in the same process unless it has its own."""
        for each in (self.root, self.tmp):
            each.mkdir(exist_ok=True)
        # for any user
        self.tmp.chmod(0o1777)
        machine = {Path(name): Path(name) for name in _OF_THE_MACHINE if Path(name).exists()}
        shown = [str(path) for target, source in {**machine, **self.shown}.items() for path in (source, target)]
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        places = [str(each) for each in (self.root, self.tmp, self.directory)]
        return [*self._unshare, *places, self._user, *shown, "--", *variables, *words]

    @property
    def _unshare(self) -> list[str]:
        # who is not root is in a container the user that he is, under another number
        own = [] if _is_root() else ["--user", "--map-root-user"]
        own += ["--pid", "--fork", "--mount-proc"] if self.has_own_processes else []
        return ["unshare", *own, "--mount", "--propagation", "private", "sh", "-euc", _ENTER, "container"]

    @property
    def _user(self) -> str:
        return f"--reuid={self.user} --regid=0 --clear-groups" if _is_root() else ""


def _is_root() -> bool:
    return os.geteuid() == 0
